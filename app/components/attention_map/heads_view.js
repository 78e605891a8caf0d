// Heads: every layer and head at once, one of them opened as a matrix and as lines.
import { switchable } from "./axes.js";
import { button, choice, replaceControls } from "./controls.js";
import { Taken } from "./export_bar.js";
import { drawLines, hitLines, layoutLines, sample, THRESHOLD } from "./lines.js";
import { attentionName, conventionOf, openHead, pathOf, removedNote, titleOf } from "./opened.js";
import { OverviewPanel } from "./overview_panel.js";
import { MatrixPanel } from "./panel.js";
import { mapOf, reduce } from "./reduce.js";
import { Stage } from "./stage.js";
import { TableTwin } from "./table.js";
import { fits, layerAndHead, sharedControls } from "./switches.js";
import { headStyle } from "./theme.js";
import { element, fill, pathNodes } from "./template.js";

const TALLEST = 660, SIDE_BY_SIDE = 860, BETWEEN = 30;

export class HeadsView {
  constructor(app) {
    this.app = app;
    const { text } = app.payload.header;
    this.overview = new OverviewPanel(app);
    this.matrix = new MatrixPanel(app);
    this.lines = new Stage({
      name: "lines",
      onDraw: (surface, view) => drawLines(surface, app.theme, this.linesAt, this.lineModel(), app.focus, view),
      onPoint: (x, y, event) => app.point(hitLines(this.linesAt, this.opened.axes, x, y, this.lines.view), event),
      onLeave: () => app.point(null),
      onPress: (x, y) => app.fix(hitLines(this.linesAt, this.opened.axes, x, y, this.lines.view), { from: this.lines.frame }),
    });
    this.table = new TableTwin(text);
    this.controls = element("div", { class: "controls" });
    this.title = element("h3", { "data-testid": "opened-title" });
    this.path = element("code", { class: "path", dir: "ltr" });
    this.pickers = element("div", { class: "controls" });
    this.chips = element("div", { class: "chips", role: "group", "aria-label": text.overlay, "data-testid": "overlay" });
    this.note = element("p", { class: "note", "data-testid": "note" });
    this.loading = element("p", { class: "loading", role: "status", "data-testid": "loading" }, app.offline ? text.left_out : text.loading);
    this.into = button({ name: "step-into", label: text.step_into, title: text.step_into_hint, className: "action served", onPick: () => app.tell("into", { attention: app.state.attention, layer: app.state.layer, head: app.state.head }) });
    this.taken = new Taken(app, () => ({ opened: this.opened, picture: this.picture }));
    const linesPanel = element("div", { class: "lines-panel" }, element("div", { class: "lines-head" }, element("h4", {}, text.lines), this.chips), this.lines.frame,
      element("p", { class: "hint" }, fill(text.lines_hint), " ", fill(text.lines_threshold, { threshold: THRESHOLD })));
    this.matrix.node.append(app.live, this.note);
    this.pair = element("div", { class: "pair" }, this.matrix.node, linesPanel);
    this.body = element("div", {}, this.pair, this.table.details, this.taken.node);
    this.card = element("section", { class: "card opened", "data-testid": "opened" },
      element("div", { class: "opened-head" }, element("div", {}, this.title, this.path),
        element("div", { class: "opened-actions" }, this.into, button({ name: "reset", label: `✕ ${text.reset}`, title: text.reset_hint, onPick: () => app.reset() }))),
      this.pickers, this.loading, this.body);
    this.node = element("div", {}, element("section", { class: "card" }, this.controls, this.overview.node), this.card);
  }

  render() {
    const { app } = this, { state, payload } = app, inner = app.inner;
    this.opened = openHead(app.data, state, app.theme);
    replaceControls(this.controls, this.controlsOf());
    this.overview.show(inner, this.opened);
    this.card.hidden = !this.opened;
    if (!this.opened) return;
    const { text } = payload.header, { opened } = this;
    this.title.textContent = titleOf(text, opened);
    this.into.hidden = opened.head === "mean" || payload.header.steps === false;
    this.path.replaceChildren(...pathNodes(pathOf(opened)));
    replaceControls(this.pickers, this.pickersOf(opened));
    this.loading.hidden = !opened.loading;
    this.body.hidden = Boolean(opened.loading);
    if (opened.loading) return app.fetch({ attention: opened.attention.id, layer: opened.layer, head: opened.head });
    this.arrange(inner);
    this.chips.replaceChildren(...this.chipsOf());
    this.note.textContent = [conventionOf(text, opened), removedNote(opened)].filter(Boolean).join(" ");
    this.table.show(opened, app.focus);
  }

  /** Matrix and lines side by side where both fit, else one above the other. */
  arrange(inner) {
    const { opened } = this, half = Math.floor((inner - BETWEEN) * 0.57);
    const beside = inner >= SIDE_BY_SIDE && this.matrix.measure(opened, half).width <= half * 1.2;
    this.pair.classList.toggle("beside", beside);
    const matrixRoom = beside ? Math.min(half, Math.max(400, Math.ceil(this.matrix.measure(opened, half).width) + 16)) : inner;
    this.pair.style.setProperty("--matrix-room", `${matrixRoom}px`);
    this.matrix.show(opened, beside ? matrixRoom : inner, TALLEST);
    this.linesAt = layoutLines(this.app.theme, opened.axes, { available: beside ? inner - matrixRoom - BETWEEN : inner, height: beside ? Math.min(TALLEST, this.matrix.geometry.height) : 420 });
    this.lines.fit(this.linesAt.width, this.linesAt.height, TALLEST);
    this.overlays = null;
  }

  paint() {
    const { app } = this;
    this.overview.paint();
    if (!this.opened || this.opened.loading) return;
    this.matrix.paint();
    this.lines.paint(app.theme);
  }

  refocus(from) {
    if (!this.opened || this.opened.loading) return;
    const { focus } = this.app;
    if (from === this.lines.frame && (focus.query !== null || focus.key !== null)) this.matrix.reveal(focus);
    if (from !== this.lines.frame && focus.query !== null) this.lines.reveal({ x: 0, y: this.linesAt.rowY(focus.query) - 14, w: 1, h: 28 }, 0, this.linesAt.top);
    this.matrix.paint();
    this.lines.paint(this.app.theme);
    this.table.follow(focus);
  }

  controlsOf() {
    const { app } = this, { header, attentions } = app.payload, { text } = header, { state } = app;
    const names = attentions.map(entry => ({ value: entry.id, label: attentionName(text, entry.id) }));
    const picked = attentions.length > 1 && state.overview === "all" ? "all" : state.attention;
    const all = { value: "all", label: text.all_attentions };
    return [
      attentions.length > 1 && choice({ ...fits(app), name: "attention", label: text.attention, options: [all, ...names], value: picked,
        onPick: value => app.set(value === "all" ? { overview: "all" } : { overview: "one", attention: value }) }),
      ...sharedControls(app, attentions.some(switchable)),
    ];
  }

  pickersOf({ attention }) {
    const { app } = this, { text } = app.payload.header;
    return layerAndHead(app, attention, text);
  }

  chipsOf() {
    const { app, opened } = this;
    if (opened.attention.pooled) return [];
    return [...Array(opened.attention.heads).keys()].map(head => {
      const main = head === opened.head, on = main || app.overlay.has(head), style = headStyle(app.theme, head);
      return element("button", { type: "button", class: "chip", "aria-pressed": String(on), "aria-disabled": main ? "true" : null, "data-testid": `overlay-${head}`,
        title: fill(app.payload.header.text.head_number, { head: head + 1 }), onclick: () => main || app.overlayHead(head) }, sample(style), String(head + 1));
    });
  }

  /** The opened head first, then those laid over it; reduced once and kept until something changes. */
  lineModel() {
    const { app, opened } = this, { text } = app.payload.header;
    this.overlays ??= [...app.overlay].filter(head => head !== opened.head && !opened.attention.pooled && head < opened.attention.heads).sort((a, b) => a - b)
      .map(head => ({ head, map: reduce(mapOf(opened.attention, opened.layer, head), opened.axes) }));
    const layers = [{ head: opened.head, map: opened.map }, ...this.overlays].map(({ head, map }) => ({
      map, name: head === "mean" ? "x̄" : String(head + 1), ...headStyle(app.theme, head), ...(this.overlays.length ? {} : { colour: app.theme.target, dash: [] }),
    }));
    return { axes: opened.axes, layers, titles: { rows: text[opened.axes.rows.side], cols: text[opened.axes.cols.side] } };
  }

  get picture() {
    const { matrix, linesAt, app } = this, left = matrix.picture;
    return {
      width: left.width + BETWEEN + linesAt.width, height: Math.max(left.height, linesAt.height),
      draw: surface => {
        left.draw(surface);
        surface.shift(left.width + BETWEEN, 0, () => drawLines(surface, app.theme, linesAt, this.lineModel(), app.focus, { x: 0, y: 0, w: linesAt.width, h: linesAt.height }));
      },
    };
  }

  get focusable() { return this.opened && !this.opened.loading ? this.opened : null; }
}
