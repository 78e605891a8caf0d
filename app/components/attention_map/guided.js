// Heads that carry a badge: those guided in training, later those with a measured role.
import { fill } from "./template.js";

export const guidedEntry = (app, attention, layer, head) =>
  app.payload.header.guided.find(entry => entry.attention === attention.id && entry.layer === layer && entry.head === head);

export function guidedTitle(app, attention, layer, head) {
  const entry = guidedEntry(app, attention, layer, head), { text } = app.payload.header;
  return entry ? fill(text.guided_hint, { label: entry.label ?? text.guided, row: text[`row_${entry.row}`] ?? "" }) : undefined;
}
