// The candidates of a step as a table, and all steps as a file.
import { share, written } from "./candidates.js";
import { csvBlob } from "./export.js";
import { Folded } from "./folded.js";
import { element, fill } from "./template.js";

export class Twin extends Folded {
  show(header, step) { this.renew({ header, step }); }

  made() {
    const { header, step } = this, { text } = header, moment = header.moments[step];
    const names = ["table_rank", "table_token", "table_id", "logit", "divided", "probability", "table_cut", "final"];
    const head = element("tr", {}, ...names.map(name => element("th", { scope: "col" }, text[name])));
    const rows = moment.candidates.map(one => element("tr", {}, element("td", {}, String(one.rank)), element("th", { scope: "row" }, element("bdi", {}, one.label)),
      ...[String(one.id), written(one.logit, 4), one.divided === null ? "–" : written(one.divided, 4), share(one.probability), one.cut ? text[`cut_${one.cut}`] : text.kept, share(one.final)].map(value => element("td", {}, value))));
    const rest = element("tr", {}, element("td", {}, ""), element("th", { scope: "row" }, fill(text.others, { count: moment.others.toLocaleString("en-US") })),
      ...["", "", "", share(moment.others_probability), "", share(moment.others_final)].map(value => element("td", {}, value)));
    const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows, rest));
    table.createCaption().textContent = fill(text.position, { step: step + 1, read: moment.read, taken: moment.taken });
    return table;
  }
}

/** Every candidate of every step, a line each; the caption stands in the last column of the first line. */
export function csvOf({ moments }, caption) {
  const lines = [["step", "read", "taken", "rank", "token", "id", "logit", "logit_over_temperature", "probability", "cut_by", "final", "drawn", "caption"]];
  moments.forEach((moment, step) => {
    for (const one of moment.candidates) {
      lines.push([step, moment.read, moment.taken, one.rank, one.label, one.id, one.logit, one.divided ?? "", one.probability, one.cut, one.final, moment.drawn ?? "", lines.length === 1 ? caption.join(" ") : ""]);
    }
    lines.push([step, moment.read, moment.taken, "", "", "", "", "", moment.others_probability, "", moment.others_final, moment.drawn ?? "", ""]);
  });
  return csvBlob(lines);
}
