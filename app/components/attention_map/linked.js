// Source above, target below, as flowing text; ribbons between them as wide and as dark as the weights.
import { elide, widthOf } from "./labels.js";
import { inkOn, mix } from "./theme.js";

const HEIGHT = 34, LINE = 8, BAR = 4;
const STRONG = 0.01, FAINT = 0.05; // weights below have no ribbon: those pointed at, and all others
const ROOMY = { size: 17, padding: 11, gap: 7, least: 38 }, COMPACT = { size: 16, padding: 7, gap: 4, least: 30 };

/** Roomy chips, or closer ones where that keeps a sentence on one line. */
export function layoutLinked(theme, axes, options) {
  const roomy = layout(theme, axes, options, ROOMY);
  if (!roomy.wrapped) return roomy;
  const compact = layout(theme, axes, options, COMPACT);
  return compact.lines < roomy.lines ? compact : roomy;
}

function layout(theme, axes, { available }, { size, padding, gap, least }) {
  const flow = (items, top, extra) => {
    const chips = [], lines = [[]];
    let x = 0;
    for (const item of items) {
      const label = elide(theme, item.label, Math.min(240, available - 2 * padding), size, 600);
      const w = Math.max(least, Math.ceil(widthOf(theme, label, size, 600)) + 2 * padding);
      if (x && x + w > available) { lines.push([]); x = 0; }
      const chip = { item, label, x, y: top + (lines.length - 1) * (HEIGHT + LINE + extra), w, h: HEIGHT, size };
      lines.at(-1).push(chip);
      chips.push(chip);
      x += w + gap;
    }
    for (const line of lines) {
      const last = line.at(-1), free = last ? (available - last.x - last.w) / 2 : 0;
      for (const chip of line) chip.x += Math.max(0, Math.round(free));
    }
    return { chips, lines: lines.length, bottom: top + lines.length * (HEIGHT + LINE + extra) - LINE };
  };
  const source = flow(axes.cols.items, 24, 0), apart = source.lines > 1 ? 86 : 118;
  const target = flow(axes.rows.items, source.bottom + apart, BAR + 16);
  return { source, target, width: available, height: target.bottom + 28, lines: source.lines + target.lines, wrapped: source.lines > 1 || target.lines > 1 };
}

/** `shares` lights chips up: for each item of a side a weight, or null where nothing is pointed at. */
export function drawLinked(surface, theme, g, { map, axes, probabilities, titles }, focus) {
  const row = focus.query, col = row === null ? focus.key : null, chosen = row !== null || col !== null;
  const weight = (r, c) => map.masked[r * map.cols + c] ? 0 : Math.min(1, map.values[r * map.cols + c]);
  const ribbon = (r, c, strong) => {
    const value = weight(r, c), from = g.source.chips[c], to = g.target.chips[r];
    if (value < (strong ? STRONG : FAINT)) return;
    surface.curve({ from: [from.x + from.w / 2, from.y + HEIGHT], to: [to.x + to.w / 2, to.y], axis: "y", width: 1 + 8 * value,
      colour: strong ? theme.target : theme.ink, alpha: strong ? Math.max(0.14, 0.82 * value) : (chosen ? 0.05 : 0.2) * value });
  };
  const crowd = !(g.wrapped && chosen);
  for (let r = 0; r < map.rows; r++) for (let c = 0; c < map.cols; c++) if (crowd && !(r === row || c === col)) ribbon(r, c, false);
  for (let r = 0; r < map.rows; r++) for (let c = 0; c < map.cols; c++) if (r === row || c === col) ribbon(r, c, true);
  surface.text({ text: titles.cols, x: 0, y: 9, size: 12.5, fill: theme.muted });
  surface.text({ text: titles.rows, x: 0, y: g.target.bottom + 16, size: 12.5, fill: theme.muted });
  g.source.chips.forEach((chip, c) => drawChip(surface, theme, chip, { role: theme.source, on: c === col, share: row === null ? 0 : weight(row, c) }));
  g.target.chips.forEach((chip, r) => {
    drawChip(surface, theme, chip, { role: theme.target, on: r === row, share: col === null ? 0 : weight(r, col) });
    drawProbability(surface, theme, chip, probabilities[r]);
  });
}

function drawChip(surface, theme, { item, label, size, x, y, w, h }, { role, on, share }) {
  const background = mix(theme.card, role, on ? 1 : 0.09 + 0.66 * share);
  surface.rect({ x, y, w, h, r: 8, fill: background });
  surface.text({ text: label, x: x + w / 2, y: y + h / 2 + 0.5, size, align: "center", weight: on ? 600 : 400,
    fill: !on && share < 0.25 ? (item.special ? theme.muted : theme.ink) : inkOn(background) });
}

function drawProbability(surface, theme, { x, y, w, h }, probability) {
  if (probability === null) return;
  const room = w - 10;
  surface.rect({ x: x + 5, y: y + h + 4, w: room, h: BAR, r: 2, fill: theme.line });
  surface.rect({ x: x + 5, y: y + h + 4, w: Math.max(BAR, room * probability), h: BAR, r: 2, fill: theme.target });
  surface.rect({ x: x + w / 2 - 16, y: y + h + 10, w: 32, h: 13, r: 3, fill: theme.card, alpha: 0.85 }); // no ribbon to a chip below strikes it through
  surface.text({ text: probability.toFixed(2), x: x + w / 2, y: y + h + 16, size: 11.5, align: "center", fill: theme.muted, mono: true });
}
