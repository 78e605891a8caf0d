// The mask as a table, and as a file.
import { csvBlob } from "./export.js";
import { Folded } from "./folded.js";
import { element } from "./template.js";

const count = total => [...Array(total).keys()];

function header(label, place) {
  const made = document.createDocumentFragment();
  made.append(element("bdi", {}, label), " ", element("small", {}, String(place)));
  return made;
}

export class TableTwin extends Folded {
  constructor(text) { super(text, text.title); }

  show(mask, { rows, names }) {
    if (this.mask === mask && this.rows === rows && this.names === names) return;
    this.renew({ mask, rows, names });
  }

  made() {
    const { mask, rows, names, text } = this;
    const head = element("tr", {}, element("th", { scope: "col" }, text.table_corner), ...rows.map((label, col) => element("th", { scope: "col" }, header(label, col))));
    const body = names.map((label, row) => element("tr", {}, element("th", { scope: "row" }, header(label, row)),
      ...count(rows.length).map(col => element("td", {}, mask.cells[row * mask.size + col] ? text.legend_allowed : text.legend_hidden))));
    return element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  }
}

export function csvOf(mask, { rows, names }, caption) {
  const lines = [["query_position", "query", "key_position", "key", "may_attend", "caption"]];
  for (const row of count(mask.size)) {
    for (const col of count(mask.size)) lines.push([row, names[row], col, rows[col], mask.cells[row * mask.size + col], lines.length === 1 ? caption.join(" ") : ""]);
  }
  return csvBlob(lines);
}
