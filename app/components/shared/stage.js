// A canvas that looks at a part of a large picture: the frame scrolls, the canvas stays, labels stay in sight.
import { CanvasSurface, ratioOf, zoomOf } from "./surface.js";
import { element } from "./template.js";

export class Stage {
  constructor({ name, onDraw, onPoint, onLeave, onPress }) {
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.spacer = element("div", { class: "spacer" }, this.canvas);
    this.frame = element("div", { class: "stage", "data-testid": name }, this.spacer);
    this.onDraw = onDraw;
    this.frame.onscroll = () => this.paint();
    this.frame.onpointermove = event => onPoint?.(...this.at(event), event);
    this.frame.onpointerleave = () => onLeave?.();
    this.canvas.onclick = event => onPress?.(...this.at(event), event);
  }

  /** Reached with Tab and walked through with keys: what it is called, which keys there are, what they do. */
  keyboard(label, keys, onKey) {
    for (const [name, value] of Object.entries({ tabindex: "0", role: "application", "aria-label": label, "aria-description": keys })) this.frame.setAttribute(name, value);
    this.frame.onkeydown = onKey;
  }

  /** Where an event happened, in the canvas. */
  at(event) {
    const box = this.canvas.getBoundingClientRect(), zoom = zoomOf(this.canvas);
    return [(event.clientX - box.left) / zoom, (event.clientY - box.top) / zoom];
  }

  fit(width, height, tallest) {
    this.size = { width, height };
    this.frame.style.maxHeight = tallest ? `${tallest}px` : "";
    this.spacer.style.width = `${Math.ceil(width)}px`;
    this.spacer.style.height = `${Math.ceil(height)}px`;
  }

  get view() {
    return { x: this.frame.scrollLeft, y: this.frame.scrollTop, w: Math.min(this.size.width, this.frame.clientWidth), h: Math.min(this.size.height, this.frame.clientHeight) };
  }

  paint(theme = this.theme) {
    if (!this.size || !theme) return;
    if (theme !== this.theme || !this.surface || Math.abs(this.surface.ratio - ratioOf(this.frame)) > 0.01) {
      this.theme = theme;
      this.surface = new CanvasSurface(this.canvas, theme, ratioOf(this.frame));
    }
    const view = this.view;
    this.canvas.style.width = `${view.w}px`;
    this.canvas.style.height = `${view.h}px`;
    this.surface.begin(view.w, view.h);
    this.onDraw(this.surface, view);
  }

  /** Scrolls so that a box of the picture is seen, beside labels that cover `left` and `top`. */
  reveal({ x, y, w, h }, left = 0, top = 0) {
    const { frame } = this;
    if (x - frame.scrollLeft < left) frame.scrollLeft = x - left;
    else if (x + w - frame.scrollLeft > frame.clientWidth) frame.scrollLeft = x + w - frame.clientWidth;
    if (y - frame.scrollTop < top) frame.scrollTop = y - top;
    else if (y + h - frame.scrollTop > frame.clientHeight) frame.scrollTop = y + h - frame.clientHeight;
  }
}
