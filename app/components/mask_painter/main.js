// The component: one mask, drawn twice; kept in the URL; told to the server a moment after it changed.
import { replaceAddress } from "./address.js";
import { button, choice, replaceControls } from "./controls.js";
import { drawCells } from "./cells.js";
import { exportRow, fileName, pictureOf } from "./export.js";
import { drawLines, hitLines, layoutLines, lineBox } from "./lines.js";
import { maskOf, nameOf, repainted, seenBy } from "./mask.js";
import { Drawn, mount } from "./mount.js";
import { Painter } from "./painter.js";
import { Stage } from "./stage.js";
import { element, fill, isolate } from "./template.js";
import { csvOf, TableTwin } from "./twin.js";

const PAUSE = 300, KEPT = 100, NOTATIONS = ["plain", "keep", "hide", "additive"], BETWEEN = 28;

function decode(data) {
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
}

class MaskPainter extends Drawn {
  update({ data, setStateValue }) {
    this.send = setStateValue;
    const header = decode(data);
    this.receive(header, header.digest === this.header?.digest);
  }

  /** A new sentence or another attention: the mask keeps its name, the model's own stays the model's own. */
  open(header) {
    const url = new URLSearchParams(location.search), another = this.header?.rows.join("\n") !== header.rows.join("\n");
    this.name = this.name ?? url.get("mask") ?? header.mask;
    this.notation ??= NOTATIONS.includes(url.get("notation")) ? url.get("notation") : "plain";
    this.header = header;
    this.mask = maskOf(header, this.name);
    this.name = nameOf(header, this.mask);
    if (another) { this.cursor = this.hover = null; this.past = []; }
    this.build();
    this.write();
  }

  build() {
    const { text } = this.header;
    this.controls = element("div", { class: "controls" });
    this.painter = new Painter(this);
    this.lines = new Stage({
      name: "mask-lines", onDraw: (surface, view) => drawLines(surface, this.theme, this.lineGeometry, this.mask, this.look, view),
      onPoint: (x, y) => this.point(hitLines(this.lineGeometry, this.mask.size, x, y, this.lines.view)), onLeave: () => this.point(null),
      onPress: (x, y) => { const at = hitLines(this.lineGeometry, this.mask.size, x, y, this.lines.view); if (at?.row !== undefined && at?.row !== null) this.stand({ row: at.row, col: this.cursor?.col ?? 0 }); },
    });
    this.lines.keyboard(text.lines, text.lines_hint, event => this.lineKey(event));
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live", "data-hint": text.matrix_hint });
    this.table = new TableTwin(text);
    const figure = (stage, title) => element("figure", { class: "view" }, element("figcaption", {}, title), stage.frame);
    const exports = exportRow(this, text, () => location.href);
    const clipped = this.header.length > this.header.rows.length ? [element("p", { class: "note" }, fill(text.clipped, { count: this.header.rows.length, length: this.header.length }))] : [];
    const legend = element("p", { class: "legend" }, element("i", { class: "swatch on", "aria-hidden": "true" }), text.legend_allowed, element("i", { class: "swatch off", "aria-hidden": "true" }), text.legend_hidden);
    this.root.replaceChildren(element("section", { class: "card" }, this.controls,
      element("div", { class: "views" }, figure(this.painter.stage, text.matrix), figure(this.lines, text.lines)), legend, ...clipped, this.live, this.table.details, exports));
    this.asGroup(text.title);
  }

  get look() { return { text: this.header.text, notation: this.notation, cursor: this.hover ?? this.cursor }; }

  /** Remember the mask as it is before a stroke. */
  keep() {
    this.past.push(this.mask);
    if (this.past.length > KEPT) this.past.shift();
  }

  paintCells(places, value) { this.become(repainted(this.mask, places, value)); }

  undo() { if (this.past.length) this.become(this.past.pop()); }

  become(mask) {
    this.mask = mask;
    this.name = nameOf(this.header, mask);
    this.write();
    this.show();
    this.paint();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.timer = null; this.send("mask", this.name); }, PAUSE);
  }

  point(at) {
    if (JSON.stringify(at) === JSON.stringify(this.hover ?? null)) return;
    this.hover = at;
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.paint(); });
  }

  stand(cell) {
    this.cursor = cell;
    this.paint();
  }

  lineKey(event) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const row = Math.max(0, Math.min(this.mask.size - 1, (this.cursor?.row ?? -by) + by));
    this.lines.reveal(lineBox(this.lineGeometry, row));
    this.stand({ row, col: this.cursor?.col ?? 0 });
  }

  show() {
    const { text, presets, own } = this.header, known = this.name === "" ? own : this.name;
    const options = Object.keys(presets).map(name => ({ value: name, label: name === own ? fill(text.own, { name: text[name] }) : text[name] }));
    if (!Object.hasOwn(presets, known)) options.push({ value: known, label: text.painted });
    replaceControls(this.controls, [
      choice({ theme: this.theme, room: this.inner, name: "preset", label: text.preset, options, value: known, onPick: name => { this.keep(); this.become(maskOf(this.header, name)); } }),
      choice({ theme: this.theme, room: this.inner, name: "notation", label: text.notation, options: NOTATIONS.map(name => ({ value: name, label: text[name] })), value: this.notation, onPick: name => this.note(name) }),
      button({ name: "undo", label: text.undo, onPick: () => this.undo() }),
    ]);
  }

  note(notation) {
    this.notation = notation;
    this.write();
    this.show();
    this.paint();
  }

  rowText(row) {
    const { rows, produced, text } = this.header;
    return fill(produced ? text.row_produces : text.row_reads, { row, query: isolate(rows[row]), produced: produced ? isolate(produced[row]) : "" });
  }

  /** The row in play in a sentence; with a column, whether that key may be read. */
  describe({ row, col }) {
    const { rows, text } = this.header;
    if (row === null) return `${isolate(rows[col])} (${col})`;
    const seen = seenBy(this.mask, row), values = { row: this.rowText(row), count: seen.length, length: this.mask.size, keys: seen.map(at => isolate(rows[at])).join(" ") };
    const whole = fill(seen.length ? text.row_sees : text.row_sees_nothing, values);
    if (col === null) return whole;
    const allowed = this.mask.cells[row * this.mask.size + col];
    return `${fill(allowed ? text.cell_allowed : text.cell_hidden, { row: this.rowText(row), key: isolate(rows[col]), column: col })} ${whole}`;
  }

  get caption() {
    const { text, caption, presets, own } = this.header, known = this.name === "" ? own : this.name;
    return [fill(text.caption_sentence, caption), fill(text.caption_mask, { name: Object.hasOwn(presets, known) ? text[known] : text.painted, attention: caption.attention })];
  }

  async file(kind) {
    const { caption } = this, name = fileName([this.header.caption.model, "mask"], kind);
    if (kind === "csv") return { blob: csvOf(this.mask, this.header, caption), name, caption };
    const one = this.painter.geometry, other = this.lineGeometry, look = this.look;
    const picture = { width: one.width + BETWEEN + other.width, height: Math.max(one.height, other.height), draw: surface => {
      drawCells(surface, this.theme, one, this.mask, look, { x: 0, y: 0, w: one.width, h: one.height });
      surface.shift(one.width + BETWEEN, 0, () => drawLines(surface, this.theme, other, this.mask, look, { x: 0, y: 0, w: other.width, h: other.height }));
    } };
    return { blob: await pictureOf(kind, this.theme, picture, caption), name, caption };
  }

  write() {
    const url = new URL(location.href), set = (name, value) => value ? url.searchParams.set(name, value) : url.searchParams.delete(name);
    set("mask", this.name);
    set("notation", this.notation === "plain" ? "" : this.notation);
    replaceAddress(url.href);
  }

  get inner() { return Math.max(220, this.width - (this.width < 520 ? 26 : 42)); }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    const beside = this.inner > 760, room = beside ? Math.min(this.inner * 0.56, 620) : this.inner;
    this.painter.fit(room);
    this.lineGeometry = layoutLines(this.theme, this.header, beside ? this.inner - this.painter.geometry.width - BETWEEN : this.inner);
    this.lines.fit(this.lineGeometry.width, this.lineGeometry.height, 680);
    this.show();
    this.paint();
  }

  paint() {
    this.painter.stage.paint(this.theme);
    this.lines.paint(this.theme);
    const at = this.hover ?? this.cursor, spoken = at ? this.describe(at) : "";
    if (this.live.textContent !== spoken) this.live.textContent = spoken;
    this.table.show(this.mask, this.header);
    this.root.dataset.mask = this.name;
    this.root.dataset.cell = Math.round(this.painter.geometry.cell);
    this.root.dataset.corner = `${this.painter.geometry.left},${this.painter.geometry.top}`;
    this.root.dataset.painted = ++this.painted;
  }

  close() {
    if (this.timer) { clearTimeout(this.timer); this.send("mask", this.name); }
    super.close();
  }
}

export default mount(".mask-painter", MaskPainter);
