// The same numbers as a table, and as a file.
import { aligned, share } from "./decoded.js";
import { written } from "./axes.js";
import { csvBlob } from "./export.js";
import { Folded } from "./folded.js";
import { element } from "./template.js";

export class MomentsTwin extends Folded {
  show(shown, place) { this.renew({ shown, place }); }

  made() {
    const { shown, place, text } = this, header = label => element("th", { scope: "col" }, label);
    const head = element("tr", {}, ...[text.updates, text.loss, text.exact, text.aligned].map(header));
    const rows = shown.steps.map((step, moment) => element("tr", { "aria-current": moment === place.moment ? "true" : null }, element("th", { scope: "row" }, String(step)),
      ...[written(shown.loss[moment], ""), share(shown.exact[moment]), share(aligned(shown, { ...place, moment }))].map(cell => element("td", {}, cell))));
    const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
    table.createCaption().textContent = shown.title;
    return table;
  }
}

/** One line for each cell of the shown head, at every moment; the caption stands in the last column of the first line. */
export function csvOf(shown, place, caption) {
  const lines = [["updates", "loss", "exact_match", "alignment_accuracy", "row", "row_token", "column", "column_token", "weight", "linked", "caption"]];
  const gold = shown.gold[place.row], labels = shown[place.row];
  shown.steps.forEach((step, moment) => {
    const { values } = shown.map({ ...place, moment });
    values.forEach((weight, i) => {
      const row = Math.floor(i / shown.cols), col = i % shown.cols;
      lines.push([step, shown.loss[moment], shown.exact[moment], aligned(shown, { ...place, moment }), row, labels[row], col, shown.source[col], weight.toFixed(5), gold.has(i) ? 1 : 0, lines.length > 1 ? "" : caption.join(" ")]);
    });
  });
  return csvBlob(lines);
}
