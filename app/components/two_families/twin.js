// Step by step, what both wrote and how many keys each could read: as a table, and with all weights as a file.
import { csvBlob } from "./export.js";
import { folded } from "./folded.js";
import { maySee, placeIn, seen, weightOf } from "./payload.js";
import { element, fill } from "./template.js";

export function twinOf({ panels, text }) {
  const heads = panels.flatMap(({ title }) => ["table_token", "table_probability", "table_sees"].map(name => element("th", { scope: "col" }, `${title}: ${text[name]}`)));
  const rows = [...Array(Math.max(...panels.map(({ steps }) => steps))).keys()].map(step => element("tr", {}, element("th", { scope: "row" }, String(step + 1)), ...panels.flatMap(panel => cells(panel, step))));
  const table = element("table", {}, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, text.table_step), ...heads)), element("tbody", {}, ...rows));
  table.createCaption().textContent = text.title;
  return folded(text, text.title, table);
}

function cells(panel, step) {
  if (step >= panel.steps) return ["", "", ""].map(value => element("td", {}, value));
  const read = panel.strips.map(strip => seen(strip, { step })).join(" + ");
  return [element("td", {}, element("bdi", {}, panel.writes[step])), element("td", {}, Math.exp(panel.logarithms[step]).toFixed(4)), element("td", {}, read)];
}

/** Every key of the step that is shown, in both models. */
export function csvOf({ panels }, look, caption) {
  const lines = [["model", "step", "writes", "log_probability", "attention", "head", "key_position", "key", "may_attend", "weight", "caption"]];
  for (const panel of panels) {
    const place = placeIn(panel, look);
    for (const strip of panel.strips) {
      strip.labels.forEach((label, key) => lines.push([
        panel.id, place.step, panel.writes[place.step], panel.logarithms[place.step], fill(strip.path, { layer: place.layer }), place.head, key, label,
        maySee(strip, place, key), Number(weightOf(panel, strip, place, key).toPrecision(8)), lines.length === 1 ? caption.join(" ") : "",
      ]));
    }
  }
  return csvBlob(lines);
}
