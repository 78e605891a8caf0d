// The component: draws the diagram, keeps which layer is open, lets keyboard and pointer walk it, and asks for pages.
import { replaceAddress } from "./address.js";
import { choice, button, replaceControls } from "./controls.js";
import { draw } from "./draw.js";
import { exportRow, fileName, pictureOf } from "./export.js";
import { layout } from "./layout.js";
import { Drawn, mount } from "./mount.js";
import { describe } from "./names.js";
import { SvgSurface } from "./surface.js";
import { element, fill } from "./template.js";
import { csvOf, twin } from "./twin.js";

const SETTLED = 700; // milliseconds after which the server hears of the open layer, so that other pages open at it
const WIDE = 520; // from which on the whole model stands on one screen that is read from afar
const STEP = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 };

class Diagram extends Drawn {
  constructor(root) {
    super(root);
    this.focus = null;
  }

  update({ data, setTriggerValue, setStateValue }) {
    this.send = setTriggerValue;
    this.keep = setStateValue;
    const written = new TextDecoder().decode(data), same = written === this.written;
    this.written = written;
    this.receive(same ? this.diagram : JSON.parse(written), same);
  }

  /** New data: the open layer stays if there is such a layer. */
  open(diagram) {
    const { text } = diagram, url = diagram.writes ? new URLSearchParams(location.search) : new URLSearchParams();
    this.diagram = diagram;
    this.depth = Math.max(1, ...diagram.columns.map(column => column.layers.length));
    const asked = this.state?.layer ?? url.get("layer") ?? diagram.layer, shapes = this.state?.shapes ?? url.get("shapes");
    this.state = { layer: /^\d+$/.test(String(asked)) ? Math.min(Number(asked), this.depth - 1) : 0, shapes: shapes === "symbols" ? shapes : "sizes" };
    this.current = diagram.boxes[0].id;
    this.focus = null;
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live", "data-hint": text.hint });
    this.controls = element("div", { class: "controls" });
    this.picture = element("div", { class: "picture", role: "group", "aria-label": text.picture });
    this.stage = element("div", { class: "stage", "data-testid": "stage" }, this.picture);
    this.root.replaceChildren(element("section", { class: "card" }, this.controls, this.stage, this.live, exportRow(this, diagram.text, diagram.writes ? () => this.link() : null), twin(diagram)));
    this.write();
  }

  set(patch) {
    const { layer } = this.state;
    this.state = { ...this.state, ...patch };
    this.write();
    this.render();
    if (layer === this.state.layer || !this.diagram.writes) return;
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.keep("layer", this.state.layer), SETTLED);
  }

  /** The open layer stands in the URL, for a reload, for a link, and for the server's next run. */
  link() {
    const url = new URL(location.href);
    url.searchParams.set("layer", String(this.state.layer));
    if (this.state.shapes === "symbols") url.searchParams.set("shapes", "symbols");
    else url.searchParams.delete("shapes");
    return url.href;
  }

  write() {
    if (this.diagram.writes) replaceAddress(this.link());
  }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    const room = Math.max(280, this.width - (this.width < 520 ? 26 : 42));
    const flat = this.afar && room >= WIDE;
    this.root.classList.toggle("flat", flat);
    this.plan = layout(this.diagram, this.state, room, flat);
    replaceControls(this.controls, this.switches(room));
    if (!this.plan.byId.has(this.current)) this.current = this.plan.nodes[0].box.id;
    const focused = this.root.getRootNode().activeElement?.dataset.box;
    this.buttons = new Map(this.plan.nodes.map(node => [node.box.id, this.button(node)]));
    this.picture.style.width = `${this.plan.width}px`;
    this.picture.style.height = `${this.plan.height}px`;
    this.picture.replaceChildren(...this.buttons.values());
    if (this.buttons.has(focused)) this.buttons.get(focused).focus({ preventScroll: true });
    this.paint();
  }

  /** The drawing behind the buttons, by the same hand that writes the exported file. */
  paint() {
    const { plan, theme } = this, surface = new SvgSurface(theme);
    draw(surface, this.diagram, plan, this.state, this.focus);
    const markup = `<svg xmlns="http://www.w3.org/2000/svg" width="${plan.width}" height="${plan.height}" viewBox="0 0 ${plan.width} ${plan.height}" aria-hidden="true">${surface.parts.join("")}</svg>`;
    const drawn = document.importNode(new DOMParser().parseFromString(markup, "image/svg+xml").documentElement, true);
    this.picture.querySelector("svg")?.remove();
    this.picture.prepend(drawn);
    const box = this.focus && this.plan.byId.get(this.focus)?.box, sentence = box ? describe(this.diagram, box) : "";
    if (this.live.textContent !== sentence) this.live.textContent = sentence;
    this.live.dataset.box = box ? box.id : "";
    this.root.dataset.painted = ++this.painted;
  }

  button({ box, x, y, w, h }) {
    const opens = box.kind === "layer" || this.diagram.opens[box.id];
    const made = element("button", {
      type: "button", class: "box", "data-box": box.id, "data-testid": `box-${box.id}`, tabindex: box.id === this.current ? "0" : "-1",
      "aria-label": describe(this.diagram, box), "aria-disabled": opens ? null : "true",
      onclick: () => this.choose(box), onfocus: () => this.point(box.id), onblur: () => this.point(null),
      onpointerenter: () => this.point(box.id), onpointerleave: () => this.point(null), onkeydown: event => this.key(event, box),
    });
    Object.assign(made.style, { left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px` });
    return made;
  }

  point(id) {
    const focus = id ?? this.root.getRootNode().activeElement?.dataset.box ?? null;
    if (focus === this.focus) return;
    this.focus = focus;
    this.paint();
  }

  /** Along the data: up and right forwards, down and left back; from one open box to the next. */
  key(event, box) {
    const ids = [...this.buttons.keys()], at = ids.indexOf(box.id);
    const to = event.key === "Home" ? 0 : event.key === "End" ? ids.length - 1 : event.key in STEP ? at + STEP[event.key] : null;
    if (to === null || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.enter(ids[Math.max(0, Math.min(ids.length - 1, to))]);
  }

  enter(id) {
    this.buttons.get(this.current)?.setAttribute("tabindex", "-1");
    this.current = id;
    const made = this.buttons.get(id);
    made.setAttribute("tabindex", "0");
    made.focus();
  }

  /** A closed layer opens; any other box opens its page. */
  choose(box) {
    if (box.kind !== "layer") {
      if (this.diagram.opens[box.id]) this.send("open", box.id);
      return;
    }
    this.set({ layer: box.layer });
    this.enter(this.diagram.boxes.find(entry => entry.stack === box.stack && entry.layer === box.layer).id);
  }

  switches(room) {
    const { text } = this.diagram, { theme } = this;
    const layers = Array.from({ length: this.depth }, (_, layer) => ({ value: layer, label: String(layer + 1) }));
    const shapes = ["sizes", "symbols"].map(value => ({ value, label: text[`shapes_${value}`] }));
    return [
      choice({ name: "layer", label: text.layer, options: layers, value: this.state.layer, theme, room, onPick: layer => this.set({ layer }) }),
      choice({ name: "shapes", label: text.shapes, options: shapes, value: this.state.shapes, theme, room, onPick: chosen => this.set({ shapes: chosen }) }),
    ];
  }

  caption() {
    const { text, caption } = this.diagram;
    const first = fill(text.caption, { model: caption.model, layer: this.state.layer + 1 });
    return caption.source ? [first, fill(text.caption_sentence, { source: caption.source, target: caption.target })] : [first];
  }

  async file(kind) {
    const caption = this.caption(), name = fileName([this.diagram.caption.model, "architecture", `layer${this.state.layer}`], kind);
    const picture = { ...this.plan, draw: surface => draw(surface, this.diagram, this.plan, this.state, null) };
    return { blob: kind === "csv" ? csvOf(this.diagram, caption) : await pictureOf(kind, this.theme, picture, caption), name, caption };
  }

  close() {
    clearTimeout(this.telling);
    super.close();
  }
}

export default mount(".architecture", Diagram);
