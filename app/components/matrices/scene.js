// One scene: the steps above, matrices and signs in reading order, how the chosen cell came about, exports.
import { matricesOf } from "./block.js";
import { linkOf } from "./chosen.js";
import { button, choice, replaceControls, toggle } from "./controls.js";
import { exportRow, fileName, pictureOf, tidy } from "./export.js";
import { drawGrid, placeText } from "./grid.js";
import { widthOf } from "./labels.js";
import { roleColour, written } from "./numbers.js";
import { MatrixPanel } from "./panel.js";
import { csvOf, TableTwin } from "./twin.js";
import { element, fill, pathNodes } from "./template.js";
import { css } from "./theme.js";

const SIGN = 34, BETWEEN = 14, SIGN_SIZE = 24;

export class SceneView {
  constructor(app) {
    this.app = app;
    const { text } = app.payload.header;
    this.steps = element("div", { class: "controls steps" });
    this.row = element("div", { class: "scene", "data-testid": "scene" });
    this.note = element("p", { class: "note", "data-testid": "note" });
    this.sentence = element("p", { class: "law", "data-testid": "law" });
    this.rounded = element("p", { class: "hint" }, text.rounded);
    this.terms = element("div", { class: "terms", role: "group", tabindex: "0", "aria-label": text.terms, "data-testid": "terms" });
    this.edit = element("form", { class: "edit served", hidden: true, "data-testid": "edit" });
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live", "data-hint": text.hint });
    this.path = element("code", { class: "path", dir: "ltr" });
    this.table = new TableTwin(text);
    this.exports = exportRow(app, text, () => linkOf(app.payload.header, app.chosen));
    this.node = element("section", { class: "card" }, this.steps, this.row, this.note, this.sentence, this.terms, this.rounded, this.edit, this.live, this.path, this.table.details, this.exports);
  }

  get all() { return matricesOf(this.app.scene, this.app.payload.matrices); }

  /** A matrix as it is drawn: itself, or its difference from the original, around 0 on a scale of its own. */
  shownOf(matrix) {
    if (!this.app.chosen.difference || !matrix.before) return matrix;
    const values = matrix.values.map((value, at) => value - matrix.before[at]);
    const top = values.reduce((most, value) => Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most, 0);
    return { ...matrix, values, before: new Float32Array(values.length), scale: "signed", top };
  }

  render() {
    const { app } = this, { scene } = app;
    if (this.scene !== scene || this.payload !== app.payload) {
      this.scene = scene;
      this.payload = app.payload;
      this.panels = new Map(this.all.map(matrix => [matrix.id, new MatrixPanel(app, matrix)]));
      this.row.replaceChildren(...this.inReadingOrder());
      this.note.textContent = scene.note;
      this.path.replaceChildren(...pathNodes(this.all.map(matrix => matrix.path).filter(Boolean).join(" · ")));
    }
    this.showSteps();
    this.factor = this.fitting(app.inner);
    for (const [id, panel] of this.panels) panel.show(this.factor, this.shownOf(app.payload.matrices.get(id)), this.panels.size === 1 ? app.inner : 0);
    this.paint();
  }

  /** Matrices, each with the signs before it: where the row wraps, no sign stays behind alone. */
  inReadingOrder() {
    const nodes = [];
    let signs = [];
    for (const item of this.scene.items) {
      const panel = this.panels.get(item);
      if (!panel) { signs.push(element("span", { class: "sign" }, item)); continue; }
      nodes.push(signs.length ? element("div", { class: "signed" }, ...signs, panel.node) : panel.node);
      signs = [];
    }
    return [...nodes, ...signs];
  }

  showSteps() {
    const { app } = this, { header } = app.payload, { text, scenes } = header;
    const steps = scenes.length < 2 ? [] : [
      choice({ theme: app.theme, room: app.inner * 2.6, name: "step", label: text.steps, value: app.scene.id, onPick: id => app.step(id),
        options: scenes.map((scene, i) => ({ value: scene.id, label: fill(text.step_number, { number: i + 1, title: scene.title }) })) }),
      element("span", { class: "play" },
        button({ name: "previous", label: "◀", title: text.previous, onPick: () => app.move(-1) }),
        button({ name: "play", label: app.playing ? "❚❚" : "▶", title: app.playing ? text.pause : text.play, onPick: () => app.play() }),
        button({ name: "next", label: "▶|", title: text.next, onPick: () => app.move(1) })),
    ];
    for (const made of steps[1]?.children ?? []) made.setAttribute("aria-label", made.title);
    const differs = this.all.some(matrix => matrix.before);
    replaceControls(this.steps, [...steps, differs && toggle({ name: "difference", label: text.show_difference, value: app.chosen.difference, onPick: on => app.showDifference(on) })]);
    this.steps.hidden = !this.steps.childElementCount;
  }

  /** The largest cells with which the whole scene fits into one row; below the smallest it wraps. */
  fitting(room) {
    const { app } = this;
    for (let factor = 1; factor > 0.5; factor -= 0.1) {
      let width = 0;
      for (const item of this.scene.items) {
        const panel = this.panels.get(item);
        if (panel) panel.show(factor, this.shownOf(panel.matrix));
        width += BETWEEN + (panel ? panel.geometry.width : widthOf(app.theme, item, SIGN_SIZE));
      }
      if (width <= room) return factor;
    }
    return room < 520 ? 0.75 : 0.5;
  }

  paint() {
    const { app } = this, found = app.explained;
    for (const [id, panel] of this.panels) {
      const cursor = app.hover?.id === id ? app.hover.cell : app.cursor?.id === id ? app.cursor.cell : undefined;
      panel.paint({ ...found.marks.get(id), cursor });
    }
    this.reveal(found.marks);
    this.say(found);
    this.table.show(app.payload.matrices.get(app.cursor?.id) ?? found.result, (app.cursor?.cell ?? app.cell)[0]);
  }

  /** A newly chosen cell, and what goes into it, is scrolled into sight; where the visitor scrolls afterwards is left alone. */
  reveal(marks) {
    const { app } = this, key = `${app.scene.id} ${app.cell} ${app.payload.header.digest} ${this.factor}`;
    if (this.revealed === key) return;
    this.revealed = key;
    for (const [id, panel] of this.panels) panel.reveal(marks.get(id) ?? {});
  }

  say({ sentence: [name, values], terms, total, roles, result }) {
    const { app } = this, { text } = app.payload.header, [row, col] = app.cell;
    const place = `${placeText(result.along.rows, row)} · ${placeText(result.along.cols, col)}: `;
    const sentence = name === "law_named" ? fill(text[name], values) : place + fill(text[name], values);
    if (this.sentence.textContent !== sentence) this.sentence.textContent = sentence;
    this.terms.hidden = this.rounded.hidden = !terms;
    if (terms) this.showTerms(terms, total, roles, name === "law_product_bias" ? values.bias : null);
    const at = app.pointed;
    const spoken = at ? app.describe(at.matrix, at.cell) : "";
    if (this.live.textContent !== spoken) this.live.textContent = spoken;
    this.showEdit();
  }

  showTerms(terms, total, roles, bias) {
    const { app } = this, key = `${app.scene.id} ${app.cell} ${app.payload.header.digest} ${app.theme.name}`;
    if (this.termsOf === key) return;
    this.termsOf = key;
    const colours = roles.map(role => css(roleColour(app.theme, role)));
    const factor = (value, i) => element("span", { style: `color:${colours[i]}` }, written(value, 3));
    const line = document.createDocumentFragment();
    terms.forEach(([a, b], i) => line.append(i ? " + " : "", element("span", { class: "term" }, factor(a, 0), "×", factor(b, 1))));
    if (bias !== null) line.append(` + ${bias}`);
    line.append(" = ", element("b", { "data-testid": "total" }, written(total)));
    this.terms.replaceChildren(line);
  }

  showEdit() {
    const { app } = this, at = app.cursor, matrix = at && app.payload.matrices.get(at.id), editable = matrix?.editable;
    this.edit.hidden = !editable;
    const name = editable ? `${at.id} ${at.cell} ${app.payload.header.digest}` : "";
    if (!editable || this.edited === name) return;
    this.edited = name;
    const { text } = app.payload.header, [row, col] = at.cell, value = matrix.values[row * matrix.cols + col];
    const input = element("input", { type: "number", step: "any", required: true, "data-testid": "edit-value", value: Number.isFinite(value) ? value.toFixed(4) : "" });
    const wrong = element("span", { class: "hint", role: "alert" });
    const label = fill(text.edit, { title: matrix.title, row: placeText(matrix.along.rows, row), column: placeText(matrix.along.cols, col) });
    this.edit.replaceChildren(element("label", {}, element("span", {}, label), " ", input), element("button", { type: "submit", class: "action", "data-testid": "edit-apply" }, text.edit_apply), wrong);
    this.edit.onsubmit = event => {
      event.preventDefault();
      const number = input.value.trim() === "" ? NaN : Number(input.value);
      wrong.textContent = Number.isFinite(number) ? "" : text.edit_bad;
      if (Number.isFinite(number)) app.send("edit", { matrix: at.id, row, column: col, value: number });
    };
  }

  /** The whole scene in one row, for export. */
  get picture() {
    const { app } = this, parts = this.scene.items.map(item => this.panels.get(item) ?? item);
    const grids = parts.filter(part => typeof part !== "string"), tallest = Math.max(...grids.map(({ geometry }) => geometry.height));
    const width = parts.reduce((sum, part) => sum + (typeof part === "string" ? Math.max(SIGN, widthOf(app.theme, part, SIGN_SIZE)) : Math.max(part.geometry.width, widthOf(app.theme, part.size(), 13))) + BETWEEN, 0);
    const draw = surface => {
      let x = 0;
      for (const part of parts) {
        if (typeof part === "string") {
          const wide = Math.max(SIGN, widthOf(app.theme, part, SIGN_SIZE));
          surface.text({ text: part, x: x + wide / 2, y: tallest / 2, size: SIGN_SIZE, align: "center", fill: app.theme.muted });
          x += wide + BETWEEN;
          continue;
        }
        const { geometry: g, shown: matrix, bitmap, marks } = part, wide = Math.max(g.width, widthOf(app.theme, part.size(), 13));
        surface.shift(x, (tallest - g.height) / 2, () => {
          drawGrid(surface, app.theme, g, matrix, bitmap, { ...marks, cursor: undefined }, { x: 0, y: 0, w: g.width, h: g.height });
          surface.text({ text: matrix.title, x: g.left, y: g.height + 12, size: 15, weight: 650, fill: roleColour(app.theme, matrix.role) });
          surface.text({ text: part.size(), x: g.left, y: g.height + 30, size: 13, fill: app.theme.muted });
        });
        x += wide + BETWEEN;
      }
    };
    return { width, height: tallest + 42, draw };
  }

  caption() {
    const { app } = this, { text, caption, place } = app.payload.header;
    const scene = tidy(fill(text.caption_scene, { title: app.scene.title || this.all.at(-1).title, path: this.path.textContent, note: app.scene.note }));
    const where = place ? ` ${fill(text.caption_place, { layer: place.layer + 1, head: place.head + 1, attention: place.attention })}` : "";
    return [tidy(fill(text.caption_sentence, caption)) + where, scene, this.sentence.textContent];
  }

  async file(kind) {
    const { app } = this, { header } = app.payload, name = fileName([header.caption.model, header.name || "matrices", app.scene.id], kind);
    const caption = this.caption();
    return { blob: kind === "csv" ? csvOf(this.all, caption) : await pictureOf(kind, app.theme, this.picture, caption), name, caption };
  }
}
