// Translate: the two sentences as text, linked with the matrix beside them, and what each step of the decoder saw.
import { switchable } from "./axes.js";
import { button, replaceControls } from "./controls.js";
import { Taken } from "./export_bar.js";
import { layerAndHead, sharedControls } from "./switches.js";
import { drawLinked, layoutLinked } from "./linked.js";
import { conventionOf, openHead, pathOf, removedNote } from "./opened.js";
import { MatrixPanel } from "./panel.js";
import { strongest } from "./reduce.js";
import { Stage } from "./stage.js";
import { stepTable, TableTwin } from "./table.js";
import { element, fillNodes, pathNodes } from "./template.js";

const BESIDE = 860, BETWEEN = 34, TALLEST = 620;

export class LinkedView {
  constructor(app) {
    this.app = app;
    const { header } = app.payload, { text } = header;
    this.text = new Stage({ name: "text", onDraw: (surface, view) => surface.shift(-view.x, -view.y, () => drawLinked(surface, app.theme, this.flow, this.model(), app.focus)) });
    this.buttons = element("div", { class: "maps" });
    this.text.spacer.append(this.buttons);
    this.matrix = new MatrixPanel(app);
    this.table = new TableTwin(text);
    this.controls = element("div", { class: "controls" });
    this.sentence = element("p", { class: "sentence", "data-testid": "sentence" });
    this.note = element("p", { class: "note aside", "data-testid": "note" });
    this.loading = element("p", { class: "loading", role: "status", "data-testid": "loading" }, app.offline ? text.left_out : text.loading);
    this.taken = new Taken(app, () => ({ opened: this.opened, picture: this.picture }));
    this.steps = element("div", { class: "steps-scroll", tabindex: "0", role: "group", "aria-label": text.steps, "data-testid": "steps" });
    this.path = element("code", { class: "path", dir: "ltr" });
    const unpin = button({ name: "reset", label: `✕ ${text.reset}`, title: text.reset_hint, className: "action unpin", onPick: () => app.unpin() });
    this.pair = element("div", { class: "pair linked" }, element("div", { class: "flow" }, this.text.frame, this.sentence, app.live, unpin), this.matrix.node);
    this.body = element("div", {}, this.pair, this.note, this.path, this.table.details, this.taken.node);
    this.node = element("div", {}, element("section", { class: "card", "data-testid": "opened" }, this.controls, this.loading, this.body),
      element("section", { class: "card aside", hidden: header.tokens.produced.labels.length ? null : "" }, element("h3", {}, text.steps), this.steps));
  }

  render() {
    const { app } = this, { header } = app.payload, { text } = header;
    const opened = this.opened = openHead(app.data, app.state, app.theme);
    replaceControls(this.controls, [...layerAndHead(app, opened.attention, text), ...sharedControls(app, switchable(opened.attention))]);
    this.loading.hidden = !opened.loading;
    this.body.hidden = Boolean(opened.loading);
    if (opened.loading) return app.fetch({ attention: opened.attention.id, layer: opened.layer, head: opened.head });
    this.arrange(app.inner);
    this.label();
    this.say();
    this.path.replaceChildren(...pathNodes(pathOf(opened)));
    this.note.textContent = [conventionOf(text, opened), removedNote(opened)].filter(Boolean).join(" ");
    this.steps.replaceChildren(stepTable(header, opened, row => this.pointStep(row)));
    this.table.show(opened, app.focus);
  }

  /** Text and matrix side by side; a long sentence has the matrix below, over the whole width. */
  arrange(inner) {
    const { opened } = this, widths = (this.app.afar ? [0.32, 0.46, 0.58] : [0.46, 0.58]).map(share => Math.floor((inner - BETWEEN) * share));
    const half = widths.find(width => this.matrix.measure(opened, width).width <= width) ?? widths.at(-2), wanted = Math.ceil(this.matrix.measure(opened, half).width);
    const beside = inner >= BESIDE && wanted <= half, room = beside ? wanted + 2 : inner;
    this.pair.classList.toggle("beside", beside);
    this.pair.style.setProperty("--text-room", `${inner - room - BETWEEN}px`);
    this.matrix.show(opened, room, TALLEST);
    this.flow = layoutLinked(this.app.theme, opened.axes, { available: beside ? inner - room - BETWEEN : inner });
    this.text.fit(this.flow.width, this.flow.height, TALLEST);
  }

  /** A real button over each word: focus lights up what a pointer would. */
  label() {
    const { app } = this, probabilities = this.probabilities();
    const made = (name, chip, focus, extra) => {
      const node = element("button", { type: "button", class: "map word", dir: "auto", "aria-label": `${chip.item.label}${extra}`, title: chip.label === chip.item.label ? null : chip.item.label, "data-testid": `${name}-${chip.item.index}` });
      Object.assign(node.style, { left: `${chip.x}px`, top: `${chip.y}px`, width: `${chip.w}px`, height: `${chip.h}px` });
      node.onpointerenter = () => app.point(focus);
      node.onpointerleave = () => app.point(null);
      node.onfocus = () => node.matches(":focus-visible") && app.point(focus);
      node.onblur = () => app.point(null);
      node.onclick = () => app.fix(focus);
      return node;
    };
    const focused = this.node.getRootNode().activeElement, name = focused && this.buttons.contains(focused) ? focused.getAttribute("data-testid") : null;
    this.buttons.replaceChildren(
      ...this.flow.source.chips.map((chip, key) => made("source", chip, { query: null, key }, "")),
      ...this.flow.target.chips.map((chip, query) => made("target", chip, { query, key: null }, probabilities[query] === null ? "" : ` ${probabilities[query].toFixed(2)}`)));
    if (name) this.buttons.querySelector(`[data-testid="${name}"]`)?.focus();
  }

  /** How likely each shown target word was when it was written; null for what was never produced (the start token). */
  probabilities() {
    const { header } = this.app.payload, { state, axes, attention } = this.opened, shift = state.row === "read" ? 1 : 0;
    return axes.rows.items.map(item => {
      if (attention.query !== "target") return null; // an encoder produces nothing
      const steps = item.positions.map(position => position - shift);
      return steps.some(step => step < 0) ? null : steps.reduce((product, step) => product * header.probabilities[step], 1);
    });
  }

  model() {
    const { opened } = this, { text } = this.app.payload.header;
    return { map: opened.map, axes: opened.axes, probabilities: this.probabilities(), titles: { rows: text.target, cols: text.source } };
  }

  paint() {
    if (this.opened.loading) return;
    this.matrix.paint();
    this.text.paint(this.app.theme);
  }

  refocus(from) {
    if (this.opened.loading) return;
    const { focus } = this.app;
    if (from !== this.matrix.stage.frame && (focus.query !== null || focus.key !== null)) this.matrix.reveal(focus);
    this.paint();
    this.say();
    this.table.follow(this.app.focus);
    this.mark();
  }

  mark() {
    const { query } = this.app.focus, shown = new Set(query === null ? [] : this.opened.axes.rows.items[query]?.positions);
    const lines = [...this.steps.querySelectorAll("tbody tr")], head = this.steps.querySelector("thead").offsetHeight;
    lines.forEach((line, i) => line.classList.toggle("on", shown.has(i)));
    const first = lines.find(line => line.classList.contains("on")), { scrollTop, clientHeight } = this.steps;
    if (!first) return;
    if (first.offsetTop - head < scrollTop) this.steps.scrollTop = first.offsetTop - head;
    else if (first.offsetTop + first.offsetHeight > scrollTop + clientHeight) this.steps.scrollTop = first.offsetTop + first.offsetHeight - clientHeight;
  }

  /** Step r is row r of the decoder, whichever of its two names the rows carry. */
  pointStep(step) {
    const row = this.opened.axes.rows.items.findIndex(item => item.positions.includes(step));
    this.app.point(row < 0 ? null : { query: row, key: null });
  }

  /** One sentence in plain words; the exact numbers stand in the live line below it. */
  say() {
    const { app, opened } = this, { text } = app.payload.header, { axes, map, layer, head } = opened, { query, key } = app.focus;
    const places = { layer: layer + 1, head: head + 1 }, token = item => ({ token: item.label });
    this.sentence.replaceChildren();
    if (query === null && key === null) return this.sentence.append(text.linked_hint);
    if (query === null) {
      const row = strongest(map, { col: key });
      if (row !== null) this.sentence.append(fillNodes(head === "mean" ? text.sentence_read_by_mean : text.sentence_read_by,
        { ...places, key: token(axes.cols.items[key]), query: token(axes.rows.items[row]), weight: map.values[row * map.cols + key].toFixed(2) }));
    } else {
      const probability = this.probabilities()[query], item = axes.rows.items[query], col = map.states[query] === "ok" ? strongest(map, { row: query }) : null;
      const said = probability === null ? text.sentence_start : item.positions.length > 1 ? text.sentence_word_probability : text.sentence_probability;
      if (opened.attention.query === "target") this.sentence.append(fillNodes(said, { token: token(item), probability: probability?.toFixed(2) }), " ");
      if (col !== null) this.sentence.append(fillNodes(head === "mean" ? text.sentence_looked_mean : text.sentence_looked,
        { ...places, key: token(axes.cols.items[col]), weight: map.values[query * map.cols + col].toFixed(2) }));
    }
    this.sentence.append(" ", text.weight_says);
  }

  get picture() {
    const { app, flow, matrix } = this, right = matrix.picture;
    return { width: flow.width + BETWEEN + right.width, height: Math.max(flow.height, right.height), draw: surface => {
      drawLinked(surface, app.theme, flow, this.model(), app.focus);
      surface.shift(flow.width + BETWEEN, 0, () => right.draw(surface));
    } };
  }

  get focusable() { return this.opened.loading ? null : this.opened; }
}
