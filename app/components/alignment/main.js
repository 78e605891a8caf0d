// The component: one pair, its text, its picture, its gold. All that is switched stays here and in the URL.
import { button, choice, replaceControls } from "./controls.js";
import { Draft, draftsLeft } from "./draft.js";
import { Editor } from "./editor.js";
import { exportRow } from "./export.js";
import { fileOf } from "./files.js";
import { swatch } from "./marks.js";
import { Drawn, mount } from "./mount.js";
import { MatrixPanel, RibbonPanel } from "./panels.js";
import { decode } from "./payload.js";
import { describe, notesOf, pathOf, scoresText } from "./say.js";
import { shownOf } from "./shown.js";
import { clearState, readState, writeState } from "./state.js";
import { switchesOf } from "./switches.js";
import { TableTwin } from "./twin.js";
import { element, fill, pathNodes } from "./template.js";
import { TextPanel } from "./words.js";

const NOWHERE = { row: null, col: null, at: null }, BESIDE = 780, BETWEEN = 34, TEXT_LEAST = 300, NARROW = 640;
const VERDICTS = { known: ["found_sure", "found_possible", "missed", "possible", "extra"], unknown: ["link"] };

addEventListener("beforeunload", event => { if (draftsLeft()) event.preventDefault(); });

class Alignment extends Drawn {
  editing = false;
  saving = false;
  page = location.pathname;

  update({ data, setStateValue, setTriggerValue }) {
    this.send = setTriggerValue;
    this.ask = setStateValue;
    const payload = decode(data), { header } = payload;
    const same = header.digest === this.header?.digest;
    if (same && this.saving) { this.saving = false; this.editor.show(); } // refused as before
    this.receive(payload, same);
  }

  open(payload) {
    const { header } = payload, same = this.header?.pair === header.pair, text = JSON.stringify(header.text);
    this.data = same && !this.outdated(header) ? { ...payload, blocks: new Map([...this.data.blocks, ...payload.blocks]) } : payload;
    const before = this.draft, wasSaving = same && this.saving;
    this.header = header;
    this.state = readState(header, this.state);
    this.draft = new Draft(header);
    if (same) Object.assign(this.draft, { past: before.past, restored: before.restored });
    this.draft.keep();
    this.saving = false;
    this.justSaved = wasSaving && !this.draft.changed && !header.refused;
    if (!same) this.reset();
    if (!same || text !== this.labels) this.build();
    this.labels = text;
    this.write();
  }

  /** Another model or another splitting of the same pair. */
  outdated(header) {
    const kept = ({ caption, pieces }) => JSON.stringify([caption.model, pieces]);
    return kept(header) !== kept(this.header);
  }

  reset() { Object.assign(this, { hover: null, pin: null, cursor: null, ribbonCursor: null }); }

  build() {
    const { header } = this, { text } = header, focused = this.root.getRootNode().activeElement;
    this.focused = focused && this.root.contains(focused) ? focused.getAttribute("data-testid") : null;
    this.title = element("h3", { "data-testid": "pair-title" }, fill(text.pair, { pair: header.index + 1, count: header.count }));
    const walk = (name, index) => {
      const made = button({ name, label: text[name], className: "action served", onPick: () => this.go(index) });
      made.disabled = index < 0 || index >= header.count;
      return made;
    };
    this.unpinner = button({ name: "unpin", label: `✕ ${text.unpin}`, title: text.unpin_hint, className: "action unpin", onPick: () => this.unpin() });
    const head = element("div", { class: "pair-head" }, this.title, element("div", { class: "tools" }, this.unpinner, walk("previous", header.index - 1), walk("next", header.index + 1)));
    this.text = new TextPanel(this, header);
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live", "data-hint": text.text_hint });
    this.views = element("div", { class: "controls" });
    this.switches = element("div", { class: "controls" });
    this.matrix = new MatrixPanel(this, header);
    this.ribbon = new RibbonPanel(this, header);
    this.legend = element("p", { class: "legend", role: "group", "aria-label": text.legend, "data-testid": "legend" });
    this.scores = element("p", { class: "scores", role: "status", "data-testid": "scores" });
    this.notes = element("p", { class: "note", "data-testid": "note" });
    this.path = element("code", { class: "path", dir: "ltr" });
    this.loading = element("p", { class: "loading", role: "status", "data-testid": "loading" }, text.loading);
    this.editor = new Editor(this, header);
    this.table = new TableTwin(text, text.title);
    const exports = exportRow(this, text, () => location.href);
    this.figure = element("div", { class: "figure" }, this.views, this.matrix.node, this.ribbon.node, this.legend);
    this.said = element("div", { class: "said" }, this.text.node, this.live);
    this.rest = element("div", { class: "rest" }, this.scores, this.editor.node, this.notes, this.path);
    this.pair = element("div", { class: "pair" }, this.said, this.figure);
    this.body = element("div", { class: "body" }, this.pair, this.rest, this.table.details, exports, element("p", { class: "hint" }, text.link_note));
    this.card = element("section", { class: "card" }, head, this.switches, this.loading, this.body);
    this.root.replaceChildren(this.card);
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", text.title);
    this.root.onkeydown = event => this.key(event);
  }

  get inner() { return Math.max(220, this.width - (this.width < NARROW ? 26 : 42)); }

  get focus() { return this.hover ?? this.pin ?? NOWHERE; }

  // ----- what is shown

  compute() { return shownOf(this); }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    const { header, state } = this, { text } = header;
    this.shown = this.compute();
    this.seat(Boolean(this.shown) && this.width < NARROW);
    replaceControls(this.switches, switchesOf(this));
    this.loading.hidden = Boolean(this.shown);
    this.body.hidden = !this.shown;
    if (!this.shown) return this.fetch();
    replaceControls(this.views, [choice({ theme: this.theme, room: this.inner, name: "view", label: text.view, value: state.view, onPick: view => this.set({ view }),
      options: ["matrix", "ribbon"].map(value => ({ value, label: text[`view_${value}`] })) })]);
    this.arrange();
    this.path.replaceChildren(...pathNodes(pathOf(header, state)));
    this.follow();
    this.refocus();
  }

  /** The keyboard stays where it was when another pair has come: on the same control, else on the first word. */
  refocus() {
    if (!this.focused) return;
    const again = [...this.root.querySelectorAll("[data-testid]")].find(node => node.getAttribute("data-testid") === this.focused);
    (again && !again.disabled ? again : this.text.buttons.source[0])?.focus();
    this.focused = null;
  }

  /** The switches stand above all; on a phone the text comes first. */
  seat(narrow) {
    const [parent, next] = narrow ? [this.pair, this.figure] : [this.card, this.loading];
    if (this.switches.parentNode !== parent) parent.insertBefore(this.switches, next);
  }

  /** All that follows from the links and the gold; the switches stay as they are. */
  follow() {
    const { header } = this, { known } = this.draft;
    this.notes.textContent = notesOf(this).join(" ");
    this.scores.textContent = scoresText(this);
    this.entries = VERDICTS[known ? "known" : "unknown"].map(name => ({ verdict: name, label: header.text[`legend_${name}`] }));
    this.legend.replaceChildren(...this.entries.map(entry => element("span", { class: "entry" }, swatch(this.theme, entry.verdict, this.state.view), entry.label)));
    this.editor.show();
    this.table.show(this);
    this.paint();
  }

  /** Text and picture side by side where the picture fits, else the text first. */
  arrange() {
    const { inner, state } = this, matrix = state.view === "matrix", most = inner - BETWEEN - TEXT_LEAST;
    this.matrix.node.hidden = !matrix;
    this.ribbon.node.hidden = matrix;
    const wanted = matrix && inner >= BESIDE ? Math.ceil(this.matrix.measure(most).width) : Infinity, beside = wanted <= most, room = beside ? Math.max(wanted + 2, 380) : inner;
    this.pair.classList.toggle("beside", beside);
    if (beside !== (this.rest.parentNode === this.said)) beside ? this.said.append(this.rest) : this.pair.after(this.rest);
    this.pair.style.setProperty("--text-room", `${inner - room - BETWEEN}px`);
    this.panel = matrix ? this.matrix : this.ribbon;
    this.panel.fit(room);
  }

  paint() {
    this.frame = null;
    if (!this.shown) return;
    this.panel.paint();
    this.text.paint({ map: this.shown.words, links: this.shown.links }, this.focus);
    const said = describe(this);
    if (this.live.textContent !== said) this.live.textContent = said;
    this.card.classList.toggle("pinned", Boolean(this.pin));
    this.card.classList.toggle("editing", this.editing);
    const { root, matrix, state } = this;
    Object.assign(root.dataset, { painted: ++this.painted, pair: this.header.index, links: this.shown.links.map(link => link.join("-")).join(" "), editing: this.editing ? "yes" : "no", changed: this.draft.changed ? "yes" : "no" });
    if (state.view === "matrix") Object.assign(root.dataset, { cell: matrix.geometry.cell, corner: `${matrix.geometry.left},${matrix.geometry.top}` });
  }

  // ----- pointing

  /** What stands at a row and a column of the axes: the words, and the place itself. */
  focusAt(query, key) {
    const { axes } = this.shown, row = query === null ? null : axes.rows.items[query].word, col = key === null ? null : axes.cols.items[key].word;
    return { row: row === null || row >= this.header.target.words.length ? null : row, col, at: [query, key] };
  }

  /** Row and column along the axes of what is in play; a word of several pieces is no single row. */
  cellOf({ row, col, at }) {
    if (at) return at;
    return this.state.unit === "words" ? [row, col] : [null, null];
  }

  point(focus) {
    if (JSON.stringify(focus) === JSON.stringify(this.hover ?? null)) return;
    this.hover = focus;
    this.frame ??= requestAnimationFrame(() => this.paint());
  }

  /** Stays when the pointer goes; the same again lets go, unless it is the keyboard's. */
  fix(focus, keep = false) {
    if (!focus) return;
    const same = JSON.stringify(focus) === JSON.stringify(this.pin);
    this.pin = same && !keep ? null : focus;
    this.cursor = focus.at && focus.at[0] !== null && focus.at[1] !== null ? focus.at : this.cursor;
    if (!focus.at) this.panel.reveal(focus);
    this.paint();
  }

  unpin() {
    this.pin = this.hover = null;
    this.paint();
  }

  /** A cell was clicked, or Enter pressed on it. */
  press(focus, keyboard = false) {
    if (!focus) return;
    const isCell = focus.row !== null && focus.col !== null && focus.col < this.header.source.words.length;
    if (!this.editing || !isCell) return this.fix(focus, keyboard);
    this.pin = focus;
    this.cursor = focus.at;
    this.draft.cycle([focus.col, focus.row]);
    this.edited();
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const act = { Escape: () => this.unpin(), n: () => this.go(this.header.index + 1), p: () => this.go(this.header.index - 1), u: () => { if (this.editing) { this.draft.undo(); this.edited(); } } }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  // ----- changing

  set(changes) {
    Object.assign(this.state, changes);
    Object.assign(this, { cursor: null, ribbonCursor: null, hover: null, pin: this.pin && { ...this.pin, at: null } });
    this.write();
    this.render();
  }

  slide(threshold) {
    this.state.threshold = threshold;
    this.shown = this.compute();
    this.follow();
  }

  edit(on) {
    this.editing = on;
    if (on && this.state.view !== "matrix") return this.set({ view: "matrix" });
    return this.follow();
  }

  edited() {
    this.justSaved = false;
    this.shown = this.compute();
    this.follow();
  }

  save() {
    this.saving = true;
    this.editor.show();
    this.send("gold", { pair: this.header.pair, index: this.header.index, ...this.draft.lists });
  }

  /** Another pair; what is not saved stays in this tab. */
  go(index) {
    if (index >= 0 && index < this.header.count) this.send("go", index);
  }

  fetch() {
    const { measure, layer } = this.state, asked = JSON.stringify([this.header.pair, measure, layer]);
    if (asked !== this.asked) this.ask("open", { pair: this.header.pair, measure, layer });
    this.asked = asked;
  }

  file(kind) { return fileOf(this, kind); }

  write() { writeState(this.header, this.state); }

  close() {
    if (location.pathname === this.page) clearState(); // else another page has come, whose URL is its own
    super.close();
  }
}

export default mount(".alignment", Alignment);
