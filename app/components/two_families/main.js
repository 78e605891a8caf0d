// The component: one step of both models; slider, pointer and keyboard; kept in the URL; nothing is sent to the server.
import { replaceAddress } from "./address.js";
import { button, choice, replaceControls } from "./controls.js";
import { exportRow, fileName, pictureOf } from "./export.js";
import { Drawn, mount } from "./mount.js";
import { decode, maySee, placeIn, seen, weightOf } from "./payload.js";
import { draw, hit, layout } from "./picture.js";
import { layoutScale, paintScale } from "./scale.js";
import { Stage } from "./stage.js";
import { element, fill, isolate } from "./template.js";
import { csvOf, twinOf } from "./twin.js";

const TALLEST = 1400;

const numberOf = (name, fallback) => {
  const found = new URLSearchParams(location.search).get(name);
  return /^\d{1,4}$/.test(found ?? "") ? Number(found) : fallback;
};

class TwoFamilies extends Drawn {
  constructor(root) {
    super(root);
    this.look = { word: numberOf("word", 0), layer: numberOf("of_layer", 99), head: numberOf("of_head", "mean") };
  }

  update({ data }) {
    const header = decode(data);
    this.receive(header, header.digest === this.header?.digest);
  }

  open(header) {
    const { panels } = this.header = header;
    this.steps = Math.max(...panels.map(({ steps }) => steps));
    this.layers = Math.max(...panels.map(({ layers }) => layers));
    this.heads = Math.max(...panels.map(({ heads }) => heads));
    const { word, layer, head } = this.look;
    this.look = { word: Math.min(word, this.steps - 1), layer: Math.min(layer, this.layers - 1), head: head === "mean" ? head : Math.min(head, this.heads - 1) };
    this.pointed = this.cursor = null;
    this.build();
  }

  build() {
    const { text } = this.header;
    this.slider = element("input", { type: "range", min: "0", max: String(this.steps - 1), step: "1", "data-testid": "word", "aria-label": text.word });
    this.slider.oninput = () => this.go(Number(this.slider.value));
    this.number = element("output", { class: "number" });
    const walk = (name, by) => button({ name, label: text[name], onPick: () => this.go(this.look.word + by) });
    this.controls = element("div", { class: "controls" });
    this.stage = new Stage({
      name: "families-stage",
      onDraw: (surface, view) => surface.shift(-view.x, -view.y, () => draw(surface, this.theme, this.header, this.at, this.look, this.focus)),
      onPoint: (x, y) => this.point(hit(this.at, x + this.stage.view.x, y + this.stage.view.y)),
      onLeave: () => this.point(null),
      onPress: (x, y) => { this.cursor = hit(this.at, x + this.stage.view.x, y + this.stage.view.y); this.paint(); },
    });
    const { frame } = this.stage;
    this.stage.keyboard(text.title, text.keys, event => this.key(event));
    this.scale = element("canvas", { class: "scale-bar", "aria-hidden": "true" });
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live" });
    const exports = exportRow(this, text, () => location.href);
    const slide = element("div", { class: "controls slide" }, walk("previous", -1), element("label", { class: "control word" }, element("span", { class: "name" }, text.word), this.slider, this.number), walk("next", 1));
    this.root.replaceChildren(element("section", { class: "card" }, element("div", { class: "row" }, slide, this.controls), frame, this.scale, element("div", { class: "said" }, this.live), element("p", { class: "hint" }, text.keys), twinOf(this.header), exports));
    this.asGroup(text.title);
  }

  get focus() { return this.pointed ?? this.cursor; }

  go(word) {
    this.look.word = Math.max(0, Math.min(this.steps - 1, word));
    this.write();
    this.paint();
  }

  pick(name, value) {
    this.look[name] = value;
    this.write();
    this.show();
    this.paint();
  }

  point(next) {
    if (JSON.stringify(next) === JSON.stringify(this.pointed ?? null)) return;
    this.pointed = next;
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.paint(); });
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const steps = { ArrowLeft: this.look.word - 1, ArrowRight: this.look.word + 1, Home: 0, End: this.steps - 1 }[event.key];
    const tiles = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (steps === undefined && !tiles && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    this.pointed = null;
    if (event.key === "Escape") this.cursor = null;
    if (tiles) this.walk(tiles);
    if (steps !== undefined) this.go(steps);
    else this.paint();
  }

  /** The cursor goes from tile to tile through all strips of both panels. */
  walk(by) {
    const all = this.header.panels.flatMap(({ strips }, panel) => strips.flatMap(({ labels }, strip) => labels.map((_, key) => ({ panel, strip, key }))));
    const name = JSON.stringify(this.cursor), from = all.findIndex(tile => JSON.stringify(tile) === name);
    this.cursor = all[Math.max(0, Math.min(all.length - 1, from < 0 ? 0 : from + by))];
    this.stage.reveal(this.at.panels[this.cursor.panel].strips[this.cursor.strip].tiles[this.cursor.key]);
  }

  show() {
    const { text } = this.header, { theme, inner: room } = this;
    const numbers = count => [...Array(count).keys()].map(value => ({ value, label: String(value + 1) }));
    replaceControls(this.controls, [
      choice({ theme, room, name: "layer", label: text.layer, options: numbers(this.layers), value: this.look.layer, onPick: value => this.pick("layer", value) }),
      choice({ theme, room, name: "head", label: text.head, options: [{ value: "mean", label: text.mean }, ...numbers(this.heads)], value: this.look.head, onPick: value => this.pick("head", value) }),
    ]);
  }

  /** What a model reads and writes at this step, and the key in play. */
  describe(panel, index) {
    const { text } = this.header, place = placeIn(panel, this.look);
    const values = { title: panel.title, layer: place.layer + 1, head: place.head === "mean" ? text.mean : place.head + 1, step: this.look.word + 1 };
    if (place.ended) return `${fill(text.place, values)} ${text.ended}`;
    const read = panel.strips.map(strip => fill(text.sees, { count: seen(strip, place), length: strip.labels.length, what: text[`strip_${strip.name}`] })).join(" ");
    const wrote = fill(text.wrote, { token: isolate(panel.writes[place.step]), value: Math.exp(panel.logarithms[place.step]).toFixed(4) });
    return `${fill(text.place, values)} ${wrote} ${read}${this.focus?.panel === index ? ` ${this.describeKey(panel, place)}` : ""}`;
  }

  describeKey(panel, place) {
    const { text } = this.header, strip = panel.strips[this.focus.strip], { key } = this.focus;
    const values = { label: isolate(strip.labels[key]), position: key, value: weightOf(panel, strip, place, key).toFixed(6), path: fill(strip.path, { layer: place.layer }) };
    return fill(maySee(strip, place, key) ? text.said : text.said_hidden, values);
  }

  async file(kind) {
    const { header, at, theme, look } = this, { caption, text, panels } = header;
    const place = { word: look.word + 1, step: look.word, layer: look.layer + 1, head: look.head === "mean" ? text.mean : look.head + 1 };
    const lines = [fill(text.caption_sentence, caption), fill(text.caption_place, place), ...panels.map((panel, index) => this.describe(panel, index))];
    const name = fileName([caption.model, "two-families", look.word], kind);
    if (kind === "csv") return { blob: csvOf(header, look, lines.slice(0, 2)), name, caption: lines };
    const picture = { width: at.width, height: at.height, draw: surface => draw(surface, theme, header, at, look, null) };
    return { blob: await pictureOf(kind, theme, picture, lines), name, caption: lines };
  }

  write() {
    const url = new URL(location.href), { word, layer, head } = this.look;
    const set = (name, value) => value === null ? url.searchParams.delete(name) : url.searchParams.set(name, value);
    set("word", word || null);
    set("of_layer", layer === this.layers - 1 ? null : layer);
    set("of_head", head === "mean" ? null : head);
    replaceAddress(url.href);
  }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    this.few = this.afar;
    this.at = layout(this.theme, this.header, this.inner);
    this.stage.fit(this.at.width, this.at.height, this.at.beside ? TALLEST : 0);
    paintScale(this.scale, this.theme, layoutScale(this.theme, { high: "1", masked: this.header.text.masked, room: this.inner }));
    this.show();
    this.paint();
  }

  paint() {
    this.stage.paint(this.theme);
    this.slider.value = String(this.look.word);
    this.slider.setAttribute("aria-valuetext", String(this.look.word + 1));
    this.number.textContent = `${this.look.word + 1} / ${this.steps}`;
    const { panels } = this.header, { focus, few } = this, key = few && focus && panels[focus.panel];
    this.speak(key ? this.describeKey(key, placeIn(key, this.look)) : panels.map((panel, index) => this.describe(panel, index)).join("\n"));
    this.live.classList.toggle("spoken", few && !focus); // the picture itself shows all but the key in play
    this.root.dataset.word = this.look.word;
    this.root.dataset.painted = ++this.painted;
  }
}

export default mount(".two-families", TwoFamilies);
