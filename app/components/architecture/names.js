// What boxes and shapes are called: on the picture, in the table, and for a screen reader.
import { fill } from "./template.js";

export const sizesText = sizes => `[${sizes.map(size => size.toLocaleString("en-US")).join(", ")}]`;
export const symbolsText = symbols => `[${symbols.join(", ")}]`;

/** The shape on an arrow, as this sentence's numbers or as symbols. */
export const shapeText = (flow, shapes) => shapes === "symbols" ? symbolsText(flow.symbols) : sizesText(flow.sizes);

/** Both: "[7, 192] = [L_s, d_model]". */
export const fullShape = flow => `${sizesText(flow.sizes)} = ${symbolsText(flow.symbols)}`;

export const count = number => number.toLocaleString("en-US");

export function nameOf(diagram, box) {
  const { text, columns } = diagram;
  if (box.kind === "layer") return fill(text.layer_of, { layer: box.layer + 1, count: box.of });
  if (box.kind === "tokens") return columns.length > 1 && box.stack === columns[0].path ? text.tokens_source : text.tokens_shifted;
  if (box.kind === "feed_forward") return fill(text.feed_forward, { activation: text[box.notes[0]] ?? box.notes[0] });
  if (box.kind === "norm" && box.notes.includes("final")) return text.final_norm;
  return text[box.kind] ?? box.module;
}

/** Where a box stands: "encoder, layer 1". */
export function placeOf(diagram, box) {
  const { text } = diagram, stack = stackName(diagram, box.stack);
  return box.layer === null ? stack : fill(text.place, { stack, layer: box.layer + 1 });
}

export function stackName(diagram, path) {
  const { text, columns } = diagram;
  if (columns.length === 1) return text.stack_only;
  return path === columns[0].path ? text.stack_source : text.stack_target;
}

/** What stands small under the name. */
export function detailOf(diagram, box, shapes) {
  const { text, tokens } = diagram, holds = holdsText(diagram, box);
  switch (box.kind) {
    case "tokens": case "produced": return tokens[box.id]?.join(" ") ?? "";
    case "position": case "mask": return shapeText(box.output, shapes);
    case "feed_forward": return [[box.inputs[0], box.inside, box.output].map(flow => shapes === "symbols" ? flow.symbols.at(-1) : flow.sizes.at(-1)).join(" → "), holds].join(" · ");
    case "self_attention": case "masked_self_attention": case "cross_attention": return [fill(text.heads, { count: box.inside.sizes[0] }), holds].join(" · ");
    default: return holds;
  }
}

function holdsText(diagram, box) {
  const { text } = diagram;
  if (!box.parameters) return "";
  return fill(box.shared_with.length ? text.parameters_shared : text.parameters, { count: count(box.parameters) });
}

/** Everything about a box in sentences, for the live region and as the accessible name. */
export function describe(diagram, box) {
  const { text, opens, tokens } = diagram;
  const parts = [fill(text.box, { name: nameOf(diagram, box), place: placeOf(diagram, box) })];
  if (box.kind === "layer") parts.push(fill(text.layer_holds, { count: count(box.parameters) }), text.layer_open);
  if (tokens[box.id]) parts.push(`\u2068${tokens[box.id].join(" ")}\u2069`);
  if (box.inputs.length) parts.push(fill(text.takes, { shapes: box.inputs.map(fullShape).join(text.and) }));
  if (box.inside) parts.push(fill(text.inside, { shape: fullShape(box.inside) }));
  if (box.output) parts.push(fill(text.gives, { shape: fullShape(box.output) }));
  if (box.parameters && box.kind !== "layer") parts.push(fill(text.has, { count: count(box.parameters) }));
  if (box.shared_with.length) parts.push(fill(text.shared, { paths: box.shared_with.join(", ") }));
  if (box.notes.includes("rotary")) parts.push(text.rotary_note);
  if (box.notes.includes("scaled")) parts.push(text.scaled_note);
  if (box.path) parts.push(fill(text.path, { path: box.path }));
  if (opens[box.id]) parts.push(fill(text.opens, { page: opens[box.id] }));
  return parts.join(text.gap);
}
