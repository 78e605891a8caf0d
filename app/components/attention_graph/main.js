// The three attentions side by side, one layer and head for all; what is pointed at in one is marked in the others.
import { choice, replaceControls } from "./controls.js";
import { csvBlob, exportRow, fileName, pictureOf } from "./export.js";
import { Drawn, mount } from "./mount.js";
import { attentionName, describe, detailName, weightText } from "./opened.js";
import { Panel } from "./panel.js";
import { decode } from "./payload.js";
import { layoutScale, drawScale, paintScale } from "./scale.js";
import { linkOf, readState, writeState } from "./state.js";
import { element, fill, isolate } from "./template.js";

const NOTHING = { query: null, key: null }, BESIDE = 860, GAP = 16, LATER = 350;
const DECODER = ["decoder.self_attention", "decoder.cross_attention"], ENCODER = "encoder.self_attention", CROSS = DECODER[1];

class ThreeAttentions extends Drawn {
  constructor(root) {
    super(root);
    this.details = new Map();
    this.pin = this.hover = null;
    this.onKey = event => { if (event.key === "Escape") { this.pin = this.hover = null; this.refocus(); } };
    root.addEventListener("keydown", this.onKey);
  }

  update({ data, setStateValue, setTriggerValue }) {
    Object.assign(this, { send: setStateValue, trigger: setTriggerValue });
    const payload = decode(data), { details } = payload;
    for (const detail of details) this.details.set(detailName(detail.trace, detail.attention, detail.layer, detail.head), detail);
    this.receive(payload, payload.header.digest === this.payload?.header.digest, details.length > 0);
  }

  /** New data: the choices stay, what was pointed at goes with the old tokens. */
  open(payload) {
    const { header, attentions } = payload, { text } = header;
    if (this.payload?.header.trace !== header.trace) this.pin = this.hover = null;
    this.payload = payload;
    this.words = header.extra.text;
    this.data = { header, attentions, details: this.details };
    this.state = readState(header, attentions, this.state);
    this.controls = element("div", { class: "controls" });
    this.scale = element("canvas", { class: "scale-bar", "aria-hidden": "true", "data-testid": "scale" });
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live", "data-hint": this.words.live_hint });
    this.panels = attentions.map(attention => new Panel(this, attention));
    this.grid = element("div", { class: "three" }, ...this.panels.map(panel => panel.node));
    this.root.replaceChildren(element("div", { class: "card" }, this.controls, this.scale, this.live, exportRow(this, text, () => linkOf(this.state))), this.grid);
    this.asGroup(this.words.name);
    writeState(this.state);
  }

  write() { writeState(this.state); }

  set(patch) {
    this.state = { ...this.state, ...patch };
    writeState(this.state);
    this.render();
    this.tell();
  }

  /** The server learns where the visitor looks, a moment later: the other pages open there. */
  tell() {
    clearTimeout(this.later);
    this.later = setTimeout(() => this.send("place", this.place(this.state.attention)), LATER);
  }

  place(attention) {
    const { layer, head } = this.panels.find(panel => panel.attention.id === attention).state;
    return { attention, layer, head };
  }

  choose(attention) {
    if (attention === this.state.attention) return;
    this.state.attention = attention;
    writeState(this.state);
    this.panels.forEach(panel => panel.node.classList.toggle("on", panel.attention.id === attention));
    this.tell();
  }

  openPage(attention) {
    clearTimeout(this.later);
    this.choose(attention);
    clearTimeout(this.later);
    this.trigger("open", this.place(attention));
  }

  get focus() { return this.hover ?? this.pin; }

  pinOf(attention) { return this.pin?.attention === attention ? this.pin : null; }

  /** What is marked in one panel: the cell pointed at, or what belongs to a cell of another panel: the same row of the decoder, the same source token. */
  focusOf(id) {
    const { focus } = this;
    if (!focus) return NOTHING;
    if (focus.attention === id) return focus;
    if (DECODER.includes(id) && DECODER.includes(focus.attention)) return { query: focus.query, key: null };
    if (id === ENCODER && focus.attention === CROSS) return { query: focus.key, key: null };
    if (id === CROSS && focus.attention === ENCODER) return { query: null, key: focus.query };
    return NOTHING;
  }

  point(attention, focus) {
    const next = focus && { attention, ...focus };
    if (JSON.stringify(next) === JSON.stringify(this.hover)) return;
    this.hover = next;
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.refocus(); });
  }

  /** A press marks something until it is pressed again; the keyboard keeps its mark. */
  fix(attention, focus, keep = false) {
    const next = focus && { attention, ...focus }, again = JSON.stringify(next) === JSON.stringify(this.pin);
    this.pin = again && !keep ? null : next;
    this.hover = null;
    if (next) this.choose(attention);
    this.refocus();
  }

  refocus() {
    this.panels.forEach(panel => panel.follow());
    this.say();
    this.mark();
  }

  /** What is pointed at, in words: the weight there, and in the encoder the weight back. */
  say() {
    const { focus } = this, opened = focus && this.panels.find(panel => panel.attention.id === focus.attention).opened;
    const sentence = opened && !opened.loading ? fill(this.words.said, { attention: attentionName(opened.text, focus.attention), cell: describe(opened, focus) + this.back(opened, focus) }) : "";
    if (this.live.textContent !== sentence) this.live.textContent = sentence;
    for (const name of ["attention", "query", "key"]) {
      if (focus && focus[name] !== null) this.live.dataset[name] = focus[name];
      else delete this.live.dataset[name];
    }
  }

  back(opened, { query, key }) {
    if (opened.attention.id !== ENCODER || query === null || key === null || query === key) return "";
    const label = at => isolate(opened.axes.rows.items[at].label);
    return ` ${fill(this.words.back, { query: label(query), key: label(key), weight: weightText(opened, key, query) })}`;
  }

  render() {
    const width = this.width = this.root.clientWidth;
    if (!width) return;
    const beside = width >= BESIDE, inner = width - (width < 520 ? 26 : 42), { text } = this.payload.header;
    this.root.style.setProperty("--value", `rgb(${this.theme.value})`);
    this.grid.classList.toggle("beside", beside);
    replaceControls(this.controls, this.switches(inner));
    this.legend = layoutScale(this.theme, { high: "1", masked: text.masked, room: inner - 4 });
    paintScale(this.scale, this.theme, this.legend);
    for (const panel of this.panels) panel.show(beside && !panel.isGraph ? Math.floor((width - GAP * (this.graph ? 1 : 2)) / (this.graph ? 2 : 3)) - 32 : inner);
    this.panels.forEach(panel => panel.paint());
    this.say();
    this.mark();
    if (this.panels.some(panel => panel.opened.loading)) this.tell();
  }

  get graph() { return this.state.encoder === "graph"; }

  switches(room) {
    const { words, state, theme, payload } = this, { header: { text }, attentions } = payload;
    const numbered = (name, count) => ({ name, label: text[name], theme, room, value: state[name], onPick: value => this.set({ [name]: value }), options: [...Array(count).keys()].map(value => ({ value, label: String(value + 1) })) });
    const named = (name, label, options) => ({ name, label, theme, room, value: state[name], onPick: value => this.set({ [name]: value }), options: Object.entries(options).map(([value, shown]) => ({ value, label: shown })) });
    return [
      choice(numbered("layer", Math.max(...attentions.map(entry => entry.layers)))),
      choice(numbered("head", Math.max(...attentions.map(entry => entry.heads)))),
      choice(named("encoder", words.encoder, { matrix: words.encoder_matrix, graph: words.encoder_graph })),
      choice(named("row", words.row, { produced: text.row_produced, read: text.row_read })),
    ];
  }

  async file(kind) {
    const { caption } = this, name = fileName([this.payload.header.caption.model, "three_attentions", `layer${this.state.layer}`, `head${this.state.head}`], kind);
    return { blob: kind === "csv" ? csvBlob(this.lines) : await pictureOf(kind, this.theme, this.picture, caption), name, caption };
  }

  /** All three pictures, side by side as on the screen, over one scale. */
  get picture() {
    const shown = this.panels.filter(panel => !panel.opened.loading).map(panel => panel.picture);
    const tallest = Math.max(...shown.map(picture => picture.height));
    return {
      width: shown.reduce((sum, picture) => sum + picture.width + 2 * GAP, 0), height: tallest + 14 + this.legend.height,
      draw: surface => {
        let x = 0;
        for (const picture of shown) {
          surface.shift(x, 0, () => picture.draw(surface));
          x += picture.width + 2 * GAP;
        }
        drawScale(surface, this.theme, this.legend, 2, tallest + 18);
      },
    };
  }

  get caption() {
    const { header } = this.payload, { caption, text } = header, notes = this.panels.map(panel => panel.convention);
    return [fill(text.caption_sentence, { model: caption.model, source: isolate(caption.source), target: isolate(caption.target) }),
      `${this.words.name}: ${this.panels.map(panel => panel.path.textContent).join(" · ")}. ${[...new Set(notes)].join(" ")}`];
  }

  /** Long form, one line a cell. */
  get lines() {
    const lines = [["attention", "layer", "head", "query_position", "query", "key_position", "key", "weight", "masked", "caption"]];
    for (const { opened } of this.panels) {
      if (opened.loading) continue;
      const { axes, map, attention, layer, head } = opened;
      axes.rows.items.forEach((query, row) => axes.cols.items.forEach((key, col) => {
        const masked = map.masked[row * map.cols + col];
        lines.push([attention.id, layer, head, query.place, query.label, key.place, key.label, masked ? "" : weightText(opened, row, col), masked, lines.length === 1 ? this.caption.join(" ") : ""]);
      }));
    }
    return lines;
  }

  /** Tells tests that a paint is done. */
  mark() {
    this.root.dataset.painted = ++this.painted;
  }

  close() {
    clearTimeout(this.later);
    this.root.removeEventListener("keydown", this.onKey);
    super.close();
  }
}

export default mount(".attention-graph", ThreeAttentions);
