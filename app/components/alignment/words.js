// The two sentences as text: every word is a button, and what is pointed at makes its partners glow, with their weights beside them.
import { element } from "./template.js";

const LEAST = 0.02;

export class TextPanel {
  constructor(app, header) {
    this.app = app;
    this.buttons = { source: [], target: [] };
    const { text } = header, paragraphs = ["source", "target"].map(side => element("div", { class: `side ${side}` },
      element("h4", {}, text[side]), this.sentence(side, header)));
    this.node = element("div", { class: "words-panel", "data-testid": "text" }, ...paragraphs);
  }

  sentence(side, header) {
    const { words, gaps } = header[side], made = element("p", { dir: "auto", class: "words", role: "group", "aria-label": header.text[side], "aria-description": header.text.text_hint }, gaps[0] ?? "");
    words.forEach((word, index) => {
      const node = element("button", { type: "button", class: "word", dir: "auto", tabindex: index ? "-1" : "0", "data-testid": `${side}-word-${index}`, "data-index": index }, word);
      node.onpointerenter = () => this.app.point(this.focusOf(side, index));
      node.onpointerleave = () => this.app.point(null);
      node.onfocus = () => { this.rove(side, index); if (node.matches(":focus-visible")) this.app.point(this.focusOf(side, index)); };
      node.onblur = () => this.app.point(null);
      node.onclick = () => this.app.fix(this.focusOf(side, index));
      node.onkeydown = event => this.key(event, side, index);
      this.buttons[side].push(node);
      made.append(node, gaps[index + 1] ?? "");
    });
    return made;
  }

  focusOf = (side, index) => ({ row: side === "target" ? index : null, col: side === "source" ? index : null, piece: null });

  rove(side, index) {
    this.buttons[side].forEach((node, at) => { node.tabIndex = at === index ? 0 : -1; });
  }

  key(event, side, index) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const forward = getComputedStyle(event.target.parentNode).direction === "rtl" ? -1 : 1, line = this.buttons[side], other = side === "source" ? "target" : "source";
    const step = { ArrowRight: forward, ArrowLeft: -forward }[event.key];
    const to = step ? line[index + step] : event.key === "Home" ? line[0] : event.key === "End" ? line.at(-1)
      : event.key === "ArrowDown" && side === "source" || event.key === "ArrowUp" && side === "target" ? this.buttons[other][Math.min(index, this.buttons[other].length - 1)] : undefined;
    if (!to && !step) return;
    event.preventDefault();
    event.stopPropagation();
    to?.focus();
  }

  /** `map` is between words; `links` those of the model. */
  paint({ map, links }, focus) {
    const linked = new Set(links.map(([source, target]) => `${source}/${target}`));
    const weight = (row, col) => row === null || col === null || row >= map.rows ? 0 : map.values[row * map.cols + col];
    const paint = (side, on, partner) => this.buttons[side].forEach((node, index) => {
      const found = partner(index), share = found === null ? 0 : Math.min(1, found.weight), here = on === index;
      node.classList.toggle("on", here);
      node.classList.toggle("linked", Boolean(found?.linked));
      const glow = share > 0.004 ? share.toFixed(3) : "", said = found && !here && (share >= LEAST || found.linked) ? found.weight.toFixed(2) : "";
      if ((node.dataset.glow ?? "") !== glow) { node.dataset.glow = glow; node.style.setProperty("--glow", `${Math.round(share * 62)}%`); }
      if ((node.dataset.weight ?? "") !== said) node.dataset.weight = said;
    });
    paint("source", focus.col, index => focus.row === null ? null : { weight: weight(focus.row, index), linked: linked.has(`${index}/${focus.row}`) });
    paint("target", focus.row, index => focus.row !== null || focus.col === null ? null : { weight: weight(index, focus.col), linked: linked.has(`${focus.col}/${index}`) });
  }
}
