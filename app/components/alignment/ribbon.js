// Two lines of words, source above, target below; a curve for each weight, as wide as the weight; marks where gold stands beside it.
import { elide, widthOf } from "./labels.js";
import { drawSign, isLinked } from "./marks.js";
import { extentsOf } from "./maps.js";
import { mix } from "./theme.js";

const HEIGHT = 32, SIZE = 16, PADDING = 8, GAP = 6, LEAST = 28, TOP = 24, APART = 150, LONGEST = 220, MOST_GAP = 46;
const FAINT = 0.04, WIDEST = 9;

export function layoutRibbon(theme, axes, available) {
  const chips = items => items.map(item => {
    const label = elide(theme, item.label, LONGEST, SIZE, 600);
    return { item, label, w: Math.max(LEAST, Math.ceil(widthOf(theme, label, SIZE, 600)) + 2 * PADDING), h: HEIGHT };
  });
  const cols = chips(axes.cols.items), rows = chips(axes.rows.items);
  const wide = line => line.reduce((sum, chip) => sum + chip.w, 0) + GAP * Math.max(0, line.length - 1);
  const width = Math.max(wide(cols), wide(rows), Math.min(available, 320));
  place(cols, width, wide(cols), TOP);
  place(rows, width, wide(rows), TOP + HEIGHT + APART);
  return { cols, rows, colWords: centres(cols, axes.cols.items), rowWords: centres(rows, axes.rows.items), width: width + 2, height: TOP + 2 * HEIGHT + APART + 26 };
}

/** The shorter line is spread under the longer one, as far as it still reads as a line. */
function place(line, width, own, y) {
  const gap = GAP + Math.min(MOST_GAP, line.length > 1 ? (width - own) / (line.length - 1) : 0);
  let x = (width - (own + (gap - GAP) * Math.max(0, line.length - 1))) / 2;
  for (const chip of line) { chip.x = x; chip.y = y; x += chip.w + gap; }
}

/** The middle of each word, over all of its pieces. */
function centres(line, items) {
  const found = new Map();
  for (const [word, [from, to]] of extentsOf(items)) found.set(word, (line[from].x + line[to].x + line[to].w) / 2);
  return found;
}

/** The item under a point: {row} or {col}, indices along the axes. */
export function hitRibbon(g, x, y) {
  const within = line => line.findIndex(chip => x >= chip.x - GAP / 2 && x < chip.x + chip.w + GAP / 2 && y >= chip.y - 6 && y < chip.y + chip.h + 6);
  const col = within(g.cols), row = within(g.rows);
  return col >= 0 ? { col } : row >= 0 ? { row } : null;
}

/** `shown`: {axes, map, words (the map between words), cells (marks), titles}; `focus`: words in play. */
export function drawRibbon(surface, theme, g, shown, focus, view) {
  const chosen = focus.row !== null || focus.col !== null, seen = (a, b) => Math.max(a, b) > view.x - 60 && Math.min(a, b) < view.x + view.w + 60;
  const lit = (row, col) => focus.row !== null && focus.col !== null ? row === focus.row && col === focus.col : row === focus.row || col === focus.col;
  const top = g.cols[0] ? g.cols[0].y + HEIGHT : TOP, bottom = g.rows[0] ? g.rows[0].y : TOP + APART;
  surface.shift(-view.x, -view.y, () => {
    weights(surface, theme, g, shown, { chosen, seen, lit, top, bottom });
    curves(surface, theme, g, shown, { chosen, seen, lit, top, bottom });
    const share = side => index => focus[side] !== null ? null : side === "col" ? value(shown, focus.row, index) : value(shown, index, focus.col);
    g.cols.forEach(chip => drawChip(surface, theme, chip, theme.source, chip.item.word === focus.col, focus.row === null ? 0 : share("col")(chip.item.word) ?? 0));
    g.rows.forEach(chip => drawChip(surface, theme, chip, theme.target, chip.item.word === focus.row, focus.col === null ? 0 : share("row")(chip.item.word) ?? 0));
    surface.text({ text: shown.titles.cols, x: 0, y: 9, size: 12.5, fill: theme.muted });
    surface.text({ text: shown.titles.rows, x: 0, y: g.height - 10, size: 12.5, fill: theme.muted });
  });
}

const value = ({ words }, row, col) => row === null || col === null || row >= words.rows || col >= words.cols ? 0 : Math.min(1, words.values[row * words.cols + col]);

function weights(surface, theme, g, { axes, map, cells }, { chosen, seen, lit, top, bottom }) {
  const linked = new Set(cells.filter(({ verdict }) => isLinked(verdict)).map(({ link: [source, target] }) => `${target}/${source}`));
  const same = map.rows === g.rowWords.size && axes.rows.items.every((item, row) => item.word === row);
  for (let row = 0; row < map.rows; row++) {
    for (let col = 0; col < map.cols; col++) {
      const share = Math.min(1, map.values[row * map.cols + col]), one = axes.rows.items[row], other = axes.cols.items[col];
      if (share < FAINT || (same && linked.has(`${one.word}/${other.word}`))) continue;
      const from = g.cols[col], to = g.rows[row], on = lit(one.word, other.word);
      if (!seen(from.x, to.x)) continue;
      surface.curve({ from: [from.x + from.w / 2, top], to: [to.x + to.w / 2, bottom], axis: "y", width: 0.8 + WIDEST * share,
        colour: on ? theme.target : theme.ink, alpha: on ? 0.18 + 0.4 * share : (chosen ? 0.05 : 0.16) * (0.4 + share) });
    }
  }
}

/** Links as solid curves, gold that the model does not link dashed; the sign of each in its middle. */
function curves(surface, theme, g, { cells }, { chosen, seen, lit, top, bottom }) {
  const placed = cells.map(cell => ({ ...cell, x: g.colWords.get(cell.link[0]), tx: g.rowWords.get(cell.link[1]) })).filter(({ x, tx }) => x !== undefined && tx !== undefined && seen(x, tx));
  for (const { verdict, link: [source, target], share, x, tx } of placed) {
    const on = !chosen || lit(target, source);
    surface.curve({ from: [x, top], to: [tx, bottom], axis: "y", width: isLinked(verdict) ? 1.4 + WIDEST * share : 1.6, dash: isLinked(verdict) ? [] : [5, 4],
      colour: isLinked(verdict) ? theme.target : theme.ink, alpha: on ? (isLinked(verdict) ? 0.72 : 0.8) : 0.12 });
  }
  for (const { verdict, link: [source, target], x, tx } of placed) {
    if (verdict === "link" || (chosen && !lit(target, source))) continue;
    const middle = [(x + tx) / 2, (top + bottom) / 2];
    surface.rect({ x: middle[0] - 9, y: middle[1] - 9, w: 18, h: 18, r: 9, fill: theme.card });
    drawSign(surface, verdict, ...middle, 4.5, theme.ink);
  }
}

function drawChip(surface, theme, { item, label, x, y, w, h }, role, on, share) {
  const background = mix(theme.card, role, on ? 0.42 : 0.09 + 0.45 * share);
  surface.rect({ x, y, w, h, r: 7, fill: background, stroke: on ? role : undefined, width: 2 });
  surface.text({ text: label, x: x + w / 2, y: y + h / 2 + 0.5, size: SIZE, align: "center", weight: on ? 600 : 400, fill: item.special && !on ? theme.muted : theme.ink });
}
