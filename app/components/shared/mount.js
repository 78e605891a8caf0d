// Between Streamlit and a component: one object for each element, told of every run, closed when its element goes.
import { afterServer } from "./address.js";
import { forgetWidths } from "./labels.js";
import { applyTheme, readTheme } from "./theme.js";

const GATHER = "attention-atlas-pictures"; // an event whose detail collects what is drawn on the page

/** The pictures that the page shows now, in the order of the page. */
export function picturesOfPage() {
  const found = [];
  document.dispatchEvent(new CustomEvent(GATHER, { detail: found }));
  const placeOf = ({ root }) => root.getRootNode().host ?? root;
  return found.filter(({ root, theme }) => theme && root.isConnected && root.clientWidth)
    .sort((one, other) => placeOf(one).compareDocumentPosition(placeOf(other)) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
}

/** The default export of a component: `Component` takes the root element, `update` each run's data and senders, `close` cleans up. */
export function mount(selector, Component) {
  const instances = new WeakMap();
  return ({ data, parentElement, setStateValue, setTriggerValue, offline = false }) => {
    const root = parentElement.querySelector(selector);
    if (!root || !data) return undefined;
    if (!instances.has(root)) instances.set(root, new Component(root));
    const made = instances.get(root);
    made.bytes = data;
    made.offline = offline; // a page saved to a file: nobody answers
    root.classList.toggle("offline", offline);
    made.update({ data, setStateValue, setTriggerValue });
    return () => { made.close(); instances.delete(root); };
  };
}

/**
 * A component that draws: again when its width has changed or a font has come, and in the theme of the page.
 *
 * `open` takes new data, `render` draws; `write` puts what was chosen into the URL, and is called after the server wrote that.
 */
export class Drawn {
  constructor(root) {
    this.root = root;
    this.painted = 0;
    this.resizes = new ResizeObserver(() => { if (this.theme && root.clientWidth !== this.width) this.render(); });
    this.resizes.observe(root);
    this.join = ({ detail }) => { if (this.file || this.files !== Drawn.prototype.files) detail.push(this); };
    document.addEventListener(GATHER, this.join);
    this.release = afterServer(() => { if (this.theme) this.write(); });
    if (document.fonts?.status === "loading") document.fonts.ready.then(() => { forgetWidths(); if (this.theme) this.render(); });
  }

  /** The data of a run: nothing is done where it is the `same` as before and in the same theme, unless there is `more` to draw. */
  receive(data, same, more = false) {
    const theme = readTheme(this.root);
    if (same && !more && theme.name === this.theme?.name) return;
    this.theme = theme;
    applyTheme(this.root, theme);
    if (!same) this.open(data);
    this.render();
  }

  /** The width inside the card's margins, which are smaller on a phone. */
  get inner() { return Math.max(220, this.width - (this.width < 640 ? 26 : 42)); }

  /** Whether this is read from afar, in presenter mode: then less is drawn. */
  get afar() { return getComputedStyle(this.root).getPropertyValue("--atlas-aside").trim() === "none"; }

  /** One group for screen readers, under this name. */
  asGroup(label) {
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", label);
  }

  /** Say it once: a live region is read again whenever it is set. */
  speak(said) {
    if (this.live.textContent !== said) this.live.textContent = said;
  }

  /** What can be taken away of it: `file(kind)` of a component that has any gives {blob, name, caption} of each of these. */
  get kinds() { return ["png", "svg", "csv"]; }

  async files() { return Promise.all(this.kinds.map(kind => this.file(kind))); }

  write() {} // most have something to write

  close() {
    this.release();
    document.removeEventListener(GATHER, this.join);
    this.resizes.disconnect();
    cancelAnimationFrame(this.frame);
  }
}
