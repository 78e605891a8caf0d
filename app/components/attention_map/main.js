// The component: keeps what the reader chose, draws a view again when something changed, and cleans up.
import { csvOfAll } from "./csv.js";
import { Drawn, mount } from "./mount.js";
import { describe, detailName } from "./opened.js";
import { decode } from "./payload.js";
import { firstState, readState, writeState } from "./state.js";
import { HeadsView } from "./heads_view.js";
import { LinkedView } from "./linked_view.js";
import { element } from "./template.js";
import { placeTip } from "./tip.js";

const NOTHING = { query: null, key: null };
const KEPT_DETAILS = 24;

class AttentionMap extends Drawn {
  constructor(root) {
    super(root);
    this.details = new Map();
    this.asked = null;
    this.tooltip = element("div", { class: "tooltip", "aria-hidden": "true", hidden: true });
    this.onKey = event => this.escape(event);
    root.addEventListener("keydown", this.onKey);
  }

  update({ data, setStateValue, setTriggerValue }) {
    this.send = setStateValue;
    this.tell = setTriggerValue;
    const payload = decode(data);
    payload.details.forEach(detail => this.keep(detail));
    this.receive(payload, payload.header.digest === this.payload?.header.digest, payload.details.length > 0);
  }

  /** New data: the choices stay, what was pointed at goes with the old tokens. */
  open(payload) {
    const { header, attentions } = payload, another = this.payload?.header.trace !== header.trace || this.payload?.header.view !== header.view;
    this.payload = payload;
    this.data = { header, attentions, details: this.details };
    if (another) { this.pin = this.hover = null; this.asked = null; }
    this.state = readState(header, attentions, this.state);
    const { text } = header;
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live", "data-hint": header.view === "linked" ? null : text.matrix_hint });
    this.view = header.view === "linked" ? new LinkedView(this) : new HeadsView(this);
    this.root.replaceChildren(this.view.node, this.tooltip);
    this.asGroup(text.matrix);
    writeState(header, this.state);
  }

  write() { writeState(this.payload.header, this.state); }

  /** All maps at once, and the opened head; where none is open, the numbers of all. */
  async files() {
    const { overview, taken, focusable } = this.view, parts = [overview?.taken, focusable && taken].filter(Boolean);
    const made = await Promise.all(parts.flatMap(part => part.kinds.map(kind => part.file(kind))));
    if (focusable || !overview) return made;
    const { name, caption } = made[0], blob = csvOfAll(this, overview.shown, caption);
    return blob ? [...made, { blob, name: name.replace(/png$/, "csv"), caption }] : made;
  }

  /** What a saved page draws from: the maps, and of those that are pooled every head that was opened here. */
  get saved() {
    const { header, bytes } = this.payload, opened = [...this.details.values()].filter(detail => detail.trace === header.trace);
    return new Blob([bytes, ...opened.map(detail => detail.bytes)]);
  }

  keep(detail) {
    this.details.set(detailName(detail.trace, detail.attention, detail.layer, detail.head), detail);
    for (const name of this.details.keys()) if (this.details.size > KEPT_DETAILS) this.details.delete(name);
  }

  /** Asks the server for one head of a pooled map, once; a saved page has none. */
  fetch(head) {
    if (this.offline) return;
    const name = JSON.stringify([this.payload.header.trace, head]);
    if (name === this.asked) return;
    this.asked = name;
    this.send("open", head);
  }

  /** The room inside a card. */
  get inner() { return Math.max(240, this.width - (this.width < 520 ? 26 : 42)); }

  get focus() { return this.hover ?? this.pin ?? NOTHING; }

  set(patch) {
    const before = this.state;
    this.state = { ...before, ...patch };
    if (this.state.layer === null && (patch.head ?? null) !== null) this.state.layer = this.payload.attentions.find(entry => entry.id === this.state.attention).kept[0];
    this.settle();
    if (this.state.row !== before.row || this.state.unit !== before.unit || this.state.special !== before.special || this.state.attention !== before.attention) this.pin = this.hover = null;
    writeState(this.payload.header, this.state);
    this.render();
  }

  /** Another attention may have fewer layers or heads. */
  settle() {
    const attention = this.payload.attentions.find(entry => entry.id === this.state.attention);
    if (this.state.layer === null) return;
    if (!attention.kept.includes(this.state.layer)) this.state.layer = attention.kept.at(-1);
    if (this.state.head !== "mean") this.state.head = Math.min(this.state.head ?? 0, attention.heads - 1);
  }

  /** The heads that are drawn over the opened one. */
  get overlay() { return new Set((this.state.over ?? "").split(",").filter(Boolean).map(Number)); }

  overlayHead(head) {
    const heads = this.overlay;
    if (!heads.delete(head)) heads.add(head);
    this.set({ over: [...heads].join(",") || null });
  }

  /** Back to the first view: nothing marked, nothing laid over, the head that the page opens with. */
  reset() {
    const { header, attentions } = this.payload, first = firstState(header, attentions);
    this.pin = this.hover = null;
    this.set({ layer: first.layer, head: first.head, over: null });
    this.root.querySelector('.map[tabindex="0"]')?.focus({ preventScroll: true });
  }

  unpin() {
    this.pin = this.hover = null;
    this.refocus();
  }

  escape(event) {
    if (event.key !== "Escape") return;
    if (this.pin || this.hover) this.unpin();
    else if (this.payload.header.view === "heads") this.reset();
  }

  /** The pointer or the keyboard is on something, or on nothing. */
  point(focus, event) {
    if (JSON.stringify(focus) === JSON.stringify(this.hover ?? null)) { if (focus && event) placeTip(this.root, this.tooltip, event); return; }
    this.hover = focus;
    this.tip(focus && event && this.view.focusable ? { event, title: describe(this.view.focusable, focus) } : null);
    this.from = event?.currentTarget;
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.refocus(); });
  }

  /** A press marks something until it is pressed again; the keyboard keeps its mark. */
  fix(focus, { keep = false, from } = {}) {
    this.from = from;
    const again = JSON.stringify(focus) === JSON.stringify(this.pin ?? null);
    this.pin = again && !keep ? null : focus;
    this.refocus();
  }

  refocus() {
    this.view.refocus(this.from);
    this.say();
    this.mark();
  }

  say() {
    const opened = this.view.focusable, { query, key } = this.focus, pointed = query !== null || key !== null;
    const sentence = opened && pointed ? describe(opened, this.focus) : "";
    if (this.live.textContent !== sentence) this.live.textContent = sentence;
    const names = { query, key, layer: opened?.layer, head: opened?.head };
    for (const [name, value] of Object.entries(names)) {
      if (pointed && value !== null && value !== undefined) this.live.dataset[name] = value;
      else delete this.live.dataset[name];
    }
    this.root.classList.toggle("pinned", Boolean(this.pin));
  }

  tip(what) {
    this.tooltip.hidden = !what;
    if (!what) return;
    this.tooltip.textContent = what.title;
    placeTip(this.root, this.tooltip, what.event);
  }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    this.view.render();
    this.view.paint();
    this.say();
    this.mark();
  }

  /** Tells tests and benchmarks that a paint is done. */
  mark() {
    this.root.dataset.painted = ++this.painted;
    this.root.dataset.paintedAt = performance.now().toFixed(2);
  }

  close() {
    this.root.removeEventListener("keydown", this.onKey);
    super.close();
  }
}

export default mount(".attention-map", AttentionMap);
