// The same numbers as a table, and as a file.
import { written } from "./axes.js";
import { csvBlob } from "./export.js";
import { Folded } from "./folded.js";
import { element } from "./template.js";

export class TableTwin extends Folded {
  show(chart) { this.renew({ chart }); }

  made() {
    const { chart, text } = this, header = label => element("th", { scope: "col" }, label);
    const head = element("tr", {}, header(chart.x_name), ...chart.series.map(({ label }) => header(label)));
    const rows = chart.labels.map((label, i) => element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, label)),
      ...chart.series.map(({ values, whole }) => element("td", {}, written(values[i], text.none, whole)))));
    const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
    table.createCaption().textContent = `${chart.title} · ${chart.y_name}`;
    return table;
  }
}

/** One line a point; the caption stands in the last column of the first line. */
export function csvOf(chart, caption) {
  const lines = [["index", chart.x_name, ...chart.series.map(({ label }) => label), "caption"]];
  chart.labels.forEach((label, i) => lines.push([i, chart.places ? label.replace("\u2212", "-") : label, ...chart.series.map(({ values }) => values[i] ?? ""), i ? "" : caption.join(" ")]));
  return csvBlob(lines);
}
