// The mask as a table, and as a file.
import { csvBlob } from "./export.js";
import { element } from "./template.js";

const count = total => [...Array(total).keys()];

function header(label, place) {
  const made = document.createDocumentFragment();
  made.append(element("bdi", {}, label), " ", element("small", {}, String(place)));
  return made;
}

export class TableTwin {
  constructor(text) {
    this.text = text;
    this.body = element("div", { class: "table-scroll", tabindex: "0", role: "group", "aria-label": text.title });
    this.details = element("details", { class: "twin", "data-testid": "table" }, element("summary", {}, text.table), this.body);
    this.details.ontoggle = () => this.fill();
  }

  show(mask, { rows, names }) {
    if (this.mask === mask && this.rows === rows && this.names === names) return;
    Object.assign(this, { mask, rows, names, stale: true });
    this.fill();
  }

  fill() {
    if (!this.details.open || !this.stale) return;
    this.stale = false;
    const { mask, rows, names, text } = this;
    const head = element("tr", {}, element("th", { scope: "col" }, text.table_corner), ...rows.map((label, col) => element("th", { scope: "col" }, header(label, col))));
    const body = names.map((label, row) => element("tr", {}, element("th", { scope: "row" }, header(label, row)),
      ...count(rows.length).map(col => element("td", {}, mask.cells[row * mask.size + col] ? text.legend_allowed : text.legend_hidden))));
    this.body.replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
  }
}

export function csvOf(mask, { rows, names }, caption) {
  const lines = [["query_position", "query", "key_position", "key", "may_attend", "caption"]];
  for (const row of count(mask.size)) {
    for (const col of count(mask.size)) lines.push([row, names[row], col, rows[col], mask.cells[row * mask.size + col], lines.length === 1 ? caption.join(" ") : ""]);
  }
  return csvBlob(lines);
}
