// The clocks: one a pair, with the hand of the query and the hand of the key at their positions.
import { fill } from "./template.js";

const SIZE = 12.5, BELOW = 40, GRAB = 18, SMALLEST = 104, CLOSE = 84, LARGEST = 250;

/** `close`: more of them in a row. */
export function layoutDials(pairs, width, close = false) {
  const most = Math.max(2, Math.floor(width / (close ? CLOSE : SMALLEST))), rows = Math.ceil(pairs.length / most), across = Math.ceil(pairs.length / rows);
  const cell = Math.min(LARGEST, width / across), tall = cell + BELOW, radius = cell / 2 - 9;
  const longest = Math.max(1e-12, ...pairs.flatMap(({ q, k }) => [q.size, k.size]));
  const largest = Math.max(1e-12, ...pairs.map(({ size }) => size));
  return { across, rows, cell, tall, radius, longest, largest, width: Math.min(width, cell * across), height: rows * tall,
    centre: i => [(i % across + 0.5) * cell, Math.floor(i / across) * tall + cell / 2] };
}

export function hitDial(at, count, x, y) {
  const col = Math.floor(x / at.cell), i = Math.floor(y / at.tall) * at.across + col;
  return col >= 0 && col < at.across && i >= 0 && i < count ? i : null;
}

/** Where the tip of a hand stands; angles turn against the clock, as in mathematics. */
export function tip(at, pair, name, position) {
  const [x, y] = at.centre(pair.index), { size, angle } = pair[name], far = size / at.longest * at.radius, turn = angle + position * pair.w;
  return [x + far * Math.cos(turn), y - far * Math.sin(turn)];
}

/** The hand whose tip is near the pointer. */
export function grabbed(at, pairs, places, x, y) {
  let best = null, near = GRAB;
  for (const pair of pairs) {
    for (const name of ["q", "k"]) {
      const [tx, ty] = tip(at, pair, name, places[name]), far = Math.hypot(tx - x, ty - y);
      if (far < near) [best, near] = [{ pair: pair.index, name }, far];
    }
  }
  return best;
}

/** What a hand is before rotation if its tip is dragged here. */
export function dropped(at, pair, position, x, y) {
  const [cx, cy] = at.centre(pair.index), scale = at.longest / at.radius, [dx, dy] = [(x - cx) * scale, (cy - y) * scale];
  const c = Math.cos(position * pair.w), s = Math.sin(position * pair.w);
  return [c * dx + s * dy, c * dy - s * dx];
}

export function drawDials(surface, theme, at, pairs, { places, terms, chosen, own, text }) {
  for (const pair of pairs) {
    const [x, y] = at.centre(pair.index), r = at.radius, value = terms[pair.index], on = pair.index === chosen;
    surface.rect({ x: x - r, y: y - r, w: 2 * r, h: 2 * r, r, fill: value < 0 ? theme.key : theme.accent, alpha: 0.05 + 0.2 * Math.abs(value) / at.largest });
    surface.rect({ x: x - r, y: y - r, w: 2 * r, h: 2 * r, r, stroke: on ? theme.accent : theme.strong, width: on ? 3 : 1 });
    surface.path({ points: [[x + r - 5, y], [x + r, y]], colour: theme.muted });
    for (const name of ["k", "q"]) drawHand(surface, theme, at, pair, name, places[name], own);
    surface.rect({ x: x - 2.5, y: y - 2.5, w: 5, h: 5, r: 2.5, fill: theme.ink });
    const top = y + at.cell / 2 + 6;
    surface.text({ text: fill(text.pair, { pair: pair.index }), x, y: top, size: SIZE, align: "center", weight: on ? 650 : 400, fill: on ? theme.ink : theme.muted });
    surface.text({ text: signed(value), x, y: top + 17, size: SIZE, align: "center", weight: on ? 650 : 400, fill: theme.ink });
  }
}

/** The query is a whole line with a round tip, the key a dashed one with a square tip; faint, where they point at position 0. */
function drawHand(surface, theme, at, pair, name, position, own) {
  const centre = at.centre(pair.index), end = tip(at, pair, name, position), colour = name === "q" ? theme.query : theme.key;
  surface.path({ points: [centre, tip(at, pair, name, 0)], colour, width: 1, alpha: 0.35 });
  surface.path({ points: [centre, end], colour, width: 3, dash: name === "k" ? [6, 3] : [] });
  const r = own ? 7 : 4;
  surface.rect({ x: end[0] - r, y: end[1] - r, w: 2 * r, h: 2 * r, r: name === "q" ? r : 0, fill: colour });
}

/** Rounded to two places, with its sign; what rounds to zero has none. */
function signed(value) {
  const near = Number(value.toFixed(2));
  return `${near > 0 ? "+" : near < 0 ? "\u2212" : ""}${Math.abs(near).toFixed(2)}`;
}
