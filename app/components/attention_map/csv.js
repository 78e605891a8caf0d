// The numbers of a head to take away, or of every head that is shown.
import { axesOf } from "./axes.js";
import { csvBlob } from "./export.js";
import { weightText } from "./opened.js";
import { mapOf, reduce } from "./reduce.js";

const MOST = 250_000; // cells of one file

/** Long form, one line a cell; the caption stands in the last column of the first line. */
export function csvOf({ axes, map, exact }, caption) {
  const lines = [["query_position", "query", "key_position", "key", "weight", "masked", "caption"]];
  axes.rows.items.forEach((query, row) => axes.cols.items.forEach((key, col) => {
    const at = row * map.cols + col, empty = map.states[row] !== "ok" || map.masked[at];
    lines.push([query.place, query.label, key.place, key.label, empty ? "" : exact ? map.values[at].toFixed(7) : weightText({ map, exact }, row, col), map.masked[at], lines.length === 1 ? caption.join(" ") : ""]);
  }));
  return csvBlob(lines);
}

/** The same of every layer and head of these attentions, or null where they are pooled or too many; their exact weights are in the NPZ. */
export function csvOfAll({ payload, state }, attentions, caption) {
  const cells = attentions.reduce((sum, { queries, keys, heads, kept }) => sum + queries * keys * heads * kept.length, 0);
  if (cells > MOST || attentions.some(attention => attention.pooled)) return null;
  const lines = [["attention", "layer", "head", "query_position", "query", "key_position", "key", "weight", "masked", "caption"]];
  for (const attention of attentions) {
    const axes = axesOf(payload.header, attention, state);
    for (const layer of attention.kept) for (let head = 0; head < attention.heads; head++) {
      const map = reduce(mapOf(attention, layer, head), axes), opened = { map, exact: false };
      axes.rows.items.forEach((query, row) => axes.cols.items.forEach((key, col) => {
        const masked = map.masked[row * map.cols + col], empty = map.states[row] !== "ok" || masked;
        lines.push([attention.id, layer, head, query.place, query.label, key.place, key.label, empty ? "" : weightText(opened, row, col), masked, lines.length === 1 ? caption.join(" ") : ""]);
      }));
    }
  }
  return csvBlob(lines);
}
