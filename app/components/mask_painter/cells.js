// The mask as a matrix: rows ask, columns are read; what may not be read is hatched.
import { elide, widthOf } from "./labels.js";
import { inkOn, mix } from "./theme.js";

const SMALLEST = 9, LARGEST = 30, ROOM = 104, GAP = 8, WRITTEN = 13;

export function layoutCells(theme, { rows, names: called }, room) {
  const count = rows.length, widest = size => Math.ceil(Math.max(10, ...called.map(label => widthOf(theme, elide(theme, label, ROOM, size), size))));
  const left = widest(count < 16 ? 13.5 : 11) + GAP;
  const cell = Math.max(SMALLEST, Math.min(LARGEST, Math.floor((room - left - 34) / Math.max(1, count))));
  const size = Math.max(9, Math.min(13.5, cell * 0.72)), [labels, names] = [rows, called].map(words => words.map(label => elide(theme, label, ROOM, size)));
  const longest = Math.max(0, ...labels.map(label => widthOf(theme, label, size)));
  const top = Math.ceil(longest * 0.72 + size) + GAP + 16, grid = count * cell;
  const overhang = Math.max(...labels.map((label, i) => (i + 0.5 - count) * cell + widthOf(theme, label, size) * 0.72 + 8));
  return { cell, size, labels, names, left, top, grid, width: left + grid + Math.max(4, Math.ceil(overhang)), height: top + grid + 4 };
}

export function hitCells(g, count, x, y, view) {
  const col = Math.floor((x + view.x - g.left) / g.cell), row = Math.floor((y + view.y - g.top) / g.cell);
  return row >= 0 && row < count && col >= 0 && col < count ? { row, col } : null;
}

export const boxOf = (g, row, col) => ({ x: g.left + col * g.cell, y: g.top + row * g.cell, w: g.cell, h: g.cell });

const SIGNS = { keep: ["0", "1"], hide: ["1", "0"], additive: ["\u2212∞", "0"] };

/** `notation`: "plain", or the numbers that a convention writes into the cells. */
export function drawCells(surface, theme, g, mask, { text, notation, cursor }, view) {
  const { size, cells } = mask, x0 = g.left - view.x, y0 = g.top - view.y, fill = mix(theme.card, theme.accent, 0.72), gap = g.cell >= 7 ? 1 : 0;
  surface.clip({ x: 0, y: 0, w: view.w, h: view.h }, () => {
    surface.text({ text: text.columns, x: g.left - view.x, y: 8, size: 11.5, fill: theme.muted });
    for (let at = 0; at < size * size; at++) {
      const x = x0 + (at % size) * g.cell, y = y0 + Math.floor(at / size) * g.cell, inner = { x: x + gap / 2, y: y + gap / 2, w: g.cell - gap, h: g.cell - gap };
      if (cells[at]) surface.rect({ ...inner, fill });
      else surface.hatch(inner);
      if (notation === "plain" || g.cell < WRITTEN) continue;
      const sign = SIGNS[notation][cells[at]];
      if (!cells[at]) surface.rect({ x: x + 2, y: y + g.cell / 2 - 6, w: g.cell - 4, h: 12, r: 3, fill: theme.card });
      surface.text({ text: sign, x: x + g.cell / 2, y: y + g.cell / 2, size: Math.min(11.5, g.cell * 0.5), align: "center", mono: true, fill: cells[at] ? inkOn(fill) : theme.ink });
    }
    surface.rect({ x: x0 - 0.5, y: y0 - 0.5, w: g.grid + 1, h: g.grid + 1, stroke: theme.strong });
    g.labels.forEach((label, i) => {
      const row = cursor?.row === i, col = cursor?.col === i;
      surface.text({ text: g.names[i], x: x0 - GAP + 2, y: y0 + (i + 0.5) * g.cell, size: g.size, align: "right", weight: row ? 700 : 400, fill: row ? theme.query : theme.ink });
      surface.text({ text: label, x: x0 + (i + 0.5) * g.cell + g.size * 0.28, y: y0 - GAP * 0.6 - g.size * 0.2, size: g.size, angle: -45, weight: col ? 700 : 400, fill: col ? theme.key : theme.ink });
    });
    if (!cursor) return;
    surface.rect({ x: x0 - 1, y: y0 + cursor.row * g.cell - 1, w: g.grid + 2, h: g.cell + 2, r: 2, stroke: theme.query, width: 1.4 });
    surface.rect({ x: x0 + cursor.col * g.cell - 1, y: y0 - 1, w: g.cell + 2, h: g.grid + 2, r: 2, stroke: theme.key, width: 1.4 });
    surface.rect({ x: x0 + cursor.col * g.cell - 1, y: y0 + cursor.row * g.cell - 1, w: g.cell + 2, h: g.cell + 2, r: 2, stroke: theme.ink, width: 2.4 });
  });
}
