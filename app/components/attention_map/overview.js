// All maps at once: for each attention a grid, rows are layers, columns are heads and, apart, their mean.
import { widthOf } from "./labels.js";

const GAP = 7, APART = 14, BETWEEN = 34, SMALLEST = 20, MANY = 40;

/** `groups`: {attention, title, rows, cols} with the size of a map in cells. */
export function layoutOverview(theme, groups, { available, text, ratio }) {
  const names = Math.max(...groups.flatMap(({ attention }) => attention.kept.map(layer => widthOf(theme, text.layer(layer), 12.5)))) + 10;
  const widest = Math.max(...groups.map(group => group.attention.heads + 1)), room = side => (available - (side - 1) * BETWEEN) / side;
  const sizeFor = side => (room(side) - names - APART - GAP * (widest - 1)) / widest;
  let side = Math.min(groups.length, 3);
  const longest = Math.max(...groups.flatMap(({ rows, cols }) => [rows, cols]));
  while (side > 1 && sizeFor(side) < (longest > MANY ? 64 : 40)) side--;
  const size = Math.max(SMALLEST, Math.min(groups.length > 1 ? 96 : 132, sizeFor(side)));
  const placed = [], frames = [];
  let x = 0, y = 0, tallest = 0;
  groups.forEach((group, index) => {
    const frame = layoutGroup(theme, group, { x, y, size, names, text, ratio, maps: placed });
    frames.push(frame);
    tallest = Math.max(tallest, frame.height);
    x += Math.max(frame.width, side > 1 ? room(side) : 0) + BETWEEN;
    if ((index + 1) % side === 0) { x = 0; y += tallest + 16; tallest = 0; }
  });
  const width = Math.max(...frames.map(frame => frame.x + frame.width)), height = Math.max(...frames.map(frame => frame.y + frame.height));
  return { maps: placed, frames, width, height, names };
}

function layoutGroup(theme, { attention, title, rows, cols }, { x, y, size, names, text, ratio, maps }) {
  let unit = Math.min(size / cols, 1.25 * size / rows);
  const whole = Math.floor(unit * ratio) / ratio;
  if (whole > 0.88 * unit) unit = whole; // whole device pixels, where that costs little room
  const w = Math.max(4, unit * cols), h = Math.max(4, unit * rows), heads = [...Array(attention.heads).keys(), "mean"];
  const pitch = Math.max(w, 16) + GAP, first = y + (title ? 28 : 0) + 20, columns = [];
  heads.forEach((head, column) => {
    const left = x + names + column * pitch + (head === "mean" ? APART - GAP : 0), long = text.head(head);
    const short = head === "mean" ? text.mean : String(head + 1), fits = widthOf(theme, long, 12) <= pitch - 8;
    columns.push({ x: left + w / 2, y: first - 11, label: fits ? long : short });
    attention.kept.forEach((layer, row) => maps.push({ attention, layer, head, x: left, y: first + row * (h + GAP), w, h }));
  });
  const layers = attention.kept.map((layer, row) => ({ y: first + row * (h + GAP) + h / 2, label: text.layer(layer) }));
  const width = names + heads.length * pitch + APART - 2 * GAP;
  return { x, y, width, height: first - y + layers.length * (h + GAP), title, columns, layers, right: x + names - 10 };
}

export const hitOverview = (g, x, y) => g.maps.find(map => x >= map.x - 2 && x <= map.x + map.w + 2 && y >= map.y - 2 && y <= map.y + map.h + 2) ?? null;

/** The maps themselves. `picture(map)` gives {bitmap, part, runs, rows, cols}: where the raster of a map is, and what of it is hatched. */
export function drawMaps(surface, theme, g, { picture, badge }) {
  for (const frame of g.frames) {
    if (frame.title) surface.text({ text: frame.title, x: frame.x, y: frame.y + 11, size: 14, weight: 600, fill: theme.ink });
    for (const { x, y, label } of frame.columns) surface.text({ text: label, x, y, size: 12, align: "center", fill: theme.muted });
    for (const { y, label } of frame.layers) surface.text({ text: label, x: frame.right, y, size: 12.5, align: "right", fill: theme.muted });
  }
  for (const map of g.maps) {
    const { bitmap, part, runs, rows, cols } = picture(map), { x, y, w, h } = map;
    surface.image({ bitmap, part, x, y, w, h });
    for (const run of runs) surface.hatch({ x: x + run.col * w / cols, y: y + run.row * h / rows, w: run.length * w / cols, h: run.count * h / rows });
    surface.rect({ x: x - 0.5, y: y - 0.5, w: w + 1, h: h + 1, r: 1.5, stroke: theme.strong });
    const entry = badge(map);
    if (entry) {
      const far = Math.min(6.5, w * 0.2);
      surface.rect({ x: x + w - far - 2.5, y: y + 1.5 - far, w: 2 * far, h: 2 * far, r: far, fill: entry.mark ? theme.muted : theme.key, stroke: theme.card, width: 1.5 });
      surface.text({ text: entry.mark ?? "★", x: x + w - 2.5, y: y + 1.5, size: far * 1.3, align: "center", fill: theme.card });
    }
  }
}

/** What changes with the pointer and the choice. */
export function drawMarks(surface, theme, g, { opened, pointed }) {
  const frame = (map, far, style) => map && surface.rect({ x: map.x - far, y: map.y - far, w: map.w + 2 * far, h: map.h + 2 * far, r: far + 2, ...style });
  frame(g.maps.find(map => same(map, pointed)), 2.5, { stroke: theme.muted, width: 1.5 });
  frame(g.maps.find(map => same(map, opened)), 3, { stroke: theme.accent, width: 2.5 });
}

const same = (map, other) => Boolean(other) && map.attention.id === other.attention.id && map.layer === other.layer && map.head === other.head;
