// The overview on the page: its canvas, a real button over each map for keyboard and screen reader, and its exports.
import { axesOf } from "./axes.js";
import { Taken } from "./export_bar.js";
import { guidedEntry, guidedTitle } from "./guided.js";
import { attentionName, conventionOf } from "./opened.js";
import { drawMaps, drawMarks, hitOverview, layoutOverview } from "./overview.js";
import { largest, levelsOf, mapOf, maskedRuns, pool, reduce } from "./reduce.js";
import { drawScale, layoutScale, paintScale, rasterize } from "./scale.js";
import { CanvasSurface, ratioOf } from "./surface.js";
import { Stage } from "./stage.js";
import { element, fill } from "./template.js";

export class OverviewPanel {
  constructor(app) {
    this.app = app;
    const { text } = app.payload.header;
    this.pictures = new Map();
    this.stage = new Stage({
      name: "overview",
      onDraw: (surface, view) => this.draw(surface, view),
      onPoint: (x, y, event) => this.point(hitOverview(this.geometry, x + this.stage.view.x, y + this.stage.view.y), event),
      onLeave: () => this.point(null),
    });
    this.buttons = element("div", { class: "maps", role: "group", "aria-label": text.overview });
    this.stage.spacer.append(this.buttons);
    this.buttons.onkeydown = event => this.key(event);
    this.scale = element("canvas", { class: "scale-bar", "aria-hidden": "true", "data-testid": "overview-scale" });
    this.pooled = element("p", { class: "note", "data-testid": "pooled" });
    this.taken = new Taken(app, () => ({ picture: this.picture, caption: this.caption() }), "overview-");
    this.node = element("div", { class: "overview" }, this.stage.frame, element("div", { class: "under" }, this.scale, element("span", { class: "hint" }, text.overview_hint)), this.pooled, this.taken.node);
  }

  show(available, opened) {
    const { app } = this, { header, attentions } = app.payload, { state, theme } = app, { text } = header;
    this.opened = opened;
    const shown = state.overview === "all" ? attentions : attentions.filter(entry => entry.id === state.attention);
    const groups = shown.map(attention => ({ attention, title: shown.length > 1 ? attentionName(text, attention.id) : "", ...this.sizeOf(attention) }));
    this.geometry = layoutOverview(theme, groups, { available, ratio: ratioOf(this.stage.frame), text: {
      layer: i => fill(text.layer_number, { layer: i + 1 }), head: h => h === "mean" ? text.mean : fill(text.head_number, { head: h + 1 }), mean: text.mean } });
    this.stage.fit(this.geometry.width + 6, this.geometry.height + 6);
    const key = JSON.stringify([header.digest, theme.name, state.row, state.unit, state.special, state.scale, attentions.map(entry => this.block(entry))]);
    if (key !== this.drawn) { this.pictures.clear(); this.drawn = key; }
    const layout = JSON.stringify([key, available, shown.map(entry => entry.id), ratioOf(this.stage.frame), header.guided]);
    if (layout !== this.laid) { this.sheet = null; this.laid = layout; }
    this.label(`${key}${available}${shown.map(entry => entry.id)}`);
    const blocks = shown.map(entry => entry.block.map(side => side * this.block(entry))), [rows, columns] = [0, 1].map(i => Math.max(...blocks.map(block => block[i])));
    const lacking = app.offline && shown.some(entry => entry.pooled); // a saved page without single cells says so above
    this.pooled.textContent = [(rows > 1 || columns > 1) && !lacking && fill(text.pooled, { rows, columns }), this.untouched(shown) && text.pooled_switches].filter(Boolean).join(" ");
    this.pooled.hidden = !this.pooled.textContent;
    this.shown = shown;
    this.masked = shown.some(attention => attention.mask.includes(1));
    this.legend = layoutScale(theme, { high: state.scale === "map" ? text.scale_each_map : "1", masked: this.masked ? text.masked : "", room: available - 4 });
    paintScale(this.scale, theme, this.legend);
  }

  paint() {
    this.stage.paint(this.app.theme);
  }

  /** The maps are drawn once on a sheet of their own; pointing and choosing only moves the marks above it. */
  draw(surface, view) {
    const { app, geometry } = this;
    if (!this.sheet) {
      this.sheet = document.createElement("canvas");
      const drawing = new CanvasSurface(this.sheet, app.theme, surface.ratio);
      drawing.begin(geometry.width + 6, geometry.height + 6);
      drawMaps(drawing, app.theme, geometry, this.model());
    }
    surface.image({ bitmap: this.sheet, x: -view.x, y: -view.y, w: this.sheet.width / surface.ratio, h: this.sheet.height / surface.ratio });
    surface.shift(-view.x, -view.y, () => drawMarks(surface, app.theme, geometry, this.model()));
  }

  /** Words and hidden specials change the size of every map; a pooled overview has neither. */
  sizeOf(attention) {
    if (attention.pooled) return { rows: attention.stored.queries, cols: attention.stored.keys };
    const axes = axesOf(this.app.payload.header, attention, this.app.state);
    return { rows: axes.rows.items.length, cols: axes.cols.items.length };
  }

  /** Whether a map here stays by piece and with special tokens although the visitor chose otherwise. */
  untouched(shown) {
    const { unit, special } = this.app.state;
    return (unit === "words" || special === "hide") && shown.some(attention => attention.pooled);
  }

  /** Cells to a pixel, along either side, where a map has more cells than the screen has pixels for it. */
  block(attention) {
    const place = this.geometry.maps.find(map => map.attention === attention), { rows, cols } = this.sizeOf(attention), ratio = ratioOf(this.stage.frame);
    return place ? Math.max(1, Math.ceil(Math.max(rows / (place.h * ratio), cols / (place.w * ratio)) - 0.2)) : 1;
  }

  model() {
    const { app } = this;
    return { picture: map => this.pictureOf(map), opened: this.opened, pointed: this.pointed, badge: ({ attention, layer, head }) => guidedEntry(app, attention, layer, head) };
  }

  /** The raster of one map: a part of the bitmap that holds all maps of its attention, made once. */
  pictureOf({ attention, layer, head }) {
    if (!this.pictures.has(attention.id)) this.pictures.set(attention.id, this.allOf(attention));
    const { bitmap, maps } = this.pictures.get(attention.id), across = attention.heads + 1;
    const column = head === "mean" ? attention.heads : head, row = attention.kept.indexOf(layer), { rows, cols, runs } = maps[row * across + column];
    return { bitmap, part: { x: column * cols, y: row * rows, w: Math.max(1, cols), h: Math.max(1, rows) }, runs, rows, cols };
  }

  allOf(attention) {
    const { app } = this, { state } = app, plain = attention.pooled || (state.unit === "pieces" && state.special === "show");
    const axes = plain ? null : axesOf(app.payload.header, attention, state), block = this.block(attention);
    let runs = null;
    const maps = attention.kept.flatMap(layer => [...Array(attention.heads).keys(), "mean"].map(head => {
      const map = pool(axes ? { ...reduce(mapOf(attention, layer, head), axes), full: 1 } : levelsOf(attention, layer, head), block);
      if (!runs || !plain || attention.masks !== "shared") runs = maskedRuns(map);
      return { ...map, runs, top: state.scale === "map" ? largest(map.values) : map.full };
    }));
    return { bitmap: rasterize(app.theme, maps, attention.heads + 1), maps: maps.map(({ rows, cols, runs: hatched }) => ({ rows, cols, runs: hatched })) };
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
    const notes = this.shown.map(attention => conventionOf(text, { attention, state: app.state }));
    const hidden = app.state.special === "hide" && this.shown.some(attention => !attention.pooled);
    return [fill(text.caption_sentence, caption), `${text.overview}. ${[...new Set(notes)].join(" ")}`, hidden ? text.overview_hidden : "", this.pooled.textContent].filter(Boolean);
  }

  get picture() {
    const { geometry, app } = this;
    return { width: geometry.width + 8, height: geometry.height + 18 + this.legend.height, draw: surface => {
      drawMaps(surface, app.theme, geometry, this.model());
      drawMarks(surface, app.theme, geometry, this.model());
      drawScale(surface, app.theme, this.legend, 2, geometry.height + 22);
    } };
  }
}
