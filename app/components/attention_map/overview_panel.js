// The overview on the page: its canvas, a real button over each map for keyboard and screen reader, and its exports.
import { axesOf } from "./axes.js";
import { exportBar } from "./export_bar.js";
import { guidedEntry, guidedTitle } from "./guided.js";
import { attentionName, conventionOf } from "./opened.js";
import { drawOverview, hitOverview, layoutOverview } from "./overview.js";
import { largest, mapOf, maskedRuns, reduce } from "./reduce.js";
import { drawScale, rasterize } from "./scale.js";
import { CanvasSurface } from "./surface.js";
import { Stage } from "./stage.js";
import { element, fill } from "./template.js";

export class OverviewPanel {
  constructor(app) {
    this.app = app;
    const { text } = app.payload.header;
    this.pictures = new Map();
    this.stage = new Stage({
      name: "overview",
      onDraw: surface => drawOverview(surface, app.theme, this.geometry, this.model()),
      onPoint: (x, y, event) => this.point(hitOverview(this.geometry, x, y), event),
      onLeave: () => this.point(null),
    });
    this.buttons = element("div", { class: "maps", role: "group", "aria-label": text.overview });
    this.stage.spacer.append(this.buttons);
    this.buttons.onkeydown = event => this.key(event);
    this.scale = element("canvas", { class: "scale-bar", "aria-hidden": "true", "data-testid": "overview-scale" });
    this.pooled = element("p", { class: "note", "data-testid": "pooled" });
    this.exports = exportBar(app, () => ({ picture: this.picture, csv: false, caption: this.caption() }), "overview-");
    this.node = element("div", { class: "overview" }, this.stage.frame, element("div", { class: "under" }, this.scale, element("span", { class: "hint" }, text.overview_hint)), this.pooled, this.exports);
  }

  show(available, opened) {
    const { app } = this, { header, attentions } = app.payload, { state, theme } = app, { text } = header;
    this.opened = opened;
    const shown = state.overview === "all" ? attentions : attentions.filter(entry => entry.id === state.attention);
    const key = JSON.stringify([header.digest, theme.name, state.row, state.unit, state.special, state.scale]);
    if (key !== this.key_) { this.pictures.clear(); this.key_ = key; }
    const groups = shown.map(attention => ({ attention, title: shown.length > 1 ? attentionName(text, attention.id) : "", ...this.sizeOf(attention) }));
    this.geometry = layoutOverview(theme, groups, { available, ratio: window.devicePixelRatio || 1, text: {
      layer: i => fill(text.layer_number, { layer: i + 1 }), head: h => h === "mean" ? text.mean : fill(text.head_number, { head: h + 1 }), mean: text.mean } });
    this.stage.fit(this.geometry.width + 6, this.geometry.height + 6);
    this.label(`${key}${available}${shown.map(entry => entry.id)}`);
    const pooled = shown.find(entry => entry.pooled);
    this.pooled.hidden = !pooled;
    if (pooled) this.pooled.textContent = fill(text.pooled, { rows: pooled.block[0], columns: pooled.block[1] });
    this.masked = shown.some(attention => attention.mask.includes(1));
    this.paintScale(available);
  }

  paint() {
    this.stage.paint(this.app.theme);
  }

  paintScale(available) {
    const surface = new CanvasSurface(this.scale, this.app.theme), width = Math.min(available, 460);
    surface.begin(width, 22);
    this.scale.style.width = `${width}px`;
    this.scale.style.height = "22px";
    this.drawScale(surface, 2, 5);
  }

  drawScale(surface, x, y) {
    const { text } = this.app.payload.header;
    drawScale(surface, this.app.theme, { x, y, high: this.app.state.scale === "map" ? text.scale_each_map : "1", masked: this.masked ? text.masked : "" });
  }

  /** Words and hidden specials change the size of every map; a pooled overview has neither. */
  sizeOf(attention) {
    if (attention.pooled) return { rows: attention.stored.queries, cols: attention.stored.keys };
    const axes = axesOf(this.app.payload.header, attention, this.app.state);
    return { rows: axes.rows.items.length, cols: axes.cols.items.length };
  }

  model() {
    const { app } = this;
    return { picture: map => this.pictureOf(map), opened: this.opened, pointed: this.pointed, badge: ({ attention, layer, head }) => Boolean(guidedEntry(app, attention, layer, head)) };
  }

  /** The raster of one map, made once. */
  pictureOf({ attention, layer, head }) {
    const name = `${attention.id}/${layer}/${head}`;
    if (!this.pictures.has(name)) {
      const { app } = this, { state } = app, plain = attention.pooled || (state.unit === "pieces" && state.special === "show");
      const stored = mapOf(attention, layer, head), map = plain ? stored : reduce(stored, axesOf(app.payload.header, attention, state));
      const top = state.scale === "map" ? largest(map.values) : 1;
      const runs = map.masked === stored.masked && attention.masks === "shared" ? this.runsOf(attention, map) : maskedRuns(map);
      this.pictures.set(name, { bitmap: rasterize(app.theme, { ...map, top }), runs, rows: map.rows, cols: map.cols });
    }
    return this.pictures.get(name);
  }

  runsOf(attention, map) {
    const name = `${attention.id}/runs`;
    if (!this.pictures.has(name)) this.pictures.set(name, maskedRuns(map));
    return this.pictures.get(name);
  }

  point(map, event) {
    const { app } = this;
    if (map === this.pointed) return;
    this.pointed = map;
    this.stage.frame.style.cursor = map ? "pointer" : "";
    app.tip(map && event ? { event, title: this.nameOf(map) } : null);
    this.paint();
  }

  nameOf({ attention, layer, head }) {
    const { app } = this, { text } = app.payload.header, guided = guidedTitle(app, attention, layer, head);
    const name = fill(text.map_name, { attention: attentionName(text, attention.id), layer: layer + 1, head: head === "mean" ? text.head_mean : fill(text.head_number, { head: head + 1 }) });
    return guided ? `${name} · ${guided}` : name;
  }

  label(name) {
    const { app } = this, isOpened = map => Boolean(this.opened) && map.attention.id === this.opened.attention.id && map.layer === this.opened.layer && map.head === this.opened.head;
    if (this.labelled !== name) {
      this.labelled = name;
      this.buttons.replaceChildren(...this.geometry.maps.map((map, i) => {
        const made = element("button", { type: "button", class: "map", "aria-label": this.nameOf(map), "data-testid": `map-${map.attention.id}-${map.layer}-${map.head}`, "data-index": i });
        Object.assign(made.style, { left: `${map.x - 2}px`, top: `${map.y - 2}px`, width: `${map.w + 4}px`, height: `${map.h + 4}px` });
        made.onclick = () => app.set({ attention: map.attention.id, layer: map.layer, head: map.head });
        return made;
      }));
    }
    let found = 0;
    [...this.buttons.children].forEach((made, i) => {
      const on = isOpened(this.geometry.maps[i]);
      made.setAttribute("aria-pressed", String(on));
      if (on) found = i;
    });
    this.rove(found);
  }

  rove(index) {
    [...this.buttons.children].forEach((made, i) => { made.tabIndex = i === index ? 0 : -1; });
  }

  /** Arrows go to the nearest map in that direction, by where the maps stand. */
  key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return;
    event.preventDefault();
    const { maps } = this.geometry, from = maps[Number(event.target.dataset.index)];
    let best = -1, least = Infinity;
    maps.forEach((map, i) => {
      const [dx, dy] = [map.x + map.w / 2 - from.x - from.w / 2, map.y + map.h / 2 - from.y - from.h / 2];
      const along = dx * way[0] + dy * way[1], across = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
      if (along > 1 && along + 3 * across < least) { least = along + 3 * across; best = i; }
    });
    if (best < 0) return;
    this.rove(best);
    this.buttons.children[best].focus();
  }

  caption() {
    const { app } = this, { caption, text } = app.payload.header;
    const notes = app.payload.attentions.map(attention => conventionOf(text, { attention, state: app.state }));
    return [fill(text.caption_sentence, caption), `${text.overview}. ${[...new Set(notes)].join(" ")}`, this.pooled.hidden ? "" : this.pooled.textContent].filter(Boolean);
  }

  get picture() {
    const { geometry, app } = this;
    return { width: geometry.width + 8, height: geometry.height + 40, draw: surface => {
      drawOverview(surface, app.theme, geometry, this.model());
      this.drawScale(surface, 2, geometry.height + 22);
    } };
  }
}
