// The component: keeps the chosen step and cell, plays, speaks, and cleans up.
import { decode, matricesOf } from "./block.js";
import { cellIn, placeElsewhere, readChosen, rememberPlace, writeChosen } from "./chosen.js";
import { explain } from "./laws.js";
import { cellValue, placeText } from "./grid.js";
import { Drawn, mount } from "./mount.js";
import { written } from "./numbers.js";
import { SceneView } from "./scene.js";
import { element, fill } from "./template.js";
import { placeTip } from "./tip.js";

const BEAT = 220, PAUSE = 1600, SWEEP = 24;

class Matrices extends Drawn {
  constructor(root) {
    super(root);
    this.tooltip = element("div", { class: "tooltip", "aria-hidden": "true", hidden: true });
  }

  update({ data, setStateValue, setTriggerValue }) {
    this.setState = setStateValue;
    this.send = setTriggerValue;
    const payload = decode(data);
    this.receive(payload, payload.header.digest === this.payload?.header.digest);
  }

  open(payload) {
    const first = !this.payload, { header, matrices } = payload;
    const elsewhere = first ? placeElsewhere(header) : null;
    this.payload = payload;
    this.chosen = readChosen(header, matrices, this.chosen);
    this.hover = null;
    if (!matrices.has(this.cursor?.id)) this.cursor = null;
    if (elsewhere) this.setState("place", elsewhere);
    else rememberPlace(header);
    if (!this.view || this.language !== header.text.steps) {
      this.language = header.text.steps;
      this.view = new SceneView(this);
      this.root.replaceChildren(this.view.node, this.tooltip);
    }
    this.asGroup(header.text.steps);
    if (!elsewhere) writeChosen(header, this.chosen);
  }

  file(kind) { return this.view.file(kind); }

  write() { writeChosen(this.payload.header, this.chosen); }

  get scene() { return this.payload.header.scenes.find(scene => scene.id === this.chosen.step) ?? this.payload.header.scenes[0]; }

  get result() { return matricesOf(this.scene, this.payload.matrices).at(-1); }

  get cell() { return cellIn(this.scene, this.result, this.chosen); }

  get explained() { return explain(this.scene, this.payload.matrices, ...this.cell); }

  get inner() { return Math.max(220, this.width - (this.width < 520 ? 26 : 42)); }

  /** What the pointer or else the keyboard is on. */
  get pointed() {
    const at = this.hover ?? this.cursor;
    return at ? { matrix: this.payload.matrices.get(at.id), cell: at.cell } : null;
  }

  /** Where the keyboard stands in a matrix: on its own cursor, or where the chosen cell has its mark. */
  cursorIn(matrix) {
    if (this.cursor?.id === matrix.id) return this.cursor.cell;
    const marks = this.explained.marks.get(matrix.id) ?? {};
    return marks.cell ?? [marks.row ?? 0, marks.col ?? 0];
  }

  point(matrix, cell, event) {
    const next = matrix && cell ? { id: matrix.id, cell: [cell.row, cell.col] } : null;
    if (event) this.tip(next && this.describe(matrix, next.cell), event);
    else this.tooltip.hidden = true;
    if (JSON.stringify(next) === JSON.stringify(this.hover)) return;
    this.hover = next;
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.paint(); });
  }

  /** A cell was chosen: of the result it is explained; of an operand its row or column comes into play. */
  press(matrix, { row, col }) {
    this.stop();
    this.cursor = { id: matrix.id, cell: [row, col] };
    const [r, c] = this.cell, marks = this.explained.marks.get(matrix.id) ?? {};
    if (this.scene.law === "same" && !this.explained.marks.has(matrix.id)) return this.paint();
    const whole = matrix.rows === this.result.rows && matrix.cols === this.result.cols;
    if (matrix.id === this.result.id || whole) this.choose([row, col]);
    else if (marks.col !== undefined && marks.row === undefined) this.choose([r, col]);
    else if (matrix.rows === this.result.rows) this.choose([row, c]);
    else if (matrix.cols === this.result.cols) this.choose([r, col]);
    else this.paint();
    return undefined;
  }

  choose(cell) {
    this.chosen = { ...this.chosen, cell };
    writeChosen(this.payload.header, this.chosen);
    this.paint();
  }

  step(id) {
    this.stop();
    this.to(id);
  }

  to(id) {
    const before = this.result;
    this.chosen = { ...this.chosen, step: id };
    // Between results of the same rows the chosen row is kept; a column means something else in another matrix.
    const { result } = this;
    if (this.chosen.cell && (result.along.cols.name !== before.along.cols.name || result.cols !== before.cols)) {
      const kept = this.scene.cell ?? [0, 0];
      this.chosen.cell = result.rows === before.rows ? [this.chosen.cell[0], Math.min(kept[1], result.cols - 1)] : null;
    }
    this.cursor = this.hover = null;
    writeChosen(this.payload.header, this.chosen);
    this.render();
  }

  move(by) {
    const { scenes } = this.payload.header, at = scenes.indexOf(this.scene) + by;
    if (at >= 0 && at < scenes.length) this.step(scenes[at].id);
  }

  stepKey(event) {
    const by = { n: 1, p: -1 }[event.key];
    if (!by || event.ctrlKey) return;
    event.preventDefault();
    this.move(by);
    this.view.panels.get(this.result.id).stage.frame.focus({ preventScroll: true }); // the matrix that had the focus is gone
  }

  showDifference(on) {
    this.chosen = { ...this.chosen, difference: on };
    this.write();
    this.render();
  }

  play() {
    if (this.playing) return this.stop(true);
    this.playing = true;
    const { scenes } = this.payload.header;
    if (this.scene === scenes.at(-1)) this.to(scenes[0].id);
    this.render();
    return this.beat(0);
  }

  /** Sweeps the columns of the chosen row, then goes to the next step; without motion only the steps. */
  beat(column) {
    const { result } = this, still = matchMedia("(prefers-reduced-motion: reduce)").matches, many = result.cols > SWEEP;
    const swept = still || many || column >= result.cols;
    if (!swept) this.choose([this.cell[0], column]);
    this.timer = setTimeout(() => {
      if (!swept) return this.beat(column + 1);
      const { scenes } = this.payload.header, next = scenes[scenes.indexOf(this.scene) + 1];
      if (!next) return this.stop(true);
      this.to(next.id);
      return this.beat(0);
    }, swept ? PAUSE : BEAT);
  }

  stop(draw = false) {
    clearTimeout(this.timer);
    if (!this.playing) return;
    this.playing = false;
    if (draw) this.render();
  }

  describe(matrix, [row, col]) {
    const { text } = this.payload.header, at = row * matrix.cols + col;
    const values = { title: matrix.title, row: placeText(matrix.along.rows, row), column: placeText(matrix.along.cols, col), value: cellValue(matrix, at) };
    if (matrix.masked?.[at]) return fill(text.cell_masked, values);
    if (matrix.before) return fill(text.cell_before, { ...values, before: written(matrix.before[at]) });
    return fill(text.cell, values);
  }

  tip(sentence, event) {
    this.tooltip.hidden = !sentence;
    if (!sentence) return;
    this.tooltip.textContent = sentence;
    placeTip(this.root, this.tooltip, event);
  }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    this.view.render();
    this.mark();
  }

  paint() {
    this.view.paint();
    this.mark();
  }

  /** Tells tests and benchmarks that a paint is done, and which cell is chosen. */
  mark() {
    this.root.dataset.painted = ++this.painted;
    this.root.dataset.step = this.scene.id;
    this.root.dataset.cell = this.cell.join(",");
  }

  close() {
    clearTimeout(this.timer);
    super.close();
  }
}

export default mount(".matrices", Matrices);
