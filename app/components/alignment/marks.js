// What a cell or a curve is beside the gold, told by shape: outline = linked, disc = sure, ring = possible, hatch = missed, cross = not in the gold.
import { boxOfCell } from "./matrix.js";
import { colourAt } from "./scale.js";
import { CanvasSurface } from "./surface.js";
import { widthOf } from "./labels.js";
import { inkOn } from "./theme.js";

const OUTLINED = new Set(["link", "found_sure", "found_possible", "extra"]);
const APART_LINES = 5, SWATCH = 18, TEXT = 12.5, LINE = 24, APART = 18;

export const isLinked = verdict => OUTLINED.has(verdict);

function ring(surface, x, y, r, colour, fill) {
  surface.rect({ x: x - r, y: y - r, w: 2 * r, h: 2 * r, r, fill, stroke: colour, width: 2 });
}

/** The sign of a verdict around a point; the model's link alone has none. */
export function drawSign(surface, verdict, x, y, r, colour) {
  if (verdict === "found_sure" || verdict === "missed") ring(surface, x, y, r, colour, colour);
  if (verdict === "found_possible" || verdict === "possible") ring(surface, x, y, r, colour);
  if (verdict !== "extra") return;
  for (const way of [1, -1]) surface.path({ points: [[x - r, y - way * r], [x + r, y + way * r]], colour, width: 2.2 });
}

/** Lines across a box; the colour of its weight stays in sight between them. */
function hatch(surface, { x, y, w, h }, colour) {
  for (let along = APART_LINES; along < w + h; along += APART_LINES) {
    const from = [x + Math.max(0, along - h), y + Math.min(h, along)], to = [x + Math.min(w, along), y + Math.max(0, along - w)];
    surface.path({ points: [from, to], colour, width: 1, alpha: 0.6 });
  }
}

/** A box may be wider than tall: between pieces, a word of several is one box. */
export function drawCell(surface, theme, verdict, { x, y, w, h }, background) {
  if (verdict === "missed") hatch(surface, { x: x + 1, y: y + 1, w: w - 2, h: h - 2 }, inkOn(background));
  if (isLinked(verdict)) {
    surface.rect({ x: x + 0.5, y: y + 0.5, w: w - 1, h: h - 1, r: 3, stroke: theme.ink, width: 2 });
    surface.rect({ x: x + 2.25, y: y + 2.25, w: w - 4.5, h: h - 4.5, r: 2, stroke: theme.card, width: 1 });
  }
  drawSign(surface, verdict, x + w / 2, y + h / 2, Math.max(2.5, Math.min(w, h) * 0.2), inkOn(background));
}

/** The marks over a matrix that was drawn; `cells` are {verdict, row: [from, to], col: [from, to], share}. */
export function drawMarks(surface, theme, g, cells, view) {
  const { cell, left, top } = g;
  surface.clip({ x: left - 2, y: top - 2, w: view.w - left + 4, h: view.h - top + 4 }, () => {
    for (const { verdict, row, col, share } of cells) {
      const box = boxOfCell(g, row[0], col[0]), x = box.x - view.x, y = box.y - view.y, w = (col[1] - col[0] + 1) * cell, h = (row[1] - row[0] + 1) * cell;
      if (x + w < left || y + h < top || x > view.w || y > view.h) continue;
      drawCell(surface, theme, verdict, { x, y, w, h }, colourAt(theme, share));
    }
  });
}

function drawSwatch(surface, theme, verdict, x, y, view) {
  if (view === "matrix") return drawCell(surface, theme, verdict, { x, y, w: SWATCH, h: SWATCH }, colourAt(theme, 0.1));
  const middle = y + SWATCH / 2, linked = isLinked(verdict);
  surface.path({ points: [[x, middle], [x + SWATCH, middle]], colour: linked ? theme.target : theme.ink, width: linked ? 5 : 1.6, dash: linked ? [] : [4, 3] });
  if (verdict === "link") return undefined;
  surface.rect({ x: x + SWATCH / 2 - 6.5, y: middle - 6.5, w: 13, h: 13, r: 6.5, fill: theme.card });
  return drawSign(surface, verdict, x + SWATCH / 2, middle, 4, theme.ink);
}

/** A sample of a mark for the legend of the matrix, or of the ribbon. */
export function swatch(theme, verdict, view) {
  const canvas = document.createElement("canvas"), surface = new CanvasSurface(canvas, theme);
  canvas.setAttribute("aria-hidden", "true");
  Object.assign(canvas.style, { width: `${SWATCH}px`, height: `${SWATCH}px` });
  surface.begin(SWATCH, SWATCH);
  drawSwatch(surface, theme, verdict, 0, 0, view);
  return canvas;
}

/** Where the entries {verdict, label} of a legend stand, in lines of `room`. */
export function layoutLegend(theme, entries, room, view) {
  let x = 0, y = 0, width = 0;
  const placed = entries.map(entry => {
    const wide = SWATCH + 7 + widthOf(theme, entry.label, TEXT);
    if (x && x + wide > room) { x = 0; y += LINE; }
    const at = { ...entry, x, y };
    x += wide + APART;
    width = Math.max(width, x - APART);
    return at;
  });
  return { placed, view, width, height: entries.length ? y + LINE : 0 };
}

export function drawLegend(surface, theme, { placed, view }, x, y) {
  for (const entry of placed) {
    drawSwatch(surface, theme, entry.verdict, x + entry.x, y + entry.y, view);
    surface.text({ text: entry.label, x: x + entry.x + SWATCH + 7, y: y + entry.y + SWATCH / 2, size: TEXT, fill: theme.muted });
  }
}
