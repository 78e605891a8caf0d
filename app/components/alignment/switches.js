// The switches above the pictures.
import { choice } from "./controls.js";
import { METHODS } from "./symmetrize.js";
import { element } from "./template.js";

const MOST = 0.99, USUAL = 0.2;

export function switchesOf(app) {
  const { header, state } = app, { text } = header, fits = { theme: app.theme, room: app.inner };
  const one = (name, values, label = value => text[`${name}_${value}`], onPick = value => app.set({ [name]: value }), value = state[name]) =>
    choice({ ...fits, name, label: text[name], options: values.map(each => ({ value: each, label: label(each) })), value, onPick });
  const numbers = total => [...Array(total).keys()], counted = value => value === "mean" ? text.mean : String(value + 1);
  const joint = state.second === "joint"; // which has a rule of its own
  return [
    one("layer", numbers(header.layers), counted),
    one("head", [...numbers(header.heads), "mean"], counted),
    one("row", ["produced", "read"]),
    header.measures.length > 1 && one("measure", header.measures),
    one("unit", ["words", "pieces"]),
    !joint && one("rule", ["argmax", "threshold"], undefined, rule => app.set({ threshold: rule === "argmax" ? null : state.threshold ?? USUAL }), state.threshold === null ? "argmax" : "threshold"),
    !joint && state.threshold !== null && slider(app),
    one("second", ["none", ...(header.backward ? ["reverse"] : []), ...(header.joint ? ["joint"] : []), "axis"]),
    !joint && state.second !== "none" && one("method", METHODS, value => text[`method_${value.replaceAll("-", "_")}`]),
  ];
}

/** Follows the hand without the controls being made anew; the URL is written when it is let go. */
function slider(app) {
  const { header, state } = app, { text } = header;
  const number = element("output", { class: "number" }, String(state.threshold));
  const range = element("input", { type: "range", min: "0", max: String(MOST), step: "0.01", "data-testid": "threshold", "aria-label": text.threshold });
  range.value = String(state.threshold);
  range.oninput = () => {
    const threshold = Number(range.value);
    number.textContent = String(threshold);
    app.slide(threshold);
  };
  range.onchange = () => app.write();
  return element("label", { class: "control slide" }, element("span", { class: "name" }, text.threshold), range, number);
}
