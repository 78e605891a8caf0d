// One matrix in a frame of its own: pointer, keyboard cursor, name and size beneath.
import { boxOf, drawGrid, hitGrid, layoutGrid } from "./grid.js";
import { cellAfter } from "./keys.js";
import { bitmapOf, roleColour } from "./numbers.js";
import { Stage } from "./stage.js";
import { element, fill } from "./template.js";
import { css } from "./theme.js";

const TALLEST = 920, NARROWEST = 120; // 64 rows stand there whole

export class MatrixPanel {
  constructor(app, matrix) {
    this.app = app;
    this.matrix = matrix;
    const { text } = app.payload.header;
    this.stage = new Stage({
      name: `matrix-${matrix.id}`,
      onDraw: (surface, view) => drawGrid(surface, app.theme, this.geometry, this.shown, this.bitmap, this.marks, view),
      onPoint: (x, y, event) => app.point(this.matrix, hitGrid(this.geometry, this.matrix, x, y, this.stage.view), event),
      onLeave: () => app.point(null, null),
      onPress: (x, y) => { const cell = hitGrid(this.geometry, this.matrix, x, y, this.stage.view); if (cell) app.press(this.matrix, cell); },
    });
    const { frame } = this.stage;
    this.stage.keyboard(this.name(), text.matrix_hint, event => this.key(event));
    this.title = element("figcaption", {}, element("b", {}, matrix.title), element("span", { class: "size" }, this.size()));
    this.node = element("figure", { class: "matrix" }, frame, this.title);
    this.marks = {};
  }

  name() {
    return fill(this.app.payload.header.text.name, { title: this.matrix.title, size: this.size() });
  }

  size() {
    const { rows, cols, along } = this.matrix;
    const extent = (axis, count) => axis.extent || `${axis.name} ${count}`.trim();
    return fill(this.app.payload.header.text.rows_by_columns, { rows: extent(along.rows, rows), columns: extent(along.cols, cols) });
  }

  /** `shown` is the matrix, or what is drawn in its place: the difference from the original; `room` as in `layoutGrid`. */
  show(factor, shown, room = 0) {
    const { app, matrix } = this;
    this.shown = shown;
    this.geometry = layoutGrid(app.theme, shown, factor, room);
    this.bitmap = bitmapOf(app.theme, shown, shown.values);
    const { width, height, top, tall } = this.geometry;
    this.stage.fit(width, height, height > TALLEST ? top + Math.floor((TALLEST - top) / tall) * tall : null); // rows are never cut
    this.title.style.setProperty("--left", `${this.geometry.left}px`);
    this.title.style.maxWidth = `${Math.max(NARROWEST, Math.ceil(this.geometry.width))}px`; // a long caption wraps, and takes no room from others
    this.title.firstChild.style.color = css(roleColour(app.theme, matrix.role));
  }

  paint(marks) {
    this.marks = marks;
    this.stage.paint(this.app.theme);
  }

  /** Scrolls within its frame to what is marked: a cell, a row or a column. */
  reveal({ cell = [], row = cell[0], col = cell[1] }) {
    const { geometry: g, stage } = this, { scrollLeft, scrollTop } = stage.frame, box = boxOf(g, row ?? 0, col ?? 0);
    if (row === undefined) Object.assign(box, { y: scrollTop + g.top, h: 0 });
    if (col === undefined) Object.assign(box, { x: scrollLeft + g.left, w: 0 });
    stage.reveal(box, g.left, g.top);
  }

  key(event) {
    if (event.altKey || event.metaKey) return;
    const { app, matrix } = this, next = cellAfter(event, matrix, app.cursorIn(matrix));
    if (!next) return app.stepKey(event);
    const [row, col] = next;
    app.press(matrix, { row, col });
    this.reveal({ cell: next });
    return undefined;
  }
}
