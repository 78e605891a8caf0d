// Where the bars stand, and how they are drawn; the same on the screen and in a file.
import { elide, widthOf } from "./labels.js";

const BAR = 12, GAP = 3, BETWEEN = 12, SIZE = 14, SMALL = 12, WIDEST_LABEL = 150, LEGEND = 24, MARGIN = 8;

export const written = (value, digits) => (Number(value.toFixed(digits)) || 0).toFixed(digits).replace("-", "\u2212");

/** The colour of a series; the third is drawn as an outline, so that bars differ without colour as well. */
export const colourOf = (theme, look) => ({ filled: theme.accent, second: theme.key, outlined: theme.ink })[look];

export function layout(theme, header, room) {
  const { labels, series, digits, numbered } = header;
  const index = numbered ? widthOf(theme, String(labels.length - 1), SMALL) + 8 : 0;
  const label = Math.min(WIDEST_LABEL, Math.max(20, ...labels.map(text => widthOf(theme, text, SIZE, 600))));
  const values = series.flatMap(({ values }) => values);
  const number = Math.max(...values.map(value => widthOf(theme, written(value, digits), SMALL))) + 8;
  const left = Math.ceil(index + label + 12), right = Math.max(left + 60, room - number);
  const low = Math.min(0, ...values), high = Math.max(0, ...values), span = high - low || 1;
  const group = series.length * (BAR + GAP) - GAP + BETWEEN, legend = legendOf(theme, series, room), top = legend.height + MARGIN;
  return { left, index, label, legend, top, group, x: value => left + (value - low) / span * (right - left), zero: left - low / span * (right - left), width: Math.max(room, right + number), height: top + labels.length * group };
}

function legendOf(theme, series, room) {
  let x = 0, y = 0;
  const entries = series.map(kind => {
    const wide = 24 + widthOf(theme, kind.title, SIZE) + 18;
    if (x && x + wide > room) [x, y] = [0, y + LEGEND];
    const entry = { kind, x, y };
    x += wide;
    return entry;
  });
  return { entries, height: series.length > 1 ? y + LEGEND : 0 };
}

export const boxOf = (at, row) => ({ x: 0, y: at.top + row * at.group, w: at.width, h: at.group });

/** Row and series under a point, or null. */
export function hit(at, header, x, y) {
  const row = Math.floor((y - at.top) / at.group);
  if (row < 0 || row >= header.labels.length || x > at.width) return null;
  const inside = (y - at.top - row * at.group - BETWEEN / 2) / (BAR + GAP);
  return { row, series: Math.max(0, Math.min(header.series.length - 1, Math.floor(inside))) };
}

export function draw(surface, theme, header, at, pointed, view) {
  const { labels, series, digits, role } = header;
  for (const { kind, x, y } of at.legend.height ? at.legend.entries : []) {
    bar(surface, theme, kind.look, x, y + 5, 18);
    surface.text({ text: kind.title, x: x + 24, y: y + 11, size: SIZE, fill: theme.ink });
  }
  labels.forEach((text, row) => {
    const y = at.top + row * at.group;
    if (y > view.y + view.h || y + at.group < view.y) return;
    if (pointed?.row === row) surface.rect({ x: 0, y: y + 1, w: at.width, h: at.group - 2, r: 5, fill: theme.ink, alpha: 0.06 });
    const middle = y + at.group / 2;
    if (at.index) surface.text({ text: String(row), x: at.index - 8, y: middle, size: SMALL, align: "right", fill: theme.muted });
    surface.text({ text: elide(theme, text, at.label, SIZE, 600), x: at.left - 10, y: middle, size: SIZE, weight: 600, align: "right", fill: theme[role] ?? theme.ink });
    series.forEach((kind, i) => {
      const value = kind.values[row], top = y + BETWEEN / 2 + i * (BAR + GAP), end = at.x(value);
      bar(surface, theme, kind.look, Math.min(at.zero, end), top, Math.abs(end - at.zero));
      const strong = pointed?.row === row && pointed.series === i;
      surface.text({ text: written(value, digits), x: Math.max(end, at.zero) + 6, y: top + BAR / 2, size: SMALL, weight: strong ? 700 : 400, fill: theme.ink });
    });
  });
  surface.rect({ x: at.zero - 0.5, y: at.top, w: 1, h: labels.length * at.group, fill: theme.strong });
}

function bar(surface, theme, look, x, y, w) {
  const colour = colourOf(theme, look);
  if (look === "outlined") surface.rect({ x: x + 0.5, y: y + 0.5, w: Math.max(1, w - 1), h: BAR - 1, fill: theme.card, stroke: colour, width: 1.2 });
  else surface.rect({ x, y, w: Math.max(1, w), h: BAR, fill: colour, alpha: 0.85 });
}

