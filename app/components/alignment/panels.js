// The matrix and the ribbon, each with its pointer and its keyboard cursor.
import { cellAfter } from "./keys.js";
import { drawMarks } from "./marks.js";
import { boxOfCell, drawMatrix, hitMatrix, layoutMatrix } from "./matrix.js";
import { drawRibbon, hitRibbon, layoutRibbon } from "./ribbon.js";
import { drawScale, layoutScale, paintScale } from "./scale.js";
import { Stage } from "./stage.js";
import { element } from "./template.js";

const TALLEST = 620, WHOLE = (width, height) => ({ x: 0, y: 0, w: width, h: height });

function keyboard(frame, label, hint, onKey) {
  for (const [name, value] of Object.entries({ tabindex: "0", role: "application", "aria-label": label, "aria-description": hint })) frame.setAttribute(name, value);
  frame.onkeydown = onKey;
}

export class MatrixPanel {
  constructor(app, { text }) {
    this.app = app;
    this.stage = new Stage({
      name: "matrix",
      onDraw: (surface, view) => this.draw(surface, view),
      onPoint: (x, y, event) => app.point(this.at(x, y), event),
      onLeave: () => app.point(null),
      onPress: (x, y) => app.press(this.at(x, y)),
    });
    keyboard(this.stage.frame, text.matrix, text.matrix_hint, event => this.key(event));
    this.scale = element("canvas", { class: "scale-bar", "aria-hidden": "true" });
    this.node = element("div", { class: "picture" }, this.stage.frame, this.scale);
  }

  measure(available) { return layoutMatrix(this.app.theme, this.app.shown.axes, { available, smallest: available < 480 ? 26 : 20 }); }

  fit(available) {
    const { theme } = this.app;
    this.geometry = this.measure(available);
    this.stage.fit(this.geometry.width, this.geometry.height, TALLEST);
    this.legend = layoutScale(theme, { high: "1", room: available - 4 });
    paintScale(this.scale, theme, this.legend);
  }

  at(x, y) {
    const { axes } = this.app.shown, found = hitMatrix(this.geometry, axes, x, y, this.stage.view);
    return found && this.app.focusAt(found.query, found.key);
  }

  draw(surface, view) {
    const { app } = this, { theme, shown, focus } = app, [query, key] = app.cellOf(focus);
    drawMatrix(surface, theme, this.geometry, { map: shown.map, axes: shown.axes, bitmap: shown.bitmap, runs: [], messages: [] }, { query, key }, view);
    drawMarks(surface, theme, this.geometry, shown.cells, view);
    if (!focus.at && app.state.unit === "pieces") this.outline(surface, view, focus);
    if (query === null || key === null) return;
    const box = boxOfCell(this.geometry, query, key), { left, top } = this.geometry;
    surface.clip({ x: left - 2, y: top - 2, w: view.w, h: view.h }, () => // once more, above the marks
      surface.rect({ x: box.x - view.x - 1.5, y: box.y - view.y - 1.5, w: box.w + 3, h: box.h + 3, r: 4, stroke: theme.key, width: 2.6 }));
  }

  /** A word that was pointed at in the text: all of its pieces. */
  outline(surface, view, focus) {
    const { theme, shown } = this.app, { geometry: g } = this, rows = shown.extents.rows.get(focus.row), cols = shown.extents.cols.get(focus.col);
    const frame = (x, y, w, h, stroke) => surface.rect({ x: x - view.x - 0.5, y: y - view.y - 0.5, w: w + 1, h: h + 1, r: 3, stroke, width: 2 });
    surface.clip({ x: g.left - 2, y: g.top - 2, w: view.w, h: view.h }, () => {
      if (rows) frame(g.left, g.top + rows[0] * g.cell, g.gridWidth, (rows[1] - rows[0] + 1) * g.cell, theme.target);
      if (cols) frame(g.left + cols[0] * g.cell, g.top, (cols[1] - cols[0] + 1) * g.cell, g.gridHeight, theme.source);
    });
  }

  paint() { this.stage.paint(this.app.theme); }

  reveal(focus) {
    const { shown } = this.app, [query, key] = focus.at ?? [shown.extents.rows.get(focus.row)?.[0] ?? null, shown.extents.cols.get(focus.col)?.[0] ?? null];
    if (query === null && key === null) return;
    const row = query ?? strongest(shown.map, null, key), col = key ?? strongest(shown.map, query, null);
    this.stage.reveal(boxOfCell(this.geometry, row, col), this.geometry.left, this.geometry.top);
  }

  key(event) {
    const { app } = this, { axes } = app.shown, from = app.cursor;
    if ((event.key === "Enter" || event.key === " ") && from) {
      event.preventDefault();
      event.stopPropagation();
      return app.press(app.focusAt(...from), true);
    }
    const next = cellAfter(event, { rows: axes.rows.items.length, cols: axes.cols.items.length }, from);
    if (!next) return undefined;
    app.hover = null;
    app.fix(app.focusAt(...next), true);
    this.stage.reveal(boxOfCell(this.geometry, ...next), this.geometry.left, this.geometry.top);
    return undefined;
  }

  get picture() {
    const { geometry, legend, app } = this;
    return { width: Math.max(geometry.width, legend.width + 4), height: geometry.height + 14 + legend.height, draw: surface => {
      this.draw(surface, WHOLE(geometry.width, geometry.height));
      drawScale(surface, app.theme, legend, 2, geometry.height + 16);
    } };
  }
}

function strongest({ rows, cols, values }, row, col) {
  let best = 0;
  const at = i => values[row === null ? i * cols + col : row * cols + i];
  for (let i = 1; i < (row === null ? rows : cols); i++) if (at(i) > at(best)) best = i;
  return best;
}

export class RibbonPanel {
  constructor(app, { text }) {
    this.app = app;
    this.stage = new Stage({
      name: "ribbon",
      onDraw: (surface, view) => drawRibbon(surface, app.theme, this.geometry, app.shown, app.focus, view),
      onPoint: (x, y, event) => app.point(this.at(x, y), event),
      onLeave: () => app.point(null),
      onPress: (x, y) => app.fix(this.at(x, y)),
    });
    keyboard(this.stage.frame, text.ribbon, text.ribbon_hint, event => this.key(event));
    this.node = element("div", { class: "picture" }, this.stage.frame);
  }

  fit(available) {
    this.geometry = layoutRibbon(this.app.theme, this.app.shown.axes, available);
    this.stage.fit(this.geometry.width, this.geometry.height, TALLEST);
  }

  at(x, y) {
    const { view } = this.stage, found = hitRibbon(this.geometry, x + view.x, y + view.y);
    return found && this.app.focusAt(found.row ?? null, found.col ?? null);
  }

  paint() { this.stage.paint(this.app.theme); }

  reveal(focus) {
    const [row, col] = this.app.cellOf(focus), chip = row !== null ? this.geometry.rows[row] : col !== null ? this.geometry.cols[col] : null;
    if (chip) this.stage.reveal(chip);
  }

  /** Left and right along a line, up and down between the two. */
  key(event) {
    const { app } = this, step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], side = { ArrowUp: "cols", ArrowDown: "rows" }[event.key];
    if ((!step && !side) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const before = app.ribbonCursor ?? { side: "cols", at: step > 0 ? -1 : 0 }, to = side ?? before.side, line = app.shown.axes[to].items;
    const at = Math.max(0, Math.min(line.length - 1, before.at + (step ?? 0)));
    app.ribbonCursor = { side: to, at };
    app.hover = null;
    app.fix(to === "rows" ? app.focusAt(at, null) : app.focusAt(null, at), true);
    this.stage.reveal(this.geometry[to][at]);
  }

  get picture() {
    const { geometry, app } = this;
    return { width: geometry.width, height: geometry.height, draw: surface => drawRibbon(surface, app.theme, geometry, app.shown, app.focus, WHOLE(geometry.width, geometry.height)) };
  }
}
