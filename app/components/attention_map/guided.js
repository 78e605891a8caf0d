// Heads that carry a badge: those guided in training (★), and those with a measured role (their own `mark` and `hint`).
import { fill } from "./template.js";

export const guidedEntry = (app, attention, layer, head) =>
  app.payload.header.guided.find(entry => entry.attention === attention.id && entry.layer === layer && entry.head === head);

export function guidedTitle(app, attention, layer, head) {
  const entry = guidedEntry(app, attention, layer, head), { text } = app.payload.header;
  return entry ? entry.hint ?? fill(text.guided_hint, { label: entry.label ?? text.guided, row: text[`row_${entry.row}`] ?? "" }) : undefined;
}
