// The score over the offset: every pair's cosine above, their sum below, and the offset in play.
import { linear } from "./axes.js";
import { elide, widthOf } from "./labels.js";

const SIZE = 13, UPPER = 118, LOWER = 168, GAP = 38, TOP = 30, TICKS = 8;

export function layoutWaves(theme, curves, reach, width) {
  const each = curves.each.flat(), all = [...curves.sum, ...curves.plain];
  const upper = linear(Math.min(0, ...each), Math.max(0, ...each), 3), lower = linear(Math.min(0, ...all), Math.max(0, ...all), 4);
  const left = 10 + Math.max(...[...upper.ticks, ...lower.ticks].map(({ label }) => widthOf(theme, label, SIZE))), right = Math.max(left + 60, width - 14);
  const low = TOP + UPPER + GAP;
  return { left, right, width, reach, upper: { ...upper, top: TOP, tall: UPPER }, lower: { ...lower, top: low, tall: LOWER }, bottom: low + LOWER, height: low + LOWER + 46,
    x: offset => left + (offset + reach) / (2 * reach) * (right - left),
    offset: x => Math.max(-reach, Math.min(reach, ((x - left) / (right - left) * 2 - 1) * reach)) };
}

const up = (panel, value) => panel.top + panel.tall - panel.share(value) * panel.tall;

export function drawWaves(surface, theme, at, curves, look) {
  panel(surface, theme, at, at.upper, look.text.each);
  panel(surface, theme, at, at.lower, look.text.sum);
  marks(surface, theme, at, look.text.offset);
  const line = (box, values, style) => surface.path({ points: curves.offsets.map((offset, i) => [at.x(offset), up(box, values[i])]), ...style });
  curves.each.forEach((values, i) => { if (i !== look.chosen) line(at.upper, values, { colour: theme.muted, width: 1, alpha: 0.4 }); });
  line(at.upper, curves.each[look.chosen], { colour: theme.accent, width: 2.5 });
  if (!look.phases) line(at.lower, curves.plain, { colour: theme.key, width: 2, dash: [6, 4] });
  line(at.lower, curves.sum, { colour: theme.ink, width: 2 });
  const x = at.x(look.offset);
  if (Math.abs(look.offset) > at.reach) return;
  for (const { top, tall } of [at.upper, at.lower]) surface.path({ points: [[x, top], [x, top + tall]], colour: theme.accent, width: 1.5 });
  for (const [box, value, colour] of [[at.upper, look.term, theme.accent], [at.lower, look.product, theme.ink]]) surface.rect({ x: x - 5, y: up(box, value) - 5, w: 10, h: 10, r: 5, fill: colour });
}

function panel(surface, theme, at, box, title) {
  surface.text({ text: elide(theme, title, at.width, SIZE), x: 0, y: box.top - 19, size: SIZE, fill: theme.muted });
  for (const { value, label } of box.ticks) {
    const y = up(box, value);
    surface.path({ points: [[at.left, y], [at.right, y]], colour: value === 0 ? theme.strong : theme.line });
    surface.text({ text: label, x: at.left - 8, y, size: SIZE, align: "right", fill: theme.muted });
  }
}

function marks(surface, theme, at, name) {
  for (const { value, label } of linear(-at.reach, at.reach, TICKS).ticks) {
    if (Math.abs(value) > at.reach) continue;
    const x = at.x(value);
    surface.path({ points: [[x, at.bottom], [x, at.bottom + 4]], colour: theme.strong });
    surface.text({ text: label, x, y: at.bottom + 14, size: SIZE, align: "center", fill: theme.muted });
  }
  surface.text({ text: name, x: at.right, y: at.bottom + 34, size: SIZE, align: "right", fill: theme.muted });
}
