// Type as large as the slide allows: one size for text and for pictures, made smaller until the slide fits the screen.

/** How large a slide of each kind may become, and how small it may, in shares of the size that the last row reads. */
const RANGE = { idea: [1.5, 1], stage: [1, 0.5], section: [1, 0.65], formula: [1.35, 0.65], shapes: [1.2, 0.65], what_if: [1, 0.65], try: [1.6, 0.9] };
const STEP = 0.95, LONGEST_STEP = 0.75, ORDINARY = 16; // a phone keeps the ordinary size of text and scrolls

export class Fit {
  constructor() {
    this.found = new Map();
    this.followed = new WeakSet();
    this.watch = new ResizeObserver(() => this.again());
    this.resized = () => { this.found.clear(); this.begin(this.kind, this.name); };
    window.addEventListener("resize", this.resized);
  }

  /** The size of text that is read from the last row of a class: 28 px on a screen of 1280 x 720. */
  get base() { return Math.max(ORDINARY, Math.min(0.022 * innerWidth, 0.039 * innerHeight)); }

  /** A slide is shown: as large as may be, or as it was found to fit. */
  begin(kind, name) {
    [this.kind, this.name] = [kind, name];
    const [largest, smallest] = this.base > ORDINARY ? RANGE[kind] : [1, 1];
    this.smallest = smallest;
    this.set(this.found.get(name) ?? largest);
    this.again();
  }

  set(share) {
    this.share = share;
    this.found.set(this.name, share);
    const { style } = document.documentElement;
    style.setProperty("--present-type", `${(this.base * share).toFixed(2)}px`);
    style.setProperty("--atlas-zoom", (this.base * share / ORDINARY).toFixed(4));
  }

  /** Measures once what changed has been laid out. */
  again() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.measure());
  }

  measure() {
    const room = document.querySelector(".stMainBlockContainer"), slide = room?.querySelector('[class*="st-key-slide_"]');
    for (const part of [room, slide]) this.follow(part); // the slide may come after the bar
    if (!slide) return;
    const { paddingTop, paddingBottom } = getComputedStyle(room), there = innerHeight - parseFloat(paddingTop) - parseFloat(paddingBottom) + 1;
    const taken = there / slide.getBoundingClientRect().height; // lines that break elsewhere make the height about the square of the size
    if (this.share <= this.smallest || (taken >= 1 && !this.tooWide(slide))) return;
    this.set(Math.max(this.smallest, this.share * Math.max(LONGEST_STEP, Math.min(STEP, Math.sqrt(taken)))));
    this.again();
  }

  /** Measures again when this part of the page has another size. */
  follow(part) {
    if (!part || this.followed.has(part)) return;
    this.followed.add(part);
    this.watch.observe(part);
  }

  tooWide(slide) {
    const right = part => Math.max(...[...part.querySelectorAll(".katex-html .base, table")].map(inside => inside.getBoundingClientRect().right));
    return [...slide.querySelectorAll(".katex-display, .atlas-scroll")].some(part => right(part) > part.getBoundingClientRect().right + 1);
  }

  close() {
    window.removeEventListener("resize", this.resized);
    cancelAnimationFrame(this.frame);
    this.watch.disconnect();
    for (const name of ["--present-type", "--atlas-zoom"]) document.documentElement.style.removeProperty(name);
  }
}
