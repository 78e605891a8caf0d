// One attention: where its queries, keys and values come from, and its weights as a matrix or as a graph.
import { button } from "./controls.js";
import { drawGraph, hitGraph, layoutGraph } from "./graph.js";
import { cellAfter } from "./keys.js";
import { boxOfCell, drawMatrix, hitMatrix, layoutMatrix } from "./matrix.js";
import { conventionOf, openHead, pathOf, titleOf } from "./opened.js";
import { Stage } from "./stage.js";
import { TableTwin } from "./table.js";
import { element, pathNodes } from "./template.js";

const SMALLEST = 14;

export class Panel {
  constructor(app, attention) {
    this.app = app;
    this.attention = attention;
    const { text, extra } = app.payload.header, { id } = attention;
    this.stage = new Stage({
      name: `stage-${id}`,
      onDraw: (surface, view) => this.draw(surface, view),
      onPoint: (x, y, event) => app.point(id, this.hit(x, y), event),
      onLeave: () => app.point(id, null),
      onPress: (x, y) => app.fix(id, this.hit(x, y)),
    });
    const { frame } = this.stage;
    frame.setAttribute("tabindex", "0");
    frame.setAttribute("role", "application");
    frame.setAttribute("aria-description", text.matrix_hint);
    frame.onkeydown = event => this.key(event);
    frame.onfocus = () => app.choose(id);
    this.title = element("h3");
    this.origins = element("dl", { class: "origins", "data-testid": `origins-${id}` });
    this.table = new TableTwin(text);
    this.note = element("p", { class: "note" });
    this.path = element("code", { class: "path", dir: "ltr" });
    this.loading = element("p", { class: "loading", role: "status" }, app.offline ? text.left_out : text.loading);
    const open = button({ name: `open-${id}`, label: extra.text.open, className: "action served", onPick: () => app.openPage(id) });
    this.body = element("div", {}, frame, this.note, this.path, element("div", { class: "exports" }, open), this.table.details);
    this.node = element("section", { class: "card", "data-testid": `panel-${id}` }, this.title, element("p", { class: "purpose" }, extra.about[id].purpose), this.origins,
      element("p", { class: "hidden-keys" }, extra.about[id].mask), this.loading, this.body);
  }

  /** The layer of this attention that is shown: the encoder may have fewer than the decoder. */
  get state() {
    const { state } = this.app;
    return { ...state, attention: this.attention.id, layer: Math.min(state.layer, this.attention.layers - 1), unit: "pieces", special: "show", scale: "unit" };
  }

  get isGraph() { return this.attention.id === "encoder.self_attention" && this.app.state.encoder === "graph"; }

  show(room) {
    const { app } = this, { text } = app.payload.header, opened = this.opened = openHead(app.data, this.state, app.theme);
    this.title.textContent = titleOf(text, opened);
    this.node.classList.toggle("on", app.state.attention === this.attention.id);
    this.node.classList.toggle("wide", this.isGraph);
    this.explain();
    this.loading.hidden = !opened.loading;
    this.body.hidden = Boolean(opened.loading);
    if (opened.loading) return;
    const rows = opened.axes.rows.items;
    this.geometry = this.isGraph ? layoutGraph(app.theme, rows, { available: room }) : layoutMatrix(app.theme, opened.axes, { available: room, smallest: SMALLEST });
    this.stage.fit(this.geometry.width, this.geometry.height, 560);
    this.stage.frame.setAttribute("aria-label", `${titleOf(text, opened)}. ${this.isGraph ? app.words.graph : text.matrix}`);
    this.note.textContent = this.convention;
    this.path.replaceChildren(...pathNodes(pathOf(opened)));
    this.table.show(opened, app.focusOf(this.attention.id));
  }

  /** How to read the picture, and for the encoder how one-sided its pairs are. */
  get convention() {
    const { app, opened } = this, { text, extra } = app.payload.header, said = [this.isGraph ? app.words.hint : conventionOf(text, opened)];
    if (extra.asymmetry[this.attention.id]) said.push(app.words.asymmetry.replace("{value}", extra.asymmetry[this.attention.id][opened.layer][opened.head].toFixed(2)));
    return said.join(" ");
  }

  /** Q, K and V with their shapes, and the tensors that they are made from. */
  explain() {
    const about = this.app.payload.header.extra.about[this.attention.id], { query, memory } = about.origins[this.state.layer];
    const made = role => element("dt", { class: role, dir: "ltr" }, about[role]), from = ({ meaning, path }) => element("dd", {}, meaning, " ", element("code", { class: "path", dir: "ltr" }, ...pathNodes(path)));
    const own = query.path === memory.path ? [] : [from(query)];
    this.origins.replaceChildren(made("query"), ...own, made("key"), made("value"), from(memory));
  }

  draw(surface, view) {
    const { app, geometry, opened } = this, focus = app.focusOf(this.attention.id);
    if (this.isGraph) surface.shift(-view.x, -view.y, () => drawGraph(surface, app.theme, geometry, opened, focus));
    else drawMatrix(surface, app.theme, geometry, opened, focus, view);
  }

  hit(x, y) {
    const { view } = this.stage;
    return this.isGraph ? hitGraph(this.geometry, this.opened.map, x + view.x, y + view.y) : hitMatrix(this.geometry, this.opened.axes, x, y, view);
  }

  paint() {
    if (!this.opened.loading) this.stage.paint(this.app.theme);
  }

  follow() {
    if (!this.opened.loading) this.table.follow(this.app.focusOf(this.attention.id));
    this.paint();
  }

  /** The whole picture under its name, for export. */
  get picture() {
    const { geometry, opened, app } = this, whole = { x: 0, y: 0, w: geometry.width, h: geometry.height };
    return {
      width: Math.max(geometry.width, 330), height: geometry.height + 30,
      draw: surface => {
        surface.text({ text: titleOf(opened.text, opened), x: 0, y: 8, size: 14, weight: 650, fill: app.theme.ink });
        surface.shift(0, 30, () => this.draw(surface, whole));
      },
    };
  }

  key(event) {
    const { app, opened } = this, pin = app.pinOf(this.attention.id);
    const next = opened.loading ? null : cellAfter(event, opened.map, pin && [pin.query ?? 0, pin.key ?? 0]);
    if (!next) return;
    const [query, key] = next;
    app.fix(this.attention.id, { query, key }, true);
    if (!this.isGraph) this.stage.reveal(boxOfCell(this.geometry, query, key), this.geometry.left, this.geometry.top);
  }
}
