// The same numbers as a table, and as a file.
import { written } from "./axes.js";
import { csvBlob } from "./export.js";
import { element } from "./template.js";

export class TableTwin {
  constructor(text) {
    this.text = text;
    this.body = element("div", { class: "table-scroll", tabindex: "0", role: "group" });
    this.details = element("details", { class: "twin", "data-testid": "table" }, element("summary", {}, text.table), this.body);
    this.details.ontoggle = () => this.fill();
  }

  show(chart) {
    this.chart = chart;
    this.stale = true;
    this.fill();
  }

  fill() {
    if (!this.details.open || !this.stale) return;
    this.stale = false;
    const { chart, text } = this, header = label => element("th", { scope: "col" }, label);
    const head = element("tr", {}, header(chart.x_name), ...chart.series.map(({ label }) => header(label)));
    const rows = chart.labels.map((label, i) => element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, label)),
      ...chart.series.map(({ values }) => element("td", {}, written(values[i], text.none)))));
    const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
    table.createCaption().textContent = `${chart.title} · ${chart.y_name}`;
    this.body.setAttribute("aria-label", table.caption.textContent);
    this.body.replaceChildren(table);
  }
}

/** One line a point; the caption stands in the last column of the first line. */
export function csvOf(chart, caption) {
  const lines = [["index", chart.x_name, ...chart.series.map(({ label }) => label), "caption"]];
  chart.labels.forEach((label, i) => lines.push([i, label, ...chart.series.map(({ values }) => values[i] ?? ""), i ? "" : caption.join(" ")]));
  return csvBlob(lines);
}
