// The component: a slider over moments, two charts, one head's map; speaks, saves, and cleans up.
import { replaceAddress } from "./address.js";
import { written } from "./axes.js";
import { button, choice, replaceControls } from "./controls.js";
import { aligned, charts, decode, share } from "./decoded.js";
import { exportRow, fileName, pictureOf } from "./export.js";
import { cellAfter } from "./keys.js";
import { boxOfCell, drawMatrix, hitMatrix, layoutMatrix } from "./matrix.js";
import { Drawn, mount } from "./mount.js";
import { draw, hit, layout } from "./plot.js";
import { drawScale, layoutScale, paintScale, rasterize } from "./scale.js";
import { Stage } from "./stage.js";
import { element, fill, fillNodes, pathNodes } from "./template.js";
import { csvOf, MomentsTwin } from "./twin.js";

const BEAT = 450, NARROW = 520, GAP = 24;
const counted = count => Array.from({ length: count }, (_, i) => ({ value: String(i), label: String(i + 1) }));
const outer = ({ name, title, text, source, produced, layers, heads }) => JSON.stringify([name, title, text, source, produced, layers, heads]);

const placeOf = ([layer, head, row]) => ({ layer, head, row: row ? "read" : "produced" });
const isFirst = (place, first) => Object.entries(placeOf(first)).every(([name, value]) => place[name] === value);

class Moments extends Drawn {
  update({ data }) {
    const shown = decode(data);
    this.receive(shown, shown.digest === this.shown?.digest);
  }

  open(shown) {
    const before = this.shown, last = shown.steps.length - 1, again = before && outer(before) === outer(shown);
    const followed = !before || this.place.moment >= before.steps.length - 1;
    this.shown = shown;
    if (!again) {
      this.stop();
      this.place = { moment: last, ...placeOf(shown.first) };
      if (!before) this.linked();
      this.cursor = this.hover = null;
      this.build();
    } else {
      if (followed && !this.timer) this.place = { ...this.place, moment: last };
      if (isFirst(this.place, before.first)) this.place = { ...this.place, ...placeOf(shown.first) }; // nobody chose it
    }
    this.place.moment = Math.min(this.place.moment, last);
    this.slider.max = String(last);
    this.table.show(shown, this.place);
  }

  linked() {
    const asked = new URLSearchParams(location.search), { shown, place } = this;
    const number = (name, count, otherwise) => {
      const value = Number.parseInt(asked.get(`${shown.name}.${name}`) ?? "", 10);
      return value >= 0 && value < count ? value : otherwise;
    };
    const row = asked.get(`${shown.name}.row`);
    Object.assign(place, { moment: number("moment", shown.steps.length, place.moment), layer: number("layer", shown.layers, place.layer), head: number("head", shown.heads, place.head), row: ["produced", "read"].includes(row) ? row : place.row });
  }

  build() {
    const { shown } = this, { text } = shown, label = (node, values) => { for (const [name, value] of Object.entries(values)) node.setAttribute(name, value); };
    this.plots = [0, 1].map(which => new Stage({
      name: `plot-${which}`, onDraw: surface => draw(surface, this.theme, this.charts[which], this.geometries[which], this.pointOf(which)),
      onPress: x => this.go({ moment: this.momentOf(which, hit(this.geometries[which], x)) }),
    }));
    this.plots.forEach((plot, which) => label(plot.frame, { role: "img", "aria-label": which ? text.accuracy_chart : text.loss_chart }));
    this.stage = new Stage({
      name: "map", onDraw: (surface, view) => this.drawMap(surface, view),
      onPoint: (x, y) => this.over(hitMatrix(this.matrix, this.axes, x, y, this.stage.view)), onLeave: () => this.over(null),
      onPress: (x, y) => { this.cursor = this.cellOf(hitMatrix(this.matrix, this.axes, x, y, this.stage.view)); this.paint(); },
    });
    label(this.stage.frame, { tabindex: "0", role: "application", "aria-label": text.map, "aria-description": text.keys });
    this.stage.frame.onkeydown = event => {
      if (event.key === "Escape") this.cursor = null;
      const next = event.key === "Escape" ? null : cellAfter(event, shown, this.cursor);
      if (next) [this.cursor, this.hover] = [next, null];
      this.paint();
    };
    this.slider = element("input", { type: "range", min: "0", step: "1", "data-testid": "moment", "aria-label": text.moment, oninput: () => { this.stop(); this.go({ moment: Number(this.slider.value) }); } });
    this.output = element("output", { "data-testid": "after" });
    this.player = button({ name: "play", label: text.play, onPick: () => this.timer ? this.stop() : this.play() });
    this.controls = element("div", { class: "controls" });
    this.scaleCanvas = element("canvas", { class: "scale-bar", "aria-hidden": "true" });
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live", "data-hint": text.hint });
    this.table = new MomentsTwin(text);
    const exports = exportRow(this, text, () => this.link());
    this.path = element("code", { class: "path", dir: "ltr" });
    this.root.replaceChildren(element("section", { class: "card" },
      element("h3", { "data-testid": "title" }, shown.title), element("div", { class: "scrub" }, this.player, this.slider, this.output),
      element("div", { class: "plots" }, ...this.plots.map(plot => element("div", {}, plot.frame))), this.controls, this.stage.frame, this.scaleCanvas,
      element("p", { class: "note" }, text.gold), this.live, this.path, this.table.details, exports));
    label(this.root, { role: "group", "aria-label": shown.title });
  }

  get axes() {
    const items = labels => labels.map(text => ({ label: text, special: text === "<s>" || text === "</s>" }));
    return { rows: { items: items(this.shown[this.place.row]), side: "target" }, cols: { items: items(this.shown.source), side: "source" } };
  }

  /** Another moment, layer, head or row. */
  go(change) {
    this.place = { ...this.place, ...change };
    this.table.show(this.shown, this.place);
    this.write();
    this.render();
  }

  play() {
    const last = this.shown.steps.length - 1;
    if (this.place.moment >= last) this.go({ moment: 0 });
    this.player.textContent = this.shown.text.pause;
    this.timer = setInterval(() => {
      if (this.place.moment >= this.shown.steps.length - 1) return this.stop();
      this.go({ moment: this.place.moment + 1 });
    }, BEAT);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    if (this.player) this.player.textContent = this.shown.text.play;
  }

  pointOf(which) { return this.charts[which].places.indexOf(this.shown.steps[this.place.moment]); }

  /** The moment nearest to a point of a chart. */
  momentOf(which, point) {
    const step = this.charts[which].places[point] ?? 0, far = moment => Math.abs(this.shown.steps[moment] - step);
    return this.shown.steps.reduce((best, _, moment) => far(moment) < far(best) ? moment : best, 0);
  }

  cellOf(found) { return found && found.query !== null && found.key !== null ? [found.query, found.key] : null; }

  over(found) {
    const next = this.cellOf(found);
    if (String(next) === String(this.hover)) return;
    this.hover = next;
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.paint(); });
  }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    const { shown, place, theme } = this, { text } = shown, room = Math.max(220, this.width - (this.width < NARROW ? 26 : 42));
    this.slider.value = String(place.moment);
    this.output.textContent = fill(text.after, { step: shown.steps[place.moment] });
    this.slider.setAttribute("aria-valuetext", this.output.textContent);
    const pick = (name, options) => choice({ name, label: text[name], options, value: String(place[name]), theme, room, onPick: value => this.go({ [name]: name === "row" ? value : Number(value) }) });
    replaceControls(this.controls, [shown.layers > 1 && pick("layer", counted(shown.layers)), shown.heads > 1 && pick("head", counted(shown.heads)),
      pick("row", ["produced", "read"].map(value => ({ value, label: text[value] })))]);
    const wide = room >= 2 * 300 + GAP ? (room - GAP) / 2 : room;
    this.charts = charts(shown, place);
    this.geometries = this.charts.map(chart => layout(theme, chart, wide));
    this.plots.forEach((plot, which) => plot.fit(this.geometries[which].width, this.geometries[which].height));
    this.map = shown.map(place);
    this.bitmap = rasterize(theme, [this.map]);
    this.matrix = layoutMatrix(theme, this.axes, { available: room });
    this.stage.fit(this.matrix.width, this.matrix.height);
    this.scale = layoutScale(theme, { low: "0", high: "1", room });
    paintScale(this.scaleCanvas, theme, this.scale);
    this.path.replaceChildren(...pathNodes(`decoder.layers.${place.layer}.cross_attention.weights[0, ${place.head}]`));
    this.paint();
  }

  drawMap(surface, view) {
    const { theme, matrix, shown, place } = this, [query, key] = this.hover ?? this.cursor ?? [null, null];
    drawMatrix(surface, theme, matrix, { map: this.map, axes: this.axes, bitmap: this.bitmap, runs: [], messages: [] }, { query, key }, view);
    for (const at of shown.gold[place.row]) {
      const box = boxOfCell(matrix, Math.floor(at / shown.cols), at % shown.cols);
      surface.rect({ x: box.x - view.x + 1.5, y: box.y - view.y + 1.5, w: box.w - 3, h: box.h - 3, r: 3, stroke: theme.key, width: 2 });
    }
  }

  paint() {
    for (const stage of [...this.plots, this.stage]) stage.paint(this.theme);
    this.say();
    this.root.dataset.painted = ++this.painted;
    this.root.dataset.moment = this.place.moment;
  }

  say() {
    const { shown, place } = this, { text } = shown, cell = this.hover ?? this.cursor, name = JSON.stringify([shown.digest, place, cell]);
    if (name === this.told) return;
    this.told = name;
    this.live.replaceChildren(fillNodes(text.said, {
      step: shown.steps[place.moment], loss: written(shown.loss[place.moment], ""), exact: share(shown.exact[place.moment]),
      layer: place.layer + 1, head: place.head + 1, row: text[place.row], aligned: share(aligned(shown, place)),
    }));
    if (!cell) return;
    const [query, key] = cell, at = query * shown.cols + key;
    this.live.append(" ", fillNodes(text.cell, { query: { token: shown[place.row][query] }, key: { token: shown.source[key] }, weight: written(this.map.values[at], "") }),
      " ", shown.gold[place.row].has(at) ? text.linked : text.not_linked);
  }

  get picture() {
    const { geometries, matrix, theme } = this, high = Math.max(...geometries.map(({ height }) => height));
    const whole = { x: 0, y: 0, w: matrix.width, h: matrix.height }, width = Math.max(matrix.width, geometries[0].width + GAP + geometries[1].width);
    return { width, height: high + GAP + matrix.height + 34, draw: surface => {
      draw(surface, theme, this.charts[0], geometries[0], this.pointOf(0));
      surface.shift(geometries[0].width + GAP, 0, () => draw(surface, theme, this.charts[1], geometries[1], this.pointOf(1)));
      surface.shift(0, high + GAP, () => this.drawMap(surface, whole));
      drawScale(surface, theme, this.scale, 0, high + GAP + matrix.height + 14);
    } };
  }

  caption() {
    const { shown, place } = this, { text } = shown;
    const told = fill(text.caption_moment, { step: shown.steps[place.moment], layer: place.layer + 1, head: place.head + 1, row: text[place.row], path: this.path.textContent });
    return [fill(text.caption_sentence, shown.caption), told];
  }

  async file(kind) {
    const { shown, place } = this, name = fileName([shown.caption.model, shown.name, shown.steps[place.moment]], kind);
    const caption = this.caption();
    return { blob: kind === "csv" ? csvOf(shown, place, caption) : await pictureOf(kind, this.theme, this.picture, caption), name, caption };
  }

  write() { replaceAddress(this.link()); }

  link() {
    const url = new URL(location.href), { shown, place } = this, first = { moment: shown.steps.length - 1, ...placeOf(shown.first) };
    for (const [name, value] of Object.entries(place)) {
      if (value === first[name]) url.searchParams.delete(`${shown.name}.${name}`);
      else url.searchParams.set(`${shown.name}.${name}`, String(value));
    }
    return url.href;
  }

  close() {
    this.stop();
    super.close();
  }
}

export default mount(".moments", Moments);
