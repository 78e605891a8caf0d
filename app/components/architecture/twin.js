// The same as a table: every box of the whole model, open or not, with its path, its shapes and its parameters.
import { csvBlob } from "./export.js";
import { folded } from "./folded.js";
import { count, fullShape, nameOf, placeOf } from "./names.js";
import { element, fill } from "./template.js";

const shapes = flows => flows.length ? flows.map(fullShape).join("; ") : "–";

const cells = (diagram, box) => [placeOf(diagram, box), box.path || "–", shapes(box.inputs), shapes([box.output]), box.parameters ? count(box.parameters) : "–", box.shared_with.length ? box.shared_with.join(", ") : "–"];

export function twin(diagram) {
  const { text } = diagram;
  const heads = [text.table_box, text.table_place, text.table_path, text.table_input, text.table_output, text.table_parameters, text.table_shared];
  const body = diagram.boxes.map(box => element("tr", { "data-box": box.id }, element("th", { scope: "row" }, nameOf(diagram, box)), ...cells(diagram, box).map(value => element("td", {}, value))));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads.map(name => element("th", { scope: "col" }, name)))), element("tbody", {}, ...body));
  table.createCaption().textContent = fill(text.table_caption, { count: count(diagram.parameters) });
  return folded(text, text.table, table);
}

/** The table as CSV, for a spreadsheet; the caption in the last column of the first line. */
export function csvOf(diagram, caption) {
  const head = ["box", "place", "path", "input", "output", "parameters", "same_matrix_as", "caption"];
  const lines = diagram.boxes.map((box, i) => [nameOf(diagram, box), ...cells(diagram, box), i ? "" : caption.join(" ")]);
  return csvBlob([head, ...lines]);
}
