// Both panels: the keys of each attention as tiles, the darker the heavier; what may not be read is hatched.
import { elide, widthOf } from "./labels.js";
import { maySee, placeIn, weightOf } from "./payload.js";
import { colourAt } from "./scale.js";
import { fill } from "./template.js";
import { inkOn } from "./theme.js";

const TILE = 46, GAP = 5, SIZE = 14.5, SMALL = 11.5, WIDEST = 150, HEAD = 78, TITLE = 24, BETWEEN = 30, BESIDE = 760;

export function layout(theme, header, room) {
  const beside = room >= BESIDE, wide = beside ? (room - BETWEEN) / 2 : room;
  const panels = [];
  let x = 0, y = 0, height = 0;
  for (const panel of header.panels) {
    const made = layoutPanel(theme, panel, header.text, x, y, wide);
    panels.push(made);
    height = Math.max(height, made.bottom);
    if (beside) x += wide + BETWEEN;
    else y = made.bottom + BETWEEN;
  }
  return { width: room, height: height + 4, beside, panels };
}

function layoutPanel(theme, panel, text, x, y, wide) {
  let top = y + HEAD;
  const strips = panel.strips.map(strip => {
    const title = { x, y: top + TITLE / 2, text: text[`strip_${strip.name}`] };
    let left = x, line = top + TITLE;
    const tiles = strip.labels.map(label => {
      const w = Math.min(WIDEST, wide, Math.max(44, widthOf(theme, label, SIZE, 600) + 16));
      if (left > x && left + w > x + wide) { left = x; line += TILE + GAP; }
      const box = { x: left, y: line, w, h: TILE };
      left += w + GAP;
      return box;
    });
    top = line + TILE + 12;
    return { title, tiles };
  });
  return { x, y, wide, strips, bottom: top };
}

/** The panel, strip and key under a point, or null. */
export function hit(at, px, py) {
  for (const [panel, { strips }] of at.panels.entries()) {
    for (const [strip, { tiles }] of strips.entries()) {
      const key = tiles.findIndex(({ x, y, w, h }) => px >= x && px <= x + w && py >= y && py <= y + h);
      if (key >= 0) return { panel, strip, key };
    }
  }
  return null;
}

export const written = (value, digits) => value.toFixed(digits);

export function draw(surface, theme, header, at, look, focus) {
  header.panels.forEach((panel, index) => {
    const { x, y, wide, strips } = at.panels[index], place = placeIn(panel, look);
    surface.text({ text: elide(theme, panel.title, wide, 16, 650), x, y: y + 12, size: 16, weight: 650, fill: theme.ink });
    surface.text({ text: fill(header.text.of_layers, { layer: place.layer + 1, layers: panel.layers }), x, y: y + 33, size: 13, fill: theme.muted });
    const said = place.ended ? header.text.ended : panel.writes[place.step];
    const box = Math.min(wide, widthOf(theme, said, SIZE, 650) + 22), label = header.text.writes;
    const from = x + surface.text({ text: label, x, y: y + 60, size: 13, fill: theme.muted }) + 10;
    surface.rect({ x: from, y: y + 47, w: box, h: 27, r: 6, fill: theme.card, stroke: theme.target, width: place.ended ? 1 : 2 });
    surface.text({ text: elide(theme, said, box - 12, SIZE, 650), x: from + 11, y: y + 61, size: SIZE, weight: 650, fill: place.ended ? theme.muted : theme.ink });
    if (!place.ended) surface.text({ text: fill(header.text.probability, { value: written(Math.exp(panel.logarithms[place.step]), 3) }), x: from + box + 10, y: y + 61, size: 13, fill: theme.muted });
    panel.strips.forEach((strip, i) => {
      const { title, tiles } = strips[i];
      surface.text({ text: elide(theme, title.text, wide, 13, 600), x: title.x, y: title.y, size: 13, weight: 600, fill: theme.muted });
      tiles.forEach((tile, key) => drawTile(surface, theme, { panel, strip, place, key, tile }, focus?.panel === index && focus.strip === i && focus.key === key));
    });
  });
}

function drawTile(surface, theme, { panel, strip, place, key, tile }, focused) {
  const { x, y, w, h } = tile, sees = maySee(strip, place, key), label = strip.labels[key];
  const weight = sees ? weightOf(panel, strip, place, key) : 0, colour = sees ? colourAt(theme, weight) : theme.card, ink = inkOn(colour);
  const role = strip.name !== "written" && key < strip.given ? theme.source : theme.target;
  if (sees) surface.rect({ x, y, w, h, r: 5, fill: colour, stroke: theme.strong });
  else {
    surface.hatch({ x, y, w, h });
    surface.rect({ x, y, w, h: 24, fill: theme.card, alpha: 0.82 });
    surface.rect({ x, y, w, h, r: 5, stroke: theme.line });
  }
  surface.rect({ x: x + 1, y: y + h - 4, w: w - 2, h: 3, fill: role });
  if (focused) surface.rect({ x: x - 2, y: y - 2, w: w + 4, h: h + 4, r: 7, stroke: theme.accent, width: 3 });
  surface.text({ text: elide(theme, label, w - 10, SIZE, 600), x: x + w / 2, y: y + 14, size: SIZE, weight: 600, align: "center", fill: sees ? ink : theme.muted });
  if (sees) surface.text({ text: written(weight, 2), x: x + w / 2, y: y + 32, size: SMALL, align: "center", fill: ink });
}

