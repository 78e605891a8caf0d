// The whole picture of a step: rows shifted right, the best next tokens, what was looked at, and the triangle of scores.
import { candidateAt, drawCandidates, layoutCandidates } from "./candidates.js";
import { elide } from "./labels.js";
import { columnAt, drawRows, layoutRows } from "./rows.js";
import { drawStrip, layoutStrip } from "./strip.js";
import { fill } from "./template.js";
import { drawTriangle, layoutTriangle } from "./triangle.js";

const BESIDE = 820, BETWEEN = 34, TITLE = 26;

/** `whole`: with the triangle. */
export function layout(theme, header, room, whole = true) {
  const rows = layoutRows(theme, header, room), beside = room >= BESIDE;
  const wide = beside ? Math.round((room - BETWEEN) * 0.6) : room, top = rows.bottom + TITLE + 8;
  const candidates = layoutCandidates(theme, header, 0, top, wide);
  const x = beside ? wide + BETWEEN : 0, other = beside ? room - x : room;
  const stripTop = beside ? rows.bottom : candidates.bottom + 14;
  const strip = layoutStrip(theme, header.keys, x, stripTop + TITLE, other);
  const triangle = whole ? layoutTriangle(header, x, strip.bottom + 18, other) : null;
  return { width: room, height: Math.max(candidates.bottom, (triangle ?? strip).bottom) + 4, rows, candidates, strip, triangle, x, other, titles: { logits: rows.bottom + 12, strip: stripTop + 12 } };
}

/** {column} or {candidate} under a point, or null. */
export function hit(at, header, step, x, y) {
  const column = columnAt(at.rows, x, y);
  if (column >= 0) return { column };
  const candidate = candidateAt(at.candidates, header.moments[step], x, y);
  return candidate >= 0 ? { candidate } : null;
}

export function draw(surface, theme, header, at, step, focus) {
  const { text, moments, keys, vocab, role, looks } = header, moment = moments[step];
  drawRows(surface, theme, header, at.rows, step, focus?.column);
  const title = fill(text.logits, { step: step + 1, shape: `[1, ${vocab.toLocaleString("en-US")}]` });
  surface.text({ text: elide(theme, title, at.candidates.wide, 14, 600), x: 0, y: at.titles.logits, size: 14, weight: 600, fill: theme.ink });
  drawCandidates(surface, theme, header, at.candidates, moment, focus?.candidate);
  surface.text({ text: elide(theme, looks, at.other, 13, 600), x: at.x, y: at.titles.strip, size: 13, weight: 600, fill: theme.muted });
  drawStrip(surface, theme, at.strip, keys, moment.weights, role);
  if (at.triangle) drawTriangle(surface, theme, header, at.triangle, step);
}
