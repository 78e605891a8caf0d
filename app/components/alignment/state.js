// What the reader has chosen: read from the URL, else from what this tab chose before, else from the study; written to the URL.
import { replaceAddress } from "./address.js";
import { METHODS } from "./symmetrize.js";

const CHOICES = { view: ["matrix", "ribbon"], unit: ["words", "pieces"], row: ["produced", "read"], second: ["none", "reverse", "joint", "axis"], method: METHODS };
const FIRST = { view: "matrix", unit: "words", layer: 0, head: "mean", row: "produced", measure: "weights", threshold: null, second: "none", method: "grow-diag-final-and" };
const NAMES = Object.keys(FIRST);

let chosen = null; // in this tab, for the same study

const isIndex = (value, count) => /^\d{1,4}$/.test(String(value)) && Number(value) < count;

/** Only what this pair has; undefined for anything else. */
function valid(name, value, header) {
  if (value === undefined) return undefined;
  if (name === "threshold") {
    if (value === null || value === "argmax") return null;
    return /^0(\.\d{1,6})?$/.test(String(value)) ? Number(value) : undefined;
  }
  if (value === null) return undefined;
  if (name === "measure") return header.measures.includes(value) ? value : undefined;
  if (name === "layer") return isIndex(value, header.layers) ? Number(value) : undefined;
  if (name === "head") return value === "mean" ? value : isIndex(value, header.heads) ? Number(value) : undefined;
  if (name === "second" && ((value === "reverse" && !header.backward) || (value === "joint" && !header.joint))) return undefined;
  return CHOICES[name].includes(value) ? value : undefined;
}

/** `current`: the state of this view, which goes before the URL. What the study asks for goes before both when it has changed. */
export function readState(header, current) {
  const url = new URLSearchParams(location.search), asked = JSON.stringify(header.defaults), same = chosen?.asked === asked;
  const first = { ...FIRST, ...header.defaults }, state = {};
  for (const name of NAMES) {
    const written = url.has(name) ? url.get(name) : undefined;
    const candidates = current && !same ? [first[name]] : [current?.[name], written, same ? chosen.state[name] : undefined, first[name]];
    state[name] = [...candidates, FIRST[name]].map(value => valid(name, value, header)).find(value => value !== undefined);
  }
  if (current && !same) Object.assign(state, { view: current.view, unit: current.unit });
  chosen = { asked, state };
  return state;
}

export function writeState(header, state) {
  chosen = { asked: JSON.stringify(header.defaults), state };
  const url = new URL(location.href);
  for (const name of NAMES) url.searchParams.set(name, state[name] === null ? "argmax" : String(state[name]));
  replaceAddress(url.href);
}

/** The URL without what this view wrote: another part of the page has the same address. */
export function clearState() {
  const url = new URL(location.href);
  for (const name of NAMES) url.searchParams.delete(name);
  replaceAddress(url.href);
}
