// The numbers of a head to take away.
import { csvBlob } from "./export.js";
import { weightText } from "./opened.js";

/** Long form, one line a cell; the caption stands in the last column of the first line. */
export function csvOf({ axes, map, exact }, caption) {
  const lines = [["query_position", "query", "key_position", "key", "weight", "masked", "caption"]];
  axes.rows.items.forEach((query, row) => axes.cols.items.forEach((key, col) => {
    const at = row * map.cols + col, empty = map.states[row] !== "ok" || map.masked[at];
    lines.push([query.place, query.label, key.place, key.label, empty ? "" : exact ? map.values[at].toFixed(7) : weightText({ map, exact }, row, col), map.masked[at], lines.length === 1 ? caption.join(" ") : ""]);
  }));
  return csvBlob(lines);
}
