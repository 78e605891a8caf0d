// The component: draws, follows pointer and keyboard, speaks, exports, cleans up.
import { csvBlob, exportRow, fileName, pictureOf } from "./export.js";
import { folded } from "./folded.js";
import { Drawn, mount } from "./mount.js";
import { boxOf, draw, hit, layout, written } from "./picture.js";
import { Stage } from "./stage.js";
import { element, fill, isolate } from "./template.js";

const TALLEST = 1680, SCROLLBAR = 16; // thirty tokens with three bars each are seen whole

class Bars extends Drawn {
  update({ data }) {
    const message = new TextDecoder().decode(data);
    this.receive(message, message === this.message);
  }

  open(message) {
    this.message = message;
    this.header = JSON.parse(message);
    this.pointed = this.cursor = null;
    const { text, title } = this.header;
    this.stage = new Stage({
      name: "bars-stage",
      onDraw: (surface, view) => surface.shift(-view.x, -view.y, () => draw(surface, this.theme, this.header, this.at, this.focus, view)),
      onPoint: (x, y) => this.point(hit(this.at, this.header, x + this.stage.view.x, y + this.stage.view.y)),
      onLeave: () => this.point(null),
    });
    const { frame } = this.stage;
    this.stage.keyboard(title, text.keys, event => this.key(event));
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live", "data-hint": text.hint });
    const exports = exportRow(this, text);
    this.root.replaceChildren(element("section", { class: "card" }, frame, this.live, this.twin(), exports));
    this.asGroup(title);
  }

  get focus() { return this.pointed ?? this.cursor; }

  point(next) {
    if (JSON.stringify(next) === JSON.stringify(this.pointed ?? null)) return;
    this.pointed = next;
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.paint(); });
  }

  key(event) {
    if (event.altKey || event.metaKey) return;
    const { labels, series } = this.header, { row, series: kind } = this.cursor ?? { row: 0, series: -1 }, last = labels.length - 1;
    const move = {
      ArrowUp: [row - 1, kind], ArrowDown: [this.cursor ? row + 1 : 0, kind], ArrowLeft: [row, kind - 1], ArrowRight: [row, kind + 1],
      Home: [0, kind], End: [last, kind],
    }[event.key];
    if (event.key === "Escape") this.cursor = null;
    else if (!move) return;
    else this.cursor = { row: Math.max(0, Math.min(last, move[0])), series: Math.max(0, Math.min(series.length - 1, move[1])) };
    event.preventDefault();
    event.stopPropagation();
    this.pointed = null;
    if (this.cursor) this.stage.reveal(boxOf(this.at, this.cursor.row));
    this.paint();
  }

  say() {
    const { header, focus } = this;
    if (!focus) return "";
    const { labels, series, digits, text } = header, kind = series[focus.series];
    const label = isolate(labels[focus.row]), place = header.numbered ? fill(text.position, { label, index: focus.row }) : label;
    return fill(text.bar, { title: kind.title, label: place, value: written(kind.values[focus.row], Math.max(4, digits)) });
  }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    const room = Math.max(220, this.width - (this.width < 640 ? 26 : 42));
    this.at = layout(this.theme, this.header, room);
    if (this.at.height > TALLEST) this.at = layout(this.theme, this.header, room - SCROLLBAR); // or it would hide the last digits
    this.stage.fit(this.at.width, this.at.height, TALLEST);
    this.paint();
  }

  paint() {
    this.stage.paint(this.theme);
    this.speak(this.say());
    this.root.dataset.painted = ++this.painted;
  }

  twin() {
    const { labels, series, name, title, text } = this.header;
    const head = element("tr", {}, element("th", { scope: "col" }, name), ...series.map(kind => element("th", { scope: "col" }, kind.title)));
    const body = labels.map((label, row) => element("tr", {}, this.rowHead(label, row), ...series.map(kind => element("td", {}, written(kind.values[row], 4)))));
    const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
    table.createCaption().textContent = title;
    return folded(text, title, table);
  }

  rowHead(label, row) {
    const made = element("th", { scope: "row" }, element("bdi", {}, label));
    if (this.header.numbered) made.append(" ", element("small", {}, String(row)));
    return made;
  }

  async file(kind) {
    const { header, at, theme } = this, { caption, text, title } = header;
    const lines = [fill(text.caption_sentence, caption), title], name = fileName([caption.model, title], kind);
    const whole = { x: 0, y: 0, w: at.width, h: at.height };
    const picture = { width: at.width, height: at.height, draw: surface => draw(surface, theme, header, at, null, whole) };
    return { blob: kind === "csv" ? this.csv(lines) : await pictureOf(kind, theme, picture, lines), name, caption: lines };
  }

  csv(caption) {
    const { labels, series, name } = this.header;
    const lines = labels.map((label, row) => [row, label, ...series.map(kind => Number(kind.values[row].toPrecision(8))), row ? "" : caption.join(" ")]);
    return csvBlob([["index", name, ...series.map(kind => kind.id), "caption"], ...lines]);
  }
}

export default mount(".bars", Bars);
