// The links that the visitor makes by hand: a draft that outlives this view, until it is saved or thrown away.
import { NONE, POSSIBLE, SURE } from "./links.js";

const STORE = "attention-atlas.alignment-draft", KEPT = 200;
const touched = new Set(); // pairs with a draft that were open since the page was loaded
const NEXT = { [NONE]: SURE, [SURE]: POSSIBLE, [POSSIBLE]: NONE };

export class Draft {
  constructor(header) {
    this.header = header;
    this.saved = this.fromLists(header.gold ?? { sure: [], possible: [] });
    const kept = this.stored();
    this.cells = kept ? this.fromLists(kept) : new Map(this.saved);
    this.restored = Boolean(kept) && this.changed;
    this.past = [];
  }

  cellOf = ([source, target]) => target * this.header.source.words.length + source;

  linkOf(cell) {
    const sources = this.header.source.words.length;
    return [cell % sources, Math.floor(cell / sources)];
  }

  fromLists({ sure, possible }) {
    const cells = new Map();
    for (const link of possible) if (this.within(link)) cells.set(this.cellOf(link), POSSIBLE);
    for (const link of sure) if (this.within(link)) cells.set(this.cellOf(link), SURE);
    return cells;
  }

  within = link => Array.isArray(link) && link.length === 2 && link.every((at, side) =>
    Number.isInteger(at) && at >= 0 && at < [this.header.source, this.header.target][side].words.length);

  get lists() {
    const all = [...this.cells].sort(([one], [other]) => one - other), of = test => all.filter(([, value]) => test(value)).map(([cell]) => this.linkOf(cell));
    return { sure: of(value => value === SURE), possible: of(() => true) };
  }

  get changed() {
    return this.cells.size !== this.saved.size || [...this.cells].some(([cell, value]) => this.saved.get(cell) !== value);
  }

  /** Whether anything is taken to be right here: gold that came along, or links made by hand. */
  get known() { return this.header.gold !== null || this.changed; }

  cycle(link) {
    const cell = this.cellOf(link), cells = new Map(this.cells), next = NEXT[this.cells.get(cell) ?? NONE];
    if (next === NONE) cells.delete(cell);
    else cells.set(cell, next);
    this.become(cells);
  }

  /** Every link of the model as a sure one. */
  take(links) { this.become(new Map(links.map(link => [this.cellOf(link), SURE]))); }

  clear() { this.become(new Map()); }

  become(cells) {
    this.past.push(this.cells);
    if (this.past.length > KEPT) this.past.shift();
    this.cells = cells;
    this.keep();
  }

  undo() {
    if (!this.past.length) return;
    this.cells = this.past.pop();
    this.keep();
  }

  /** Back to what is saved; it can be undone. */
  discard() { this.become(new Map(this.saved)); }

  stored() {
    try {
      const found = JSON.parse(sessionStorage.getItem(STORE))?.[this.header.pair];
      return Array.isArray(found?.sure) && Array.isArray(found?.possible) ? found : null;
    } catch {
      return null;
    }
  }

  /** In this tab's memory, so that going elsewhere loses nothing. */
  keep() {
    try {
      const all = JSON.parse(sessionStorage.getItem(STORE)) ?? {};
      if (this.changed) all[this.header.pair] = this.lists;
      else delete all[this.header.pair];
      sessionStorage.setItem(STORE, JSON.stringify(all));
      if (this.changed) touched.add(this.header.pair);
    } catch { /* a browser without storage: the question before leaving is still asked */ }
  }
}

/** Whether links of any pair that was open here were not saved. */
export function draftsLeft() {
  try {
    return Object.keys(JSON.parse(sessionStorage.getItem(STORE)) ?? {}).some(pair => touched.has(pair));
  } catch {
    return false;
  }
}
