// The same mask as lines: who sees whom. Queries on the left, keys on the right; the row in play stands out.
import { elide, widthOf } from "./labels.js";

const ROOM = 120, PITCH = 24, TOP = 26, HEAD = 11.5;

export function layoutLines(theme, { rows, names: called, text }, room) {
  const size = 13.5, [labels, names] = [rows, called].map(words => words.map(label => elide(theme, label, Math.min(ROOM, room * 0.3), size, 700)));
  const side = Math.ceil(Math.max(widthOf(theme, text.rows, HEAD), widthOf(theme, text.columns, HEAD), ...[...labels, ...names].map(label => widthOf(theme, label, size, 700)))) + 14;
  const width = Math.max(side * 2 + 90, Math.min(room, side * 2 + 300)), pitch = rows.length > 20 ? 20 : PITCH;
  return { size, labels, names, side, width, pitch, top: TOP, height: TOP + rows.length * pitch + 8, left: side, right: width - side };
}

const yOf = (g, i) => g.top + (i + 0.5) * g.pitch;

/** The query or the key at a point. */
export function hitLines(g, count, x, y, view) {
  const place = Math.floor((y + view.y - g.top) / g.pitch);
  if (place < 0 || place >= count) return null;
  if (x + view.x <= g.left + 6) return { row: place, col: null };
  return x + view.x >= g.right - 6 ? { row: null, col: place } : null;
}

export const lineBox = (g, row) => ({ x: 0, y: g.top + row * g.pitch, w: 10, h: g.pitch });

export function drawLines(surface, theme, g, mask, { text, cursor }, view) {
  const { size, cells } = mask;
  surface.clip({ x: 0, y: 0, w: view.w, h: view.h }, () => surface.shift(-view.x, -view.y, () => {
    surface.text({ text: text.rows, x: g.left - 8, y: 9, size: HEAD, align: "right", fill: theme.muted });
    surface.text({ text: text.columns, x: g.right + 8, y: 9, size: HEAD, fill: theme.muted });
    const faint = Math.max(0.08, Math.min(0.4, 64 / cells.reduce((sum, cell) => sum + cell, 1))); // many lines must not become one area
    for (const front of [false, true]) {
      for (let at = 0; at < size * size; at++) {
        const row = Math.floor(at / size), col = at % size, on = cursor && (cursor.row === row || (cursor.row === null && cursor.col === col));
        if (!cells[at] || Boolean(on) !== front) continue;
        surface.curve({ from: [g.left, yOf(g, row)], to: [g.right, yOf(g, col)], colour: on ? theme.query : theme.accent, width: on ? 2.2 : 1.2, alpha: on ? 1 : Math.min(faint, cursor ? 0.12 : 1) });
      }
    }
    g.labels.forEach((label, i) => {
      const row = cursor?.row === i, read = row || (cursor && (cursor.row === null ? cursor.col === i : cells[cursor.row * size + i]));
      surface.text({ text: g.names[i], x: g.left - 8, y: yOf(g, i), size: g.size, align: "right", weight: row ? 700 : 400, fill: row ? theme.query : theme.ink });
      surface.text({ text: label, x: g.right + 8, y: yOf(g, i), size: g.size, weight: read ? 700 : 400, fill: cursor && !read ? theme.muted : theme.ink });
    });
  }));
}
