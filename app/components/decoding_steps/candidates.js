// The best next tokens of a step as bars, the rest as one more; which of them top-k and top-p let pass; where the draw fell.
import { elide, widthOf } from "./labels.js";
import { fill } from "./template.js";

const ROW = 25, SIZE = 14, SMALL = 12, HEAD = 26, WIDEST = 132, DRAW = 46, NARROW = 420;

export const written = (value, digits = 2) => (Number(value.toFixed(digits)) || 0).toFixed(digits).replace("-", "\u2212");

/** A probability with as many digits as it needs: what rounds to nothing is not nothing. */
export function share(value) {
  if (value === 0 || value >= 0.0005) return value ? value.toFixed(3) : "0";
  if (value >= 0.00005) return value.toFixed(4);
  const [leading, power] = value.toExponential(0).split("e-");
  return `${leading} × 10\u207b${[...power].map(digit => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`;
}

/** What a token is called among others: with its id where another one of the step looks the same. */
export const nameOf = ({ candidates }, one) => candidates.some(other => other !== one && other.label === one.label) ? `${one.label} #${one.id}` : one.label;

export const isSampling = header => header.kind === "sampling";

export function layoutCandidates(theme, header, x, y, wide) {
  const { moments, text } = header, sampling = isSampling(header);
  const label = Math.min(WIDEST, wide * 0.3, Math.max(...moments.flatMap(moment => moment.candidates.map(one => widthOf(theme, nameOf(moment, one), SIZE, 600))), 60));
  const others = Math.max(...moments.map(({ others }) => widthOf(theme, fill(text.others, { count: count(others) }), SIZE)));
  const narrow = sampling && wide < NARROW; // a phone: no column of logits, they stand in the table and are spoken
  const names = narrow ? label : Math.min(wide * 0.42, Math.max(label, others));
  const logit = narrow ? 0 : 56, numbers = sampling ? (narrow ? 44 : 58) : 0, value = narrow ? 92 : sampling ? 108 : 54;
  const top = y + HEAD + (sampling ? DRAW : 0);
  const left = x + names + 14 + logit + numbers + 10, right = Math.max(left + 40, x + wide - value);
  const rows = Math.max(...moments.map(({ candidates }) => candidates.length)) + 1;
  return { x, y, wide, names, logit: narrow ? null : x + names + 14 + logit, divided: sampling ? x + names + 14 + logit + numbers : null, left, right, top, bottom: top + rows * ROW + 4 };
}

export const count = value => value.toLocaleString("en-US");

/** The candidate under a point; the row after the last is the rest. */
export function candidateAt(at, { candidates }, px, py) {
  const row = Math.floor((py - at.top) / ROW);
  return px >= at.x && px < at.x + at.wide && row >= 0 && row <= candidates.length && py >= at.top ? row : -1;
}

export const boxOf = (at, row) => ({ x: at.x, y: at.top + row * ROW, w: at.wide, h: ROW });

export function drawCandidates(surface, theme, header, at, moment, pointed) {
  const { text } = header, sampling = isSampling(header);
  const head = (label, x, room) => surface.text({ text: elide(theme, label, room, SMALL), x, y: at.y + 10, size: SMALL, align: "right", fill: theme.muted });
  if (at.logit) head(text.logit, at.logit, 66);
  if (at.divided) head(text.divided, at.divided, 56);
  surface.text({ text: elide(theme, sampling ? `${text.probability} / ${text.final}` : text.probability, at.wide - at.left + at.x, SMALL), x: at.left, y: at.y + 10, size: SMALL, fill: theme.muted });
  if (sampling) drawDraw(surface, theme, header, at, moment);
  const scale = Math.max(0.02, ...moment.candidates.map(one => Math.max(one.probability, one.final)), moment.others_probability);
  const long = value => value / Math.max(scale, 0.5) * (at.right - at.left);
  moment.candidates.forEach((one, row) => {
    const y = at.top + row * ROW, middle = y + ROW / 2, taken = one.id === moment.id, ink = one.cut ? theme.muted : theme.ink;
    if (pointed === row) surface.rect({ x: at.x, y: y + 1, w: at.wide, h: ROW - 2, r: 5, fill: theme.ink, alpha: 0.07 });
    if (taken) surface.rect({ x: at.x, y: y + 1, w: at.wide, h: ROW - 2, r: 5, stroke: moment.given ? theme.key : theme.target, width: 2 });
    surface.text({ text: elide(theme, nameOf(moment, one), at.names, SIZE, 600), x: at.x + at.names + 4, y: middle, size: SIZE, weight: 600, align: "right", fill: ink });
    if (at.logit) surface.text({ text: written(one.logit), x: at.logit, y: middle, size: SMALL, align: "right", fill: ink });
    if (at.divided) surface.text({ text: one.divided === null ? "–" : written(one.divided), x: at.divided, y: middle, size: SMALL, align: "right", fill: ink });
    bars(surface, theme, at, middle, long(one.probability), sampling ? long(one.final) : null);
    const shown = sampling ? `${share(one.probability)} / ${one.cut ? text[`cut_${one.cut}`] : share(one.final)}` : share(one.probability);
    const beside = at.left + Math.max(long(one.probability), sampling ? long(one.final) : 0) + 7, furthest = at.x + at.wide - widthOf(theme, shown, SMALL, taken ? 700 : 400) - 3;
    surface.text({ text: shown, x: Math.max(at.left + 4, Math.min(beside, furthest)), y: middle, size: SMALL, weight: taken ? 700 : 400, fill: ink });
  });
  const last = moment.candidates.length, y = at.top + last * ROW, middle = y + ROW / 2;
  if (pointed === last) surface.rect({ x: at.x, y: y + 1, w: at.wide, h: ROW - 2, r: 5, fill: theme.ink, alpha: 0.07 });
  surface.text({ text: elide(theme, fill(text.others, { count: count(moment.others) }), at.names + 60, SIZE), x: at.x + 6, y: middle, size: SIZE, fill: theme.muted });
  bars(surface, theme, at, middle, long(moment.others_probability), sampling ? long(moment.others_final) : null);
  surface.text({ text: sampling ? `${share(moment.others_probability)} / ${share(moment.others_final)}` : share(moment.others_probability), x: at.left + Math.max(long(moment.others_probability), sampling ? long(moment.others_final) : 0) + 7, y: middle, size: SMALL, fill: theme.muted });
}

/** What the model gives as an outline where something is made of it, and what is made of it filled. */
function bars(surface, theme, at, middle, given, made) {
  if (made === null) return surface.rect({ x: at.left, y: middle - 7, w: Math.max(1, given), h: 14, fill: theme.accent, alpha: 0.85 });
  if (made > 0) surface.rect({ x: at.left, y: middle - 7, w: Math.max(1, made), h: 14, fill: theme.accent, alpha: 0.8 });
  surface.rect({ x: at.left + 0.5, y: middle - 7.5, w: Math.max(1, given), h: 15, stroke: theme.ink, width: 1.2 });
}

/** The probabilities side by side from 0 to 1, best first, and the number that was drawn. */
function drawDraw(surface, theme, { text }, at, moment) {
  const y = at.y + HEAD - 4, place = value => at.x + 4 + value * (at.wide - 8);
  let from = 0;
  moment.candidates.forEach((one, i) => {
    if (one.final <= 0) return;
    const low = one.rank > i + 1 ? moment.low : from, high = low + one.final;
    surface.rect({ x: place(low), y, w: Math.max(0.5, place(high) - place(low)), h: 16, fill: one.id === moment.id ? theme.target : theme.accent, alpha: one.id === moment.id ? 0.9 : i % 2 ? 0.28 : 0.45 });
    from = high;
  });
  surface.rect({ x: place(0) - 0.5, y: y - 0.5, w: place(1) - place(0) + 1, h: 17, stroke: theme.strong });
  if (moment.drawn === null) return;
  const x = place(moment.drawn);
  surface.rect({ x: x - 1.5, y: y - 4, w: 3, h: 24, fill: theme.ink });
  const label = fill(text.drawn, { value: moment.drawn.toFixed(4) }), wide = widthOf(theme, label, SMALL);
  surface.text({ text: label, x: Math.max(at.x + 4, Math.min(at.x + at.wide - wide - 4, x - wide / 2)), y: y + 29, size: SMALL, fill: theme.ink });
}
