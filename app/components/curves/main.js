// The component: keeps the chosen point, speaks, saves, and cleans up.
import { replaceAddress } from "./address.js";
import { written } from "./axes.js";
import { exportRow, fileName, pictureOf, tidy } from "./export.js";
import { Drawn, mount } from "./mount.js";
import { draw, hit, layout } from "./plot.js";
import { Stage } from "./stage.js";
import { element, fill, fillNodes, pathNodes } from "./template.js";
import { csvOf, TableTwin } from "./twin.js";

const PAGE = 10, NARROW = 520;

const numbersOf = ({ series, marked }) => JSON.stringify([marked, series.map(({ values }) => values)]);

class Curves extends Drawn {
  update({ data }) {
    const chart = JSON.parse(new TextDecoder().decode(data));
    this.receive(chart, chart.digest === this.chart?.digest);
  }

  open(chart) {
    const first = !this.chart, same = !first && numbersOf(chart) === numbersOf(this.chart); // another language, say
    const linked = Number.parseInt(new URLSearchParams(location.search).get(this.parameter(chart)) ?? "", 10);
    this.chart = chart;
    this.point = first && linked >= 0 && linked < chart.labels.length ? linked : same ? this.point : chart.marked;
    this.hover = null;
    this.build();
    this.table.show(chart);
    if (!first) this.write(); // a point of other numbers means nothing here
  }

  parameter(chart = this.chart) { return `${chart.name}.point`; }

  build() {
    const { chart } = this, { text } = chart;
    this.stage = new Stage({
      name: "plot",
      onDraw: surface => draw(surface, this.theme, chart, this.geometry, this.shown),
      onPoint: x => this.over(hit(this.geometry, x)),
      onLeave: () => this.over(null),
      onPress: x => this.choose(hit(this.geometry, x)),
    });
    this.stage.keyboard(chart.title, text.keys, event => this.key(event));
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live", "data-hint": text.hint });
    this.table = new TableTwin(text);
    const exports = exportRow(this, text, () => this.link());
    const path = element("code", { class: "path", dir: "ltr" }, ...pathNodes(chart.path));
    this.root.replaceChildren(element("section", { class: "card" }, element("h3", { "data-testid": "title" }, chart.title), this.stage.frame, this.live, path, this.table.details, exports));
    this.asGroup(chart.title);
  }

  get shown() { return this.hover ?? this.point ?? null; }

  over(point) {
    if (point === this.hover) return;
    this.hover = point;
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.paint(); });
  }

  choose(point) {
    this.point = point;
    this.write();
    this.paint();
  }

  key(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const last = this.chart.labels.length - 1, at = this.point ?? -1;
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last, PageUp: at - PAGE, PageDown: at + PAGE }[event.key];
    if (event.key === "Escape") this.choose(null);
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.hover = null;
    this.choose(Math.max(0, Math.min(last, next)));
  }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    this.geometry = layout(this.theme, this.chart, Math.max(220, this.width - (this.width < NARROW ? 34 : 42)));
    this.stage.fit(this.geometry.width, this.geometry.height);
    this.paint();
  }

  paint() {
    this.stage.paint(this.theme);
    this.say();
    this.root.dataset.painted = ++this.painted;
    this.root.dataset.point = this.point ?? "";
  }

  say() {
    const { chart, shown } = this, { text } = chart;
    if (this.said === shown && this.saidOf === chart.digest) return;
    [this.said, this.saidOf] = [shown, chart.digest];
    this.live.replaceChildren();
    if (shown === null) return;
    this.live.append(fillNodes(text.at, { name: chart.x_name, point: { token: chart.labels[shown] } }));
    const said = chart.series.map(({ label, values, whole }) => fill(text.said, { label, value: written(values[shown], text.none, whole) }));
    this.live.append(said.join("").replace(/[;；]\s*$/, "")); // what parts two numbers does not stand behind the last
  }

  get picture() {
    const { geometry, chart, theme } = this;
    return { width: geometry.width, height: geometry.height, draw: surface => draw(surface, theme, chart, geometry, this.point ?? null) };
  }

  caption() {
    const { chart } = this, { text } = chart;
    const told = tidy(fill(text.caption_chart, { title: chart.title, y: chart.y_name, x: chart.x_name, path: chart.path }));
    return [tidy(fill(text.caption_sentence, chart.caption)), chart.logarithmic ? `${told} · ${text.log}` : told];
  }

  async file(kind) {
    const { chart } = this, name = fileName([chart.caption.model, chart.name], kind);
    const caption = this.caption();
    return { blob: kind === "csv" ? csvOf(chart, caption) : await pictureOf(kind, this.theme, this.picture, caption), name, caption };
  }

  /** The URL says which point is chosen. */
  write() {
    replaceAddress(this.link());
  }

  link() {
    const url = new URL(location.href);
    if (this.point === null || this.point === this.chart.marked) url.searchParams.delete(this.parameter());
    else url.searchParams.set(this.parameter(), String(this.point));
    return url.href;
  }
}

export default mount(".curves", Curves);
