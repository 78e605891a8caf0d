// Keys as tiles, the darker the heavier: what one row of an attention looks at.
import { elide, widthOf } from "./labels.js";
import { colourAt } from "./scale.js";
import { inkOn } from "./theme.js";

const TILE = 42, GAP = 4, SIZE = 14, SMALL = 11.5, WIDEST = 130;

/** The tiles of `labels` in lines of width `wide`, from (x, y) down, and where they end. */
export function layoutStrip(theme, labels, x, y, wide) {
  let left = x, top = y;
  const tiles = labels.map(label => {
    const w = Math.min(WIDEST, wide, Math.max(40, widthOf(theme, label, SIZE, 600) + 14));
    if (left > x && left + w > x + wide) [left, top] = [x, top + TILE + GAP];
    const tile = { x: left, y: top, w, h: TILE };
    left += w + GAP;
    return tile;
  });
  return { tiles, bottom: top + TILE };
}

export function drawStrip(surface, theme, strip, labels, weights, role) {
  strip.tiles.forEach(({ x, y, w, h }, key) => {
    const colour = colourAt(theme, weights[key]), ink = inkOn(colour);
    surface.rect({ x, y, w, h, r: 5, fill: colour, stroke: theme.strong });
    surface.rect({ x: x + 1, y: y + h - 4, w: w - 2, h: 3, fill: theme[role] });
    surface.text({ text: elide(theme, labels[key], w - 8, SIZE, 600), x: x + w / 2, y: y + 13, size: SIZE, weight: 600, align: "center", fill: ink });
    surface.text({ text: weights[key].toFixed(2), x: x + w / 2, y: y + 29, size: SMALL, align: "center", fill: ink });
  });
}
