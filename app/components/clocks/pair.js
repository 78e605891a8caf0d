// The chosen pair in numbers: its rotation matrices, what they make of both hands, and the term that it adds.
import { written } from "./axes.js";
import { element, fill } from "./template.js";
import { degrees, term, turned, wrapped } from "./turn.js";

const minus = value => String(value).replace("-", "\u2212");
const cell = value => element("td", {}, written(value));

/** One hand: matrix, vector before, vector after. */
function turn(text, pair, name, position) {
  const { matrix, before, after } = turned(pair, name, position), title = fill(name === "q" ? text.of_query : text.of_key, { position });
  const heads = [element("th", { scope: "colgroup", colspan: "2" }, text.matrix), element("th", { scope: "col" }, text.before), element("th", { scope: "col" }, text.after)];
  const rows = [0, 1].map(row => element("tr", {}, element("td", { class: "edge" }, written(matrix[row][0])), element("td", { class: "edge last" }, written(matrix[row][1])), cell(before[row]), cell(after[row])));
  const table = element("table", { class: name === "q" ? "of-query" : "of-key", "data-testid": `matrix-${name}` }, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
  table.createCaption().textContent = title;
  return table;
}

export function describe(text, pair, places) {
  const [first, second] = pair.channels, offset = places.q - places.k, value = term(pair, offset), phase = wrapped(pair.phase);
  const title = element("h3", {}, fill(text.pair_title, { pair: pair.index, first, second, w: written(pair.w), wavelength: pair.wavelength.toFixed(1) }));
  const sum = element("p", { class: "note", "data-testid": "term" }, fill(text.term, {
    q: written(pair.q.size), k: written(pair.k.size), offset: minus(offset), w: written(pair.w), phi: phase < 0 ? `(${written(phase)})` : written(phase), degrees: minus(degrees(phase).toFixed(1)), value: written(value) }));
  return [title, element("div", { class: "turns table-scroll", tabindex: "0", role: "group", "aria-label": text.matrix }, turn(text, pair, "q", places.q), turn(text, pair, "k", places.k)), sum];
}

/** Four numbers to type instead of dragging. */
export function fields(text, pair, onChange) {
  const made = ["x_query", "y_query", "x_key", "y_key"].map((name, i) => {
    const hand = i < 2 ? pair.q : pair.k, box = element("input", { type: "number", step: "0.1", min: "-9", max: "9", "data-testid": name });
    box.value = String(Number((i % 2 ? hand.y : hand.x).toFixed(3)));
    box.onchange = () => onChange(i < 2 ? "q" : "k", i % 2, Number(box.value));
    return element("label", { class: "control" }, element("span", { class: "name" }, text[name]), box);
  });
  return made;
}
