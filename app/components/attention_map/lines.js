// The head view: two columns of tokens and, between them, a line for each weight; several heads lie over one another.
import { elide, widthOf } from "./labels.js";
import { css } from "./theme.js";

export const THRESHOLD = 0.01;
const SMALLEST = 24, LARGEST_PITCH = 34;

export function layoutLines(theme, axes, { available, height }) {
  const rows = axes.rows.items, cols = axes.cols.items, longest = Math.max(rows.length, cols.length, 1);
  const pitch = Math.max(SMALLEST, Math.min(LARGEST_PITCH, Math.floor((height - 34) / longest))), size = 14.5;
  const room = Math.max(48, Math.min(150, available * 0.28));
  const rowLabels = rows.map(item => elide(theme, item.label, room, size, 700)), colLabels = cols.map(item => elide(theme, item.label, room, size, 700));
  const widest = labels => Math.ceil(Math.max(24, ...labels.map(label => widthOf(theme, label, size, 700))));
  const left = widest(rowLabels) + 16, rightLabels = widest(colLabels) + 16, numbers = 44;
  const width = Math.min(available, left + rightLabels + numbers + 420), body = longest * pitch, top = 28;
  const place = (count, i) => top + (i + 0.5) * body / Math.max(1, count);
  return { pitch, size, left, width, top, height: top + body + 8, right: width - rightLabels - numbers, rightLabels, numbers, rowLabels, colLabels,
    rowY: i => place(rows.length, i), colY: i => place(cols.length, i), rowPitch: body / Math.max(1, rows.length), colPitch: body / Math.max(1, cols.length) };
}

export function hitLines(g, axes, x, y, view) {
  const at = y + view.y;
  if (at < g.top) return null;
  if (x <= g.left + 8) {
    const query = Math.floor((at - g.top) / g.rowPitch);
    return query < axes.rows.items.length ? { query, key: null } : null;
  }
  if (x >= g.right - 8) {
    const key = Math.floor((at - g.top) / g.colPitch);
    return key < axes.cols.items.length ? { query: null, key } : null;
  }
  return null;
}

/** `layers` are the heads drawn: {map, name, colour, dash}; the first is the opened one. */
export function drawLines(surface, theme, g, { axes, layers, titles }, focus, view) {
  const chosen = focus.query !== null || focus.key !== null;
  const [top, bottom] = [view.y + g.top - 30, view.y + view.h + 30];
  const within = (y, other) => Math.max(y, other) > top && Math.min(y, other) < bottom;
  const rows = focus.query !== null ? [focus.query] : [...axes.rows.items.keys()], cols = focus.query === null && focus.key !== null ? [focus.key] : [...axes.cols.items.keys()];
  surface.clip({ x: 0, y: g.top - 4, w: g.width, h: view.h - g.top + 4 }, () => surface.shift(0, -view.y, () => {
    drawTokens(surface, theme, g, axes, layers[0], focus, within);
    for (const layer of layers) {
      const { map } = layer;
      for (const row of rows) {
        for (const col of cols) {
          const at = row * map.cols + col, value = Math.min(1, map.values[at]);
          if (map.masked[at] || value < THRESHOLD || !within(g.rowY(row), g.colY(col))) continue;
          surface.curve({ from: [g.left, g.rowY(row)], to: [g.right, g.colY(col)], colour: layer.colour, dash: layer.dash,
            width: 0.8 + (layers.length > 1 ? 3.4 : 5) * value, alpha: chosen ? Math.max(0.16, value) : Math.max(0.04, value * 0.85) });
        }
      }
    }
    if (layers.length > 1) drawNames(surface, theme, g, layers, focus);
  }));
  surface.text({ text: titles.rows, x: g.left - 8, y: 11, size: 12, align: "right", fill: theme.muted });
  surface.text({ text: titles.cols, x: g.right + 8, y: 11, size: 12, fill: theme.muted });
}

function drawTokens(surface, theme, g, axes, first, focus, within) {
  const { map } = first, numbers = focus.query !== null || focus.key !== null;
  const weight = (row, col) => map.masked[row * map.cols + col] ? 0 : Math.min(1, map.values[row * map.cols + col]);
  axes.rows.items.forEach((item, row) => {
    if (!within(g.rowY(row), g.rowY(row))) return;
    const on = row === focus.query, share = on ? 1 : focus.query === null && focus.key !== null ? weight(row, focus.key) : 0;
    token(surface, theme, { label: g.rowLabels[row], x: g.left - 8, y: g.rowY(row), width: g.left - 4, on, share, side: axes.rows.side, special: item.special, size: g.size, align: "right", pitch: g.rowPitch });
  });
  axes.cols.items.forEach((item, col) => {
    if (!within(g.colY(col), g.colY(col))) return;
    const on = focus.query === null && col === focus.key, share = on ? 1 : focus.query !== null ? weight(focus.query, col) : 0;
    token(surface, theme, { label: g.colLabels[col], x: g.right + 8, y: g.colY(col), width: g.rightLabels - 4, on, share, side: axes.cols.side, special: item.special, size: g.size, align: "left", pitch: g.colPitch });
    if (numbers && focus.query !== null && share >= 0.05) surface.text({ text: share.toFixed(2), x: g.right + g.rightLabels + 2, y: g.colY(col), size: 12, fill: theme.muted, mono: true });
  });
}

function token(surface, theme, { label, x, y, width, on, share, side, special, size, align, pitch }) {
  const height = Math.min(24, pitch - 2);
  if (share > 0.005) surface.rect({ x: align === "left" ? x - 4 : x - width + 8, y: y - height / 2, w: width, h: height, r: 5, fill: theme[side], alpha: on ? 0.22 : 0.03 + 0.2 * share });
  surface.text({ text: label, x, y, size, align, weight: on || share > 0.3 ? 700 : 400, fill: special && !on ? theme.muted : theme.ink });
}

/** The number of each head on its strongest drawn line, so that heads differ by more than colour. */
function drawNames(surface, theme, g, layers, focus) {
  layers.forEach(({ map, name, colour }, place) => {
    let best = null, top = THRESHOLD;
    for (let row = 0; row < map.rows; row++) {
      if (focus.query !== null && row !== focus.query) continue;
      for (let col = 0; col < map.cols; col++) {
        if (focus.query === null && focus.key !== null && col !== focus.key) continue;
        const at = row * map.cols + col;
        if (!map.masked[at] && map.values[at] > top) { top = map.values[at]; best = [row, col]; }
      }
    }
    if (!best) return;
    const share = (place + 1) / (layers.length + 1), eased = share * share * (3 - 2 * share);
    const x = g.left + (g.right - g.left) * share, y = g.rowY(best[0]) + (g.colY(best[1]) - g.rowY(best[0])) * eased;
    surface.rect({ x: x - 9, y: y - 9, w: 18, h: 18, r: 9, fill: theme.card, stroke: colour, width: 1.6 });
    surface.text({ text: name, x, y, size: 11.5, align: "center", weight: 700, fill: colour });
  });
}

/** A short sample of a head's line for its chip. */
export function sample(style) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [name, value] of Object.entries({ width: 26, height: 8, "aria-hidden": "true" })) svg.setAttribute(name, value);
  for (const [name, value] of Object.entries({ x1: 1, x2: 25, y1: 4, y2: 4, stroke: css(style.colour), "stroke-width": 2.6, "stroke-dasharray": style.dash.join(" ") })) line.setAttribute(name, value);
  svg.append(line);
  return svg;
}
