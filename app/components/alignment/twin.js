// The numbers as a table, and as a file.
import { csvBlob } from "./export.js";
import { Folded } from "./folded.js";
import { NONE, POSSIBLE, SURE } from "./links.js";
import { captionOf, whereOf, written } from "./say.js";
import { element } from "./template.js";

const WHOLE = 64;

const goldName = (text, value) => ({ [SURE]: text.legend_sure_alone, [POSSIBLE]: text.legend_possible_alone, [NONE]: "" })[value];

/** Of a link or a gold cell: is it the model's, what does the gold say. */
function standing({ shown, draft }, target, source) {
  const link = [source.word, target.word], cell = draft.cellOf(link);
  const inside = !source.special && !target.special;
  return { linked: inside && shown.linked.has(cell), gold: inside && draft.known ? draft.cells.get(cell) ?? NONE : NONE };
}

/** The whole matrix, or of a large one its links alone. */
export class TableTwin extends Folded {
  show(app) { this.renew({ app }); }

  made() {
    const { shown } = this.app, large = Math.max(shown.map.rows, shown.map.cols) > WHOLE;
    return large ? this.links() : this.whole();
  }

  whole() {
    const { app, text } = this, { axes, map } = app.shown;
    const head = element("tr", {}, element("th", { scope: "col" }, text.table_corner), ...axes.cols.items.map(item => name("col", item)));
    const body = axes.rows.items.map((target, row) => element("tr", {}, name("row", target), ...axes.cols.items.map((source, col) => {
      const { linked, gold } = standing(app, target, source), marks = [linked ? text.table_link : "", goldName(text, gold)].filter(Boolean);
      return element("td", {}, written(map.values[row * map.cols + col]), ...(marks.length ? [" ", element("small", {}, marks.join(text.comma))] : []));
    })));
    return this.table(element("thead", {}, head), element("tbody", {}, ...body));
  }

  links() {
    const { app, text } = this, { words, cells } = app.shown, { header, draft } = app, names = [text.target, text.source, text.table_weight, text.table_link, text.table_gold];
    const body = cells.map(({ link: [source, target] }) => element("tr", {},
      name("row", { label: header.target.words[target], place: target }), element("td", {}, ...named(header.source.words[source], source)),
      element("td", {}, written(words.values[target * words.cols + source])), element("td", {}, app.shown.linked.has(draft.cellOf([source, target])) ? text.linked : text.not_linked),
      element("td", {}, goldName(text, draft.cells.get(draft.cellOf([source, target])) ?? NONE))));
    const made = this.table(element("thead", {}, element("tr", {}, ...names.map(label => element("th", { scope: "col" }, label)))), element("tbody", {}, ...body));
    made.caption.textContent += ` · ${text.table_links}`;
    return made;
  }

  table(...parts) {
    const made = element("table", {}, ...parts);
    made.createCaption().textContent = `${this.text.title} · ${whereOf(this.app.header, this.app.state)}`;
    return made;
  }
}

const named = (label, place) => [element("bdi", {}, label), " ", element("small", {}, String(place))];
const name = (scope, { label, place }) => element("th", { scope }, ...named(label, place));

/** Long form, one line a cell; the caption stands in the last column of the first line. */
export function csvOf(app) {
  const { axes, map } = app.shown, lines = [["target_position", "target", "source_position", "source", "weight", "link", "gold", "caption"]];
  axes.rows.items.forEach((target, row) => axes.cols.items.forEach((source, col) => {
    const { linked, gold } = standing(app, target, source);
    lines.push([target.place, target.label, source.place, source.label, map.values[row * map.cols + col].toFixed(7), linked ? 1 : 0,
      app.draft.known ? { [SURE]: "S", [POSSIBLE]: "P", [NONE]: "" }[gold] : "", lines.length === 1 ? captionOf(app).join(" ") : ""]);
  }));
  return csvBlob(lines);
}
