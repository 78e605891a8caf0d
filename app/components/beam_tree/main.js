// The component: walks the tree by pointer and keyboard, speaks, and asks the server to go on from a node.
import { replaceAddress } from "./address.js";
import { button } from "./controls.js";
import { exportRow, fileName, pictureOf } from "./export.js";
import { Drawn, mount } from "./mount.js";
import { layoutScale, paintScale } from "./scale.js";
import { Stage } from "./stage.js";
import { element, fill, isolate } from "./template.js";
import { draw, drawLooks, hit, layout, wayTo, written } from "./tree.js";
import { csvOf, Twin } from "./twin.js";

const TALLEST = 640, SCROLLBAR = 16;

class BeamTree extends Drawn {
  constructor(root) {
    super(root);
    const linked = new URLSearchParams(location.search).get("node");
    this.chosen = /^\d{1,5}$/.test(linked ?? "") ? Number(linked) : null;
  }

  update({ data, setTriggerValue }) {
    this.send = setTriggerValue;
    const header = JSON.parse(new TextDecoder().decode(data));
    this.receive(header, header.digest === this.header?.digest);
  }

  open(header) {
    const first = !this.header;
    this.header = header;
    if (!first || !header.nodes[this.chosen]) this.chosen = header.best[0] ?? 0;
    this.pointed = null;
    this.build();
    this.twin.show(header);
    if (!first) this.write(); // the node of the tree before is not one of this tree
  }

  build() {
    const { text, nodes } = this.header;
    this.stage = new Stage({
      name: "tree-stage",
      onDraw: (surface, view) => surface.shift(-view.x, -view.y, () => draw(surface, this.theme, this.header, this.at, this.focus)),
      onPoint: (x, y) => this.point(hit(this.at, x + this.stage.view.x, y + this.stage.view.y)),
      onLeave: () => this.point(null),
      onPress: (x, y) => { const found = hit(this.at, x + this.stage.view.x, y + this.stage.view.y); if (found !== null) this.choose(found); },
    });
    const { frame } = this.stage;
    this.stage.keyboard(text.title, text.keys, event => this.key(event));
    this.strip = new Stage({ name: "tree-looks", onDraw: surface => drawLooks(surface, this.theme, this.header, this.at, this.focus) });
    this.strip.frame.setAttribute("aria-hidden", "true");
    this.scale = element("canvas", { class: "scale-bar", "aria-hidden": "true" });
    this.live = element("p", { class: "live", role: "status", "aria-live": "polite", "data-testid": "live", "data-hint": text.hint });
    this.twin = new Twin(text);
    const ask = element("div", { class: "controls served" }, button({ name: "go", label: text.go, onPick: () => this.take() }), nodes.some(node => node.fate === "given") ? button({ name: "back", label: text.back, onPick: () => this.send("branch", { ids: [] }) }) : "");
    const exports = exportRow(this, text, () => location.href);
    this.root.replaceChildren(element("section", { class: "card" }, frame, this.live, ask, this.strip.frame, this.scale, element("p", { class: "hint" }, text.keys), this.twin.details, exports));
    this.asGroup(text.title);
  }

  get focus() { return this.pointed ?? this.chosen; }

  point(next) {
    if (next === this.pointed) return;
    this.pointed = next;
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.paint(); });
  }

  choose(index) {
    this.chosen = index;
    this.pointed = null;
    this.write();
    this.stage.reveal(this.at.boxes[index]);
    this.paint();
  }

  /** Go on from the chosen node: the server searches behind the tokens on the way to it. */
  take() { this.send("branch", { ids: wayTo(this.header, this.chosen).map(at => this.header.nodes[at].id) }); }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { nodes, best } = this.header, node = nodes[this.chosen], column = this.at.columns[node.depth], row = column.indexOf(this.chosen);
    const child = nodes.findIndex(other => other.parent === this.chosen), winner = wayTo(this.header, best[0] ?? 0);
    const to = {
      ArrowLeft: node.parent ?? this.chosen, ArrowRight: child < 0 ? this.chosen : child,
      ArrowUp: column[Math.max(0, row - 1)], ArrowDown: column[Math.min(column.length - 1, row + 1)], Home: winner[0], End: winner.at(-1),
    }[event.key];
    if (to === undefined && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Enter") this.take();
    else this.choose(to);
  }

  say() {
    const { header } = this, { text, nodes, best, keys, rows } = header, node = nodes[this.focus], rank = best.indexOf(this.focus);
    const row = rows[node.row], heaviest = row.indexOf(Math.max(...row));
    const after = [header.start, ...wayTo(header, this.focus).slice(0, -1).map(at => nodes[at].label)].map(isolate).join(" ");
    const said = fill(text.said, {
      token: isolate(node.label), after, fate: text[node.fate], value: written(node.log_probability, 4), total: written(node.total, 4),
      worth: written(node.worth, 4), depth: node.depth, key: isolate(keys[heaviest]), position: heaviest, weight: row[heaviest].toFixed(4),
    });
    return rank < 0 ? said : `${said} ${fill(text.best, { rank: rank + 1 })}`;
  }

  async file(kind) {
    const { header, at, theme } = this, { caption, text, size, length_penalty, path } = header;
    const lines = [fill(text.caption_sentence, caption), fill(text.caption_search, { size, alpha: length_penalty, path })];
    const name = fileName([caption.model, "beam", size], kind);
    if (kind === "csv") return { blob: csvOf(header, lines), name, caption: lines };
    const picture = {
      width: at.width, height: at.height + at.strip.bottom + 16,
      draw: surface => { draw(surface, theme, header, at, this.chosen); surface.shift(0, at.height + 10, () => drawLooks(surface, theme, header, at, this.chosen)); },
    };
    const whole = [...lines, this.say()];
    return { blob: await pictureOf(kind, theme, picture, whole), name, caption: whole };
  }

  write() {
    const url = new URL(location.href), { best } = this.header;
    if (this.chosen !== null && this.chosen !== best[0]) url.searchParams.set("node", this.chosen);
    else url.searchParams.delete("node");
    replaceAddress(url.href);
  }

  render() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    this.at = layout(this.theme, this.header, this.inner);
    const scrolls = this.at.width > this.inner ? SCROLLBAR : 0;
    this.stage.fit(this.at.width, this.at.height, TALLEST + scrolls);
    this.strip.fit(this.inner, this.at.strip.bottom + 6);
    paintScale(this.scale, this.theme, layoutScale(this.theme, { high: "1", room: this.inner }));
    this.paint();
  }

  paint() {
    this.stage.paint(this.theme);
    this.strip.paint(this.theme);
    this.speak(this.say());
    this.root.dataset.node = this.chosen;
    this.root.dataset.painted = ++this.painted;
  }
}

export default mount(".beam-tree", BeamTree);
