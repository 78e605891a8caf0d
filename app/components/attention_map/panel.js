// The enlarged matrix with its pointer, its keyboard cursor and its scale bar.
import { cellAfter } from "./keys.js";
import { boxOfCell, drawMatrix, hitMatrix, layoutMatrix } from "./matrix.js";
import { drawScale, layoutScale, paintScale } from "./scale.js";
import { scaleEnd } from "./opened.js";
import { strongest } from "./reduce.js";
import { Stage } from "./stage.js";
import { element } from "./template.js";

export class MatrixPanel {
  constructor(app) {
    this.app = app;
    this.stage = new Stage({
      name: "matrix",
      onDraw: (surface, view) => drawMatrix(surface, app.theme, this.geometry, this.opened, app.focus, view),
      onPoint: (x, y, event) => app.point(hitMatrix(this.geometry, this.opened.axes, x, y, this.stage.view), event),
      onLeave: () => app.point(null),
      onPress: (x, y) => app.fix(hitMatrix(this.geometry, this.opened.axes, x, y, this.stage.view), { from: this.stage.frame }),
    });
    const { text } = app.payload.header, { frame } = this.stage;
    this.stage.keyboard(text.matrix, text.matrix_hint, event => this.key(event));
    this.scale = element("canvas", { class: "scale-bar", "aria-hidden": "true", "data-testid": "scale" });
    this.node = element("div", { class: "matrix-panel" }, frame, this.scale);
  }

  measure(opened, available) {
    return layoutMatrix(this.app.theme, opened.axes, { available, smallest: available < 480 ? 22 : 20 });
  }

  show(opened, available, tallest) {
    this.opened = opened;
    this.geometry = this.measure(opened, available);
    this.stage.fit(this.geometry.width, this.geometry.height, tallest);
    const { text } = this.app.payload.header;
    this.legend = layoutScale(this.app.theme, { high: scaleEnd(opened), masked: opened.map.anyMasked ? text.masked : "", room: available - 4 });
    paintScale(this.scale, this.app.theme, this.legend);
  }

  paint() {
    this.stage.paint(this.app.theme);
  }

  /** Brings what is pointed at elsewhere into sight: its row, its column, or for a row alone its largest cell. */
  reveal({ query, key }) {
    const { map } = this.opened, row = query ?? strongest(map, { col: key }), col = key ?? strongest(map, { row: query });
    if (row !== null && col !== null) this.stage.reveal(boxOfCell(this.geometry, row, col), this.geometry.left, this.geometry.top);
  }

  /** The whole matrix with its scale, for export. */
  get picture() {
    const { geometry, legend, app } = this;
    return {
      width: Math.max(geometry.width, legend.width + 4), height: geometry.height + 14 + legend.height,
      draw: surface => {
        drawMatrix(surface, app.theme, geometry, this.opened, app.focus, { x: 0, y: 0, w: geometry.width, h: geometry.height });
        drawScale(surface, app.theme, legend, 2, geometry.height + 18);
      },
    };
  }

  key(event) {
    const { app, opened } = this, { query, key } = app.pin ?? { query: null, key: null };
    const next = cellAfter(event, opened.map, query === null && key === null ? null : [query ?? 0, key ?? 0]);
    if (!next) return;
    const [row, col] = next;
    app.hover = null;
    app.fix({ query: row, key: col }, { keep: true, from: this.stage.frame });
    this.stage.reveal(boxOfCell(this.geometry, row, col), this.geometry.left, this.geometry.top);
  }
}
