// The scores of decoder self-attention as one growing triangle: the rows that were computed before, and those of this step.
import { fill } from "./template.js";

const SIDE = 210, SIZE = 13;

/** What the pass of a step computes: all rows read at first in one square, then one row over all keys so far. */
export function passOf({ moments, first }, step) {
  const given = moments.filter(moment => moment.given).length;
  const opening = step <= given;
  return { opening, queries: opening ? first + given : 1, keys: opening ? first + given : first + step };
}

export function layoutTriangle({ moments, first }, x, y, wide) {
  const rows = first + moments.length - 1, cell = Math.max(1, Math.min(18, Math.min(SIDE, wide) / rows));
  return { x, y: y + 24, rows, cell, bottom: y + 24 + rows * cell + 52 };
}

export function drawTriangle(surface, theme, header, at, step) {
  const { text, heads, moments } = header, { opening, queries, keys } = passOf(header, step), { x, y, rows, cell } = at;
  surface.text({ text: text.triangle, x, y: y - 14, size: SIZE, weight: 600, fill: theme.muted });
  const inner = cell > 4 ? cell - 1 : cell;
  for (let row = 0; row < rows; row++) {
    const now = row < keys && row >= keys - queries, past = row < keys - queries;
    const length = row + 1;
    if (cell > 4) for (let key = 0; key < length; key++) square(surface, theme, { x: x + key * cell, y: y + row * cell, w: inner, h: inner }, now, past);
    else square(surface, theme, { x, y: y + row * cell, w: length * cell, h: inner }, now, past);
    if (now && opening && cell > 4 && rows > length) surface.hatch({ x: x + length * cell, y: y + row * cell, w: (keys - length) * cell, h: inner });
  }
  const shape = fill(opening ? text.triangle_first : text.triangle_later, { shape: `[1, ${heads}, ${queries}, ${keys}]` });
  surface.text({ text: shape, x, y: y + rows * cell + 16, size: SIZE, fill: theme.ink });
  surface.text({ text: fill(text.triangle_bytes, { bytes: moments[step].bytes.toLocaleString("en-US") }), x, y: y + rows * cell + 36, size: SIZE, fill: theme.ink });
}

function square(surface, theme, box, now, past) {
  if (now) surface.rect({ ...box, fill: theme.accent });
  else if (past) surface.rect({ ...box, fill: theme.key, alpha: 0.35 });
  else surface.rect({ ...box, fill: theme.ink, alpha: 0.05 });
}
