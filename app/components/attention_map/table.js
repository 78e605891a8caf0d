// The same numbers as real tables: the twin of the picture for screen readers, and what each step of the decoder saw.
import { axesOf } from "./axes.js";
import { Folded } from "./folded.js";
import { reduce, strongest } from "./reduce.js";
import { element, fill } from "./template.js";
import { titleOf, weightText } from "./opened.js";

const WHOLE = 64;

const token = label => element("bdi", {}, label);
const cellText = ({ map, text }, opened, row, col) => map.states[row] === "masked" ? text.no_key : map.states[row] === "removed" ? text.all_special : map.masked[row * map.cols + col] ? "–" : weightText(opened, row, col);

export class TableTwin extends Folded {
  show(opened, focus) {
    const large = Math.max(opened.map.rows, opened.map.cols) > WHOLE;
    this.renew({ opened, focus, large, name: large ? `${focus.query}` : "whole" });
  }

  /** In a large head the table follows the current row. */
  follow(focus) {
    if (!this.large || focus.query === null || this.name === `${focus.query}`) return;
    this.show(this.opened, focus);
  }

  made() { return this.large ? this.row() : this.whole(); }

  whole() {
    const { opened } = this, { axes, text } = opened;
    const head = element("tr", {}, element("th", { scope: "col" }, text.table_head),
      ...axes.cols.items.map(item => element("th", { scope: "col" }, token(item.label), " ", element("small", {}, item.place))));
    const rows = axes.rows.items.map((item, row) => element("tr", {}, element("th", { scope: "row" }, token(item.label), " ", element("small", {}, item.place)),
      ...axes.cols.items.map((_, col) => element("td", {}, cellText(opened, opened, row, col)))));
    return this.table(element("thead", {}, head), element("tbody", {}, ...rows));
  }

  row() {
    const { opened } = this, { axes, text } = opened, row = Math.min(this.focus.query ?? 0, axes.rows.items.length - 1);
    const head = element("tr", {}, ...[text.position, text.token, text.weight].map(name => element("th", { scope: "col" }, name)));
    const rows = axes.cols.items.map((item, col) => element("tr", {}, element("td", {}, item.place), element("th", { scope: "row" }, token(item.label)),
      element("td", {}, cellText(opened, opened, row, col))));
    const made = this.table(element("thead", {}, head), element("tbody", {}, ...rows));
    const { label, place } = axes.rows.items[row];
    made.caption.textContent += ` · ${fill(text.table_row, { token: `\u2068${label}\u2069`, position: place })}`;
    return made;
  }

  table(...parts) {
    const made = element("table", {}, ...parts);
    made.createCaption().textContent = titleOf(this.opened.text, this.opened);
    return made;
  }
}

/** Step, what it read, what it wrote, how sure it was, and where the chosen head looked most; always by piece and by step. */
export function stepTable(header, opened, onPoint) {
  const { text, tokens, probabilities } = header, { attention, state } = opened;
  const pieces = { ...state, unit: "pieces", row: "produced" };
  const axes = axesOf(header, attention, pieces), hiddenRows = { ...axes, rows: axesOf(header, attention, { ...pieces, special: "show" }).rows };
  const map = reduce(opened.recorded, hiddenRows);
  const rows = tokens.produced.labels.map((label, row) => {
    const col = map.states[row] === "ok" ? strongest(map, { row }) : null;
    const looked = col === null ? element("td", {}, text.all_special)
      : element("td", {}, token(axes.cols.items[col].label), " ", element("small", {}, map.values[row * map.cols + col].toFixed(2)));
    const line = element("tr", { "data-testid": `step-${row}` }, element("td", {}, String(row + 1)), element("td", {}, token(tokens.target.labels[row])),
      element("td", { class: "writes" }, token(label)), element("td", { class: "number" }, probabilities[row].toFixed(2)), looked);
    line.onpointerenter = () => onPoint(row);
    line.onpointerleave = () => onPoint(null);
    return line;
  });
  const names = [text.step, text.reads, text.writes, text.probability, text.looked_at];
  return element("table", {}, element("thead", {}, element("tr", {}, ...names.map(name => element("th", { scope: "col" }, name)))), element("tbody", {}, ...rows));
}
