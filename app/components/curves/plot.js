// The picture: legend, axes, curves and bars, the same on the screen and in a file.
import { decades, linear } from "./axes.js";
import { elide, widthOf } from "./labels.js";
import { headStyle } from "./theme.js";

const SIZE = 13, LINE = 22, SAMPLE = 26, MARK = 18, FEW = 12, HEIGHT = 240, SHORTEST = 130, LONGEST = 200, TURNED = -40, NARROWEST = 10;

const numbers = chart => chart.series.flatMap(({ values }) => values.filter(value => value !== null));

/** Legend entries in rows that fit into the width. */
function legendOf(theme, chart, width) {
  if (chart.series.length < 2) return []; // the axis names it already
  let x = 0, row = 0;
  return chart.series.map((series, i) => {
    const label = elide(theme, series.label, width - SAMPLE - 8, SIZE), wide = SAMPLE + 8 + widthOf(theme, label, SIZE) + 20;
    if (x && x + wide > width) [x, row] = [0, row + 1];
    const place = { label, x, y: row * LINE + LINE / 2, row, ...headStyle(theme, i), kind: series.kind };
    x += wide;
    return place;
  });
}

/** Where everything stands; `least` is the room that is kept at the left, more than the numbers need where a turned label is long. */
export function layout(theme, chart, width, least = 0) {
  const values = numbers(chart), legend = legendOf(theme, chart, width), head = (legend.at(-1)?.row ?? -1) * LINE + 2 * LINE + 12;
  const y = chart.logarithmic && values.length ? decades(Math.min(...values), Math.max(...values), 6) : linear(Math.min(0, ...values), Math.max(0, ...values), 5);
  const left = Math.max(least, 10 + Math.max(...y.ticks.map(({ label }) => widthOf(theme, label, SIZE)))), right = Math.max(left + 40, width - 14), count = chart.labels.length;
  const along = chart.places && axisOf(chart, right - left), across = place => left + along.share(place) * (right - left);
  const at = along ? chart.places.map(across) : chart.labels.map((_, i) => left + (i + 0.5) * (right - left) / count);
  const step = (right - left) / Math.max(1, count), named = along ? namedOf(theme, chart, across, left, right) : [];
  const marks = along ? { turned: false, longest: 0, ticks: along.ticks.map(({ value, label }) => ({ label, x: across(value) })) } : points(theme, chart, at, step);
  const room = marks.turned ? Math.ceil(Math.max(...marks.ticks.map(tick => roomFor(theme, tick, left, right)))) : 0;
  if (room > left && !least) return layout(theme, chart, width, Math.min(room, width / 2));
  const top = head + MARK * Math.max(0, ...named.map(({ row }) => row + 1));
  const bottom = top + HEIGHT, below = marks.turned ? 14 + marks.longest * Math.sin(-TURNED * Math.PI / 180) : 22;
  return { width, height: bottom + below + 24, left, right, head, top, bottom, below, y, at, step, marks, named, legend,
    up: value => bottom - y.share(value) * HEIGHT };
}

/** How far to the right the axis must begin for a turned label to stay inside the picture: of several, it need not be the first. */
function roomFor(theme, { label, x }, left, right) {
  const reach = widthOf(theme, label, SIZE) * Math.cos(TURNED * Math.PI / 180), share = (x - left) / (right - left);
  return (reach - share * right) / (1 - share);
}

/** The axis of quantities: over the range of the places, or over whole decades. */
function axisOf(chart, width) {
  const low = Math.min(...chart.places), high = Math.max(...chart.places);
  if (chart.places_logarithmic) return decades(low, high, Math.max(2, Math.floor(width / 52)));
  const inside = linear(low, high, 8).ticks.filter(({ value }) => value >= low - 1e-9 && value <= high + 1e-9);
  return { ticks: inside, share: place => (place - low) / (high - low || 1) };
}

/** Named places, each label in the first row above the chart where it has room. */
function namedOf(theme, chart, across, left, right) {
  const ends = [];
  return [...chart.marks].sort((a, b) => a.place - b.place).map(({ place, label }) => {
    const x = across(place), shown = elide(theme, label, right - left, SIZE), half = widthOf(theme, shown, SIZE) / 2;
    const middle = Math.max(left + half, Math.min(right - half, x));
    let row = ends.findIndex(end => end < middle - half);
    if (row < 0) row = ends.length;
    ends[row] = middle + half + 10;
    return { x, middle, row, label: shown };
  });
}

/** Labels of points, thinned out where they are many, turned where they are long. */
function points(theme, chart, at, step) {
  const most = Math.max(SHORTEST, Math.min(LONGEST, step * chart.labels.length / 4)), shown = chart.labels.map(label => elide(theme, label, most, SIZE));
  const longest = Math.max(0, ...shown.map(label => widthOf(theme, label, SIZE))), turned = longest + 8 > step && step >= NARROWEST;
  const every = Math.max(1, Math.ceil((turned ? 18 : longest + 16) / step));
  return { turned, longest: turned ? longest : 0, ticks: shown.map((label, i) => ({ label, x: at[i] })).filter((_, i) => i % every === 0) };
}

export function hit(geometry, x) {
  if (!geometry.at.length) return null;
  let best = 0;
  geometry.at.forEach((place, i) => { if (Math.abs(place - x) < Math.abs(geometry.at[best] - x)) best = i; });
  return best;
}

export function draw(surface, theme, chart, geometry, point) {
  drawLegend(surface, theme, geometry);
  drawAxes(surface, theme, chart, geometry);
  if (point !== null) surface.rect({ x: geometry.at[point] - Math.max(1, geometry.step * 0.46), y: geometry.top, w: Math.max(2, geometry.step * 0.92), h: geometry.bottom - geometry.top, fill: theme.accent, alpha: 0.13 });
  const bars = chart.series.filter(({ kind }) => kind === "bar").length;
  let bar = 0;
  chart.series.forEach((series, i) => {
    const style = headStyle(theme, i);
    if (series.kind === "bar") drawBars(surface, geometry, series, style, bar++, bars);
    else if (series.kind === "dots") drawDots(surface, geometry, series, style);
    else drawLine(surface, geometry, series, style, point);
  });
}

function drawLegend(surface, theme, { legend, top }) {
  for (const { label, x, y, colour, dash, kind } of legend) {
    if (kind === "bar") surface.rect({ x, y: y - 6, w: SAMPLE, h: 12, r: 2, fill: colour });
    else if (kind === "dots") surface.rect({ x: x + SAMPLE / 2 - 4, y: y - 4, w: 8, h: 8, r: 4, fill: colour });
    else surface.path({ points: [[x, y], [x + SAMPLE, y]], colour, width: 2.5, dash });
    surface.text({ text: label, x: x + SAMPLE + 8, y, size: SIZE, fill: theme.ink });
  }
}

function drawAxes(surface, theme, chart, { width, left, right, head, top, bottom, below, y, up, marks, named }) {
  surface.text({ text: chart.y_name, x: 0, y: head - 16, size: SIZE, fill: theme.muted });
  for (const { value, label } of y.ticks) {
    const at = up(value);
    surface.path({ points: [[left, at], [right, at]], colour: value === 0 ? theme.strong : theme.line, width: 1 });
    surface.text({ text: label, x: left - 8, y: at, size: SIZE, align: "right", fill: theme.muted });
  }
  for (const { label, x } of marks.ticks) {
    const half = widthOf(theme, label, SIZE) / 2;
    surface.path({ points: [[x, bottom], [x, bottom + 4]], colour: theme.strong });
    if (marks.turned) surface.text({ text: label, x: x + 4, y: bottom + 11, size: SIZE, align: "right", angle: TURNED, fill: theme.muted });
    else surface.text({ text: label, x: Math.min(Math.max(x, half), width - half), y: bottom + 14, size: SIZE, align: "center", fill: theme.muted });
  }
  for (const { x, middle, row, label } of named) {
    const y = head + row * MARK + 6;
    surface.path({ points: [[x, y + 8], [x, bottom]], colour: theme.strong, width: 1, dash: [3, 3] });
    surface.text({ text: label, x: middle, y, size: SIZE, align: "center", fill: theme.ink });
  }
  surface.text({ text: chart.x_name, x: right, y: bottom + below + 12, size: SIZE, align: "right", fill: theme.muted });
}

function drawBars(surface, { at, step, up, bottom, y }, { values }, { colour }, bar, bars) {
  const wide = step * (step < 4 ? 1 : 0.78) / bars, base = y.ticks[0].value > 0 ? bottom : up(0);
  values.forEach((value, i) => {
    if (value === null) return;
    const x = at[i] + (bar - bars / 2) * wide, top = up(value);
    surface.rect({ x, y: Math.min(base, top), w: Math.max(0.5, wide), h: Math.abs(base - top), fill: colour });
  });
}

function drawDots(surface, { at, up }, { values }, { colour }) {
  const r = values.filter(value => value !== null).length < FEW ? 5.5 : 2.5;
  values.forEach((value, i) => { if (value !== null) surface.rect({ x: at[i] - r, y: up(value) - r, w: 2 * r, h: 2 * r, r, fill: colour, alpha: 0.75 }); });
}

/** Runs of values that are there; a single one between two gaps is a dot. */
function drawLine(surface, { at, up }, { values }, { colour, dash }, point) {
  let run = [];
  const end = () => {
    if (run.length > 1) surface.path({ points: run, colour, width: 2, dash });
    else if (run.length) surface.rect({ x: run[0][0] - 3, y: run[0][1] - 3, w: 6, h: 6, r: 3, fill: colour });
    run = [];
  };
  values.forEach((value, i) => { if (value === null) end(); else run.push([at[i], up(value)]); });
  end();
  values.forEach((value, i) => {
    if (value === null || (values.length > 40 && i !== point)) return;
    const r = i === point ? 4.5 : 3;
    surface.rect({ x: at[i] - r, y: up(value) - r, w: 2 * r, h: 2 * r, r, fill: colour });
  });
}
