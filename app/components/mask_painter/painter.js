// The matrix under the pointer and the keyboard: a press turns a cell over, dragging gives the next cells the same.
import { boxOf, drawCells, hitCells, layoutCells } from "./cells.js";
import { Stage } from "./stage.js";

const TALLEST = 640;

export class Painter {
  constructor(app) {
    this.app = app;
    this.stage = new Stage({
      name: "mask-cells",
      onDraw: (surface, view) => drawCells(surface, app.theme, this.geometry, app.mask, app.look, view),
      onPoint: (x, y, event) => this.move(this.hit(x, y), event),
      onLeave: () => app.point(null),
    });
    const { frame, canvas } = this.stage, { text } = app.header;
    for (const [name, value] of Object.entries({ tabindex: "0", role: "application", "aria-label": text.matrix, "aria-description": text.matrix_hint })) frame.setAttribute(name, value);
    canvas.onpointerdown = event => this.press(event);
    canvas.onpointerup = () => this.release(true);
    canvas.onpointercancel = () => this.release(false);
    frame.onkeydown = event => this.key(event);
  }

  hit(x, y) { return hitCells(this.geometry, this.app.mask.size, x, y, this.stage.view); }

  fit(room) {
    this.geometry = layoutCells(this.app.theme, this.app.header, room);
    this.stage.fit(this.geometry.width, this.geometry.height, TALLEST);
  }

  press(event) {
    const cell = this.hit(...this.stage.at(event));
    if (!cell || event.button) return;
    const { size, cells } = this.app.mask;
    this.brush = { value: 1 - cells[cell.row * size + cell.col], last: cell, begun: false };
    if (event.pointerType === "touch") return; // it may become scrolling; a tap or a drag along the row paints
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.begin();
  }

  begin() {
    this.brush.begun = true;
    this.app.keep();
    this.stroke(this.brush.last);
  }

  move(cell, event) {
    if (this.brush && cell && event.buttons && (cell.row !== this.brush.last.row || cell.col !== this.brush.last.col)) {
      if (!this.brush.begun) this.begin();
      this.stroke(cell);
    }
    this.app.point(cell);
  }

  /** Every cell between the last one and this one: a quick pointer skips some. */
  stroke(cell) {
    const { last, value } = this.brush, steps = Math.max(1, Math.abs(cell.row - last.row), Math.abs(cell.col - last.col));
    const between = (from, to, i) => Math.round(from + (to - from) * i / steps);
    this.brush.last = cell;
    this.app.paintCells([...Array(steps + 1).keys()].map(i => [between(last.row, cell.row, i), between(last.col, cell.col, i)]), value);
  }

  release(done) {
    if (done && this.brush && !this.brush.begun) this.begin();
    this.brush = null;
  }

  key(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const { app } = this, { size, cells } = app.mask, { row, col } = app.cursor ?? { row: 0, col: 0 }, value = cells[row * size + col], all = [...Array(size).keys()];
    const move = { ArrowUp: [row - 1, col], ArrowDown: [row + 1, col], ArrowLeft: [row, col - 1], ArrowRight: [row, col + 1], Home: [row, 0], End: [row, size - 1] }[event.key];
    const whole = { r: all.map(at => [row, at]), c: all.map(at => [at, col]) }[event.key];
    if (move) {
      const next = { row: Math.max(0, Math.min(size - 1, move[0])), col: Math.max(0, Math.min(size - 1, move[1])) };
      if (event.shiftKey) { app.keep(); app.paintCells([[next.row, next.col]], value); }
      app.stand(next);
      this.stage.reveal(boxOf(this.geometry, next.row, next.col), this.geometry.left, this.geometry.top);
    } else if (event.key === " " || event.key === "Enter" || whole) {
      app.keep();
      app.paintCells(whole ?? [[row, col]], 1 - value);
      app.stand({ row, col });
    } else if (event.key === "u") app.undo();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
