// Type as large as the slide allows: one size for text and for pictures, made smaller until the slide fits the screen.

/** How large a slide of each kind may become, and how small it may, in shares of the size that the last row reads. */
const RANGE = { idea: [1.5, 1], stage: [1, 0.62], section: [1, 0.65], formula: [1.35, 0.65], shapes: [1.2, 0.65], what_if: [1, 0.65], try: [1.6, 0.9] };
const STEP = 0.95, LONGEST_STEP = 0.75, ORDINARY = 16; // a phone keeps the ordinary size of text and scrolls
const CONTROLS = 0.62; // of the same size, for what only one hand needs
const DRAWN = 600, ROOM = 1.1; // ms after a run until its pictures are drawn; room that is worth another size

export class Fit {
  /** `fitted` is called when a slide has been measured. */
  constructor(fitted) {
    this.fitted = fitted;
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
    [this.largest, this.smallest] = this.base > ORDINARY ? RANGE[kind] : [1, 1];
    this.set(this.found.get(name) ?? this.largest);
    this.grow();
    this.again();
  }

  set(share) {
    this.share = share;
    this.found.set(this.name, share);
    const { style } = document.documentElement;
    style.setProperty("--present-type", `${(this.base * share).toFixed(2)}px`);
    style.setProperty("--atlas-zoom", (this.base * share / ORDINARY).toFixed(4));
    style.setProperty("--atlas-controls", this.base > ORDINARY ? Math.min(1, CONTROLS / share).toFixed(4) : "1");
  }

  /** The server has run: what is shorter now, or was found to fit when it was longer, may be larger. Tried once for each height. */
  grow() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { slide, there } = this.room(), height = slide?.getBoundingClientRect().height, seen = `${this.name} ${this.share} ${Math.round(height)}`;
      if (!slide || this.share >= this.largest || there / height < ROOM || seen === this.tried) return;
      this.tried = seen;
      this.set(Math.min(this.largest, this.share * Math.sqrt(there / height)));
      this.again();
    }, DRAWN);
  }

  /** Measures once what changed has been laid out. */
  again() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => { this.measure(); this.fitted(); });
  }

  /** The slide, the part of the page around it, and the height that there is. */
  room() {
    const around = document.querySelector(".stMainBlockContainer"), slide = around?.querySelector('[class*="st-key-slide_"]');
    if (!slide) return { around };
    const { paddingTop, paddingBottom } = getComputedStyle(around);
    return { around, slide, there: innerHeight - parseFloat(paddingTop) - parseFloat(paddingBottom) + 1 };
  }

  measure() {
    const { around, slide, there } = this.room();
    for (const part of [around, slide]) this.follow(part); // the slide may come after the bar
    if (!slide) return;
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
    clearTimeout(this.timer);
    this.watch.disconnect();
    for (const name of ["--present-type", "--atlas-zoom", "--atlas-controls"]) document.documentElement.style.removeProperty(name);
  }
}
