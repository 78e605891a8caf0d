// A map of self-attention as a complete directed graph: tokens on a circle by index, for each pair an arrow there and one back.
import { elide, widthOf } from "./labels.js";
import { colourAt } from "./scale.js";
import { mix } from "./theme.js";

const SIZE = 14, NODE = 6, LOOP = 8, BEND = 0.13, AROUND = 2 * Math.PI, LEGEND = 48;
const FAINT = 0.004; // an arrow of less would not darken a pixel
const REACH = 7, SAMPLES = 14;

/** Where every token stands; token 0 is at the top, the others follow clockwise. */
export function layoutGraph(theme, items, { available }) {
  const widest = Math.min(Math.max(20, ...items.map(item => widthOf(theme, item.label, SIZE, 600))), available < 480 ? 84 : 150);
  const margin = 2 * LOOP + 16, radius = Math.max(items.length * 22 / AROUND, Math.min(190, (available - 2 * (widest + margin)) / 2), 74);
  const width = 2 * (radius + widest + margin), round = 2 * (radius + margin + SIZE), [x, y] = [width / 2, LEGEND + round / 2];
  const nodes = items.map((item, i) => {
    const angle = AROUND * i / items.length - AROUND / 4, out = [Math.cos(angle), Math.sin(angle)];
    return { x: x + radius * out[0], y: y + radius * out[1], out, label: elide(theme, item.label, widest, SIZE, 600), special: item.special };
  });
  return { width, height: LEGEND + round, radius, nodes };
}

/** The arrow from the token that reads to the one that is read; it keeps to one side, the arrow back to the other. */
function arrow({ nodes }, from, to) {
  const [a, b] = [nodes[from], nodes[to]], [dx, dy] = [b.x - a.x, b.y - a.y], by = [(a.x + b.x) / 2 - dy * BEND, (a.y + b.y) / 2 + dx * BEND];
  const cut = (node, rest) => { const [x, y] = [by[0] - node.x, by[1] - node.y], length = Math.hypot(x, y) || 1; return [node.x + x * rest / length, node.y + y * rest / length]; };
  return { from: cut(a, NODE + 1), by, to: cut(b, NODE + 3) };
}

const pointOf = ({ from, by, to }, t) => [0, 1].map(i => (1 - t) ** 2 * from[i] + 2 * t * (1 - t) * by[i] + t * t * to[i]);

/** The token, the pair or the loop under a point, as query and key. */
export function hitGraph(g, map, x, y) {
  const { nodes } = g, near = (node, reach) => Math.hypot(x - node.x, y - node.y) <= reach;
  const node = nodes.findIndex(one => near(one, NODE + 5));
  if (node >= 0) return { query: node, key: null };
  const loop = nodes.findIndex(one => near({ x: one.x + one.out[0] * (NODE + LOOP), y: one.y + one.out[1] * (NODE + LOOP) }, LOOP));
  if (loop >= 0) return { query: loop, key: loop };
  let best = null, least = REACH;
  for (let query = 0; query < nodes.length; query++) for (let key = 0; key < nodes.length; key++) {
    if (query === key || map.masked[query * map.cols + key]) continue;
    const line = arrow(g, query, key), weight = map.values[query * map.cols + key];
    for (let i = 1; i < SAMPLES; i++) {
      const [px, py] = pointOf(line, i / SAMPLES), distance = Math.hypot(x - px, y - py) + 2 * (1 - weight);
      if (distance < least) { least = distance; best = { query, key }; }
    }
  }
  return best;
}

export function drawGraph(surface, theme, g, { map }, focus) {
  const { nodes } = g, count = nodes.length, base = colourAt(theme, theme.dark ? 0.7 : 0.78), { query, key } = focus;
  const weight = (row, col) => map.values[row * map.cols + col], pointed = query !== null || key !== null;
  const chosen = (row, col) => (query === null || query === row) && (key === null || key === col) && pointed;
  const marked = [];
  for (let row = 0; row < count; row++) for (let col = 0; col < count; col++) {
    if (row === col || map.masked[row * map.cols + col]) continue;
    if (chosen(row, col) || chosen(col, row) && query !== null && key !== null) { marked.push([row, col]); continue; }
    if (weight(row, col) > FAINT) drawArrow(surface, arrow(g, row, col), weight(row, col), base, pointed ? 0.3 : 1);
  }
  nodes.forEach((node, i) => drawNode(surface, theme, node, weight(i, i), base, i === query || i === key, chosen(i, i)));
  for (const [row, col] of marked) {
    const back = query !== null && key !== null && !chosen(row, col), colour = back ? theme.key : theme.query;
    drawArrow(surface, arrow(g, row, col), weight(row, col), colour, 1, { least: query !== null && key !== null ? 0.85 : 0.12, dash: back ? [6, 4] : [] });
  }
  if (query !== null && key !== null) drawValues(surface, theme, g, weight, query === key ? [[query, key]] : [[query, key], [key, query]]);
}

function drawArrow(surface, line, weight, colour, fade, { least = 0, dash = [] } = {}) {
  const alpha = Math.max(least, weight ** 0.65) * fade, width = 0.8 + 4.5 * weight, [x, y] = line.to, head = 5 + 5 * weight;
  const [dx, dy] = [x - line.by[0], y - line.by[1]], length = Math.hypot(dx, dy) || 1, [ux, uy] = [dx / length, dy / length];
  surface.bow({ ...line, to: [x - ux * head * 0.7, y - uy * head * 0.7], colour, width, alpha, dash });
  const side = sign => [x - ux * head - sign * uy * head * 0.5, y - uy * head + sign * ux * head * 0.5];
  if (alpha > 0.05) surface.shape({ points: [[x, y], side(1), side(-1)], fill: colour, alpha: Math.min(1, alpha * 1.3) });
}

function drawNode(surface, theme, { x, y, out, label, special }, own, base, on, looped) {
  const [lx, ly] = [x + out[0] * (NODE + LOOP), y + out[1] * (NODE + LOOP)], loop = looped ? theme.query : mix(theme.card, base, Math.max(0.2, own ** 0.65));
  surface.rect({ x: lx - LOOP, y: ly - LOOP, w: 2 * LOOP, h: 2 * LOOP, r: LOOP, stroke: loop, width: 0.8 + 4.5 * own });
  surface.rect({ x: x - NODE, y: y - NODE, w: 2 * NODE, h: 2 * NODE, r: NODE, fill: on ? theme.query : theme.source, stroke: theme.card, width: 1.5 });
  const away = NODE + 2 * LOOP + 7, align = Math.abs(out[0]) < 0.25 ? "center" : out[0] > 0 ? "left" : "right", drop = align === "center" ? out[1] * 5 : 0;
  surface.text({ text: label, x: x + out[0] * away, y: y + out[1] * away + drop, size: SIZE, weight: on ? 700 : 400, align, fill: on ? theme.source : special ? theme.muted : theme.ink });
}

/** a_ij above a_ji, each with the look of its arrow, in a place of their own above the circle. */
function drawValues(surface, theme, { nodes }, weight, pairs) {
  pairs.forEach(([row, col], i) => {
    const y = 12 + 22 * i, colour = i ? theme.key : theme.query, dash = i ? [6, 4] : [];
    surface.bow({ from: [2, y], by: [16, y], to: [30, y], colour, width: 2.4, dash });
    surface.text({ text: `a(${row},${col}) = ${weight(row, col).toFixed(4)}  ${nodes[row].label} → ${nodes[col].label}`, x: 40, y, size: 13.5, weight: 600, fill: colour });
  });
}
