// The same numbers as tables and as files: the clocks pair by pair, the curve offset by offset.
import { written } from "./axes.js";
import { csvBlob } from "./export.js";
import { Folded } from "./folded.js";
import { element, fill } from "./template.js";
import { degrees, product, term } from "./turn.js";

const FIELDS = ["pair", "channels", "frequency", "wavelength", "angle_query", "angle_key", "phase", "size", "adds"];

const rowOf = (pair, { q, k }) => [pair.index, pair.channels.join(", "), pair.w, pair.wavelength, degrees(pair.q.angle + q * pair.w), degrees(pair.k.angle + k * pair.w), degrees(pair.phase), pair.size, term(pair, q - k)];

const named = (text, name) => name === "pair" ? text.pair_name : text[name];

export class TableTwin extends Folded {
  constructor(text) { super(text, text.table); }

  show(pairs, places) {
    this.renew({ pairs, places });
  }

  made() {
    const { text } = this, heads = FIELDS.map(name => element("th", { scope: "col" }, named(text, name)));
    const rows = this.pairs.map(pair => {
      const [index, channels, ...numbers] = rowOf(pair, this.places);
      return element("tr", {}, element("th", { scope: "row" }, String(index)), element("td", {}, channels), ...numbers.map(value => element("td", {}, written(value))));
    });
    return element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
  }
}

export const csvOfDials = (text, pairs, places, caption) =>
  csvBlob([[...FIELDS.map(name => named(text, name)), "caption"], ...pairs.map((pair, i) => [...rowOf(pair, places), i ? "" : caption.join(" ")])]);

/** One line a whole offset: what every pair adds, the sum, and the score. */
export function csvOfOffsets(text, pairs, reach, scale, caption) {
  const lines = [[text.offset, ...pairs.map(pair => fill(text.pair, { pair: pair.index })), text.product, text.score, "caption"]];
  for (let offset = -reach; offset <= reach; offset++) {
    const sum = product(pairs, offset);
    lines.push([offset, ...pairs.map(pair => term(pair, offset)), sum, sum * scale, lines.length > 1 ? "" : caption.join(" ")]);
  }
  return csvBlob(lines);
}
