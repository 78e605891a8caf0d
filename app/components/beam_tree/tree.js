// The tree: a column for each step, in it the candidates from best to worst; below, what the chosen one looked at.
import { elide, widthOf } from "./labels.js";
import { drawStrip, layoutStrip } from "./strip.js";

const BOX = 34, GAP = 6, BETWEEN = 44, SIZE = 14, SMALL = 11, WIDEST = 120, LEGEND = 26, HEAD = 18;

export const written = (value, digits = 2) => (Number(value.toFixed(digits)) || 0).toFixed(digits).replace("-", "\u2212");

export function layout(theme, header, room) {
  const { nodes, start, keys, text } = header;
  const depth = Math.max(1, ...nodes.map(node => node.depth)), columns = Array.from({ length: depth + 1 }, () => []);
  nodes.forEach((node, index) => columns[node.depth].push(index));
  const legend = legendOf(theme, text, room), top = legend.bottom + HEAD;
  const tall = Math.max(...columns.map(column => column.length), 1) * (BOX + GAP);
  const root = { x: 0, y: top + tall / 2 - BOX / 2, w: Math.max(40, Math.min(WIDEST, widthOf(theme, start, SIZE, 600) + 16)), h: BOX };
  const boxes = [];
  let x = root.x + root.w + BETWEEN;
  for (const column of columns.slice(1)) {
    const w = Math.max(56, ...column.map(index => Math.min(WIDEST, widthOf(theme, nodes[index].label, SIZE, 600) + 18)));
    column.forEach((index, row) => { boxes[index] = { x, y: top + (tall - column.length * (BOX + GAP)) / 2 + row * (BOX + GAP), w, h: BOX }; });
    x += w + BETWEEN;
  }
  return { width: Math.max(room, x - BETWEEN + 6), height: top + tall + 10, top, root, boxes, columns, legend, strip: layoutStrip(theme, keys, 0, 26, room) };
}

function legendOf(theme, text, room) {
  let x = 0, y = 0;
  const entries = ["kept", "cut", "finished", "left"].map(fate => {
    const wide = 30 + widthOf(theme, text[fate], 13) + 18;
    if (x && x + wide > room) [x, y] = [0, y + LEGEND];
    const entry = { fate, x, y };
    x += wide;
    return entry;
  });
  return { entries, bottom: y + LEGEND };
}

export const hit = ({ boxes }, px, py) => {
  const found = boxes.findIndex(({ x, y, w, h }) => px >= x && px <= x + w && py >= y && py <= y + h);
  return found < 0 ? null : found;
};

/** The nodes from the first to this one. */
export function wayTo({ nodes }, index) {
  const way = [];
  for (let at = index; at !== null; at = nodes[at].parent) way.unshift(at);
  return way;
}

export function draw(surface, theme, header, at, focus) {
  const { nodes, best, start, text } = header, on = new Set(focus === null ? [] : wayTo(header, focus)), winner = new Set(best.length ? wayTo(header, best[0]) : []);
  for (const { fate, x, y } of at.legend.entries) {
    look(surface, theme, fate, { x: x + 1, y: y + 4, w: 20, h: 14 }, false);
    surface.text({ text: text[fate], x: x + 28, y: y + 11, size: 13, fill: theme.ink });
  }
  at.columns.forEach((column, depth) => { if (depth && column.length) surface.text({ text: String(depth), x: at.boxes[column[0]].x + at.boxes[column[0]].w / 2, y: at.top - 8, size: SMALL, align: "center", fill: theme.muted }); });
  nodes.forEach((node, index) => {
    const from = node.parent === null ? at.root : at.boxes[node.parent], to = at.boxes[index], strong = on.has(index) || winner.has(index);
    surface.curve({ from: [from.x + from.w, from.y + from.h / 2], to: [to.x, to.y + to.h / 2], colour: on.has(index) ? theme.accent : winner.has(index) ? theme.target : theme.strong, width: strong ? 2.6 : 1, alpha: node.fate === "cut" && !strong ? 0.5 : 1, dash: node.fate === "cut" ? [3, 3] : [] });
  });
  surface.rect({ ...at.root, r: 6, fill: theme.card, stroke: theme.line });
  surface.text({ text: elide(theme, start, at.root.w - 8, SIZE, 600), x: at.root.x + at.root.w / 2, y: at.root.y + BOX / 2, size: SIZE, weight: 600, align: "center", fill: theme.muted });
  nodes.forEach((node, index) => {
    const box = at.boxes[index], ink = node.fate === "cut" ? theme.muted : theme.ink;
    look(surface, theme, node.fate, box, winner.has(index));
    if (focus === index) surface.rect({ x: box.x - 2.5, y: box.y - 2.5, w: box.w + 5, h: box.h + 5, r: 8, stroke: theme.accent, width: 3 });
    surface.text({ text: elide(theme, node.label, box.w - 8, SIZE, 600), x: box.x + box.w / 2, y: box.y + 12, size: SIZE, weight: node.fate === "cut" ? 400 : 600, align: "center", fill: ink });
    surface.text({ text: written(node.log_probability), x: box.x + box.w / 2, y: box.y + 26, size: SMALL, align: "center", fill: ink });
    const rank = best.indexOf(index);
    if (rank >= 0) surface.text({ text: String(rank + 1), x: box.x + box.w - 4, y: box.y + 9, size: 10.5, weight: 700, align: "right", fill: theme.target });
  });
}

function look(surface, theme, fate, { x, y, w, h }, winner) {
  if (fate === "cut") surface.rect({ x, y, w, h, r: 6, fill: theme.card, stroke: theme.line });
  else if (fate === "finished") { surface.rect({ x, y, w, h, r: 6, fill: theme.card, stroke: theme.target, width: 2 }); surface.rect({ x: x + 3, y: y + 3, w: w - 6, h: h - 6, r: 4, stroke: theme.target }); }
  else if (fate === "left") { surface.hatch({ x, y, w, h }); surface.rect({ x: x + 3, y: y + 2, w: w - 6, h: h - 4, r: 3, fill: theme.card, alpha: 0.85 }); surface.rect({ x, y, w, h, r: 6, stroke: theme.strong }); }
  else surface.rect({ x, y, w, h, r: 6, fill: theme.card, stroke: fate === "given" ? theme.key : winner ? theme.target : theme.ink, width: winner || fate === "given" ? 2 : 1.3 });
}

/** What a node looked at, as tiles with their heading. */
export function drawLooks(surface, theme, header, at, index) {
  const { rows, nodes, keys, role, looks } = header;
  surface.text({ text: looks, x: 0, y: 10, size: 13, weight: 600, fill: theme.muted });
  drawStrip(surface, theme, at.strip, keys, rows[nodes[index].row], role);
}
