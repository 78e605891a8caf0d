// What the reader has chosen: read from the URL, else from this tab's memory, else from the page; written to both.
import { isShared, replaceAddress } from "./address.js";

const MEMORY = "attention-atlas.attention-map";
const CHOICES = { overview: ["one", "all"], row: ["produced", "read"], unit: ["pieces", "words"], special: ["show", "hide"], scale: ["unit", "map"] };
const FIRST = { overview: "all", row: "produced", unit: "pieces", special: "show", scale: "unit" };

function remembered() {
  if (isShared()) return {};
  try {
    return JSON.parse(sessionStorage.getItem(MEMORY)) ?? {};
  } catch {
    return {};
  }
}

const isIndex = (value, count) => /^\d+$/.test(String(value)) && Number(value) < count;

/** Only what this trace has; anything else falls back. */
function valid(name, value, attentions, attention) {
  if (value === null || value === undefined) return undefined;
  if (name in CHOICES) return CHOICES[name].includes(value) ? value : undefined;
  if (name === "attention") return attentions.some(entry => entry.id === value) ? value : undefined;
  if (name === "over") return /^\d{1,2}(,\d{1,2})*$/.test(value) ? value : undefined;
  if (name === "layer") return isIndex(value, attention.layers) && attention.kept.includes(Number(value)) ? Number(value) : undefined;
  return value === "mean" ? value : isIndex(value, attention.heads) ? Number(value) : undefined;
}

/** The state of a first visit, as the page asks for it; layer null means that no head is opened. */
export function firstState(header, attentions) {
  const { defaults } = header;
  const attention = attentions.find(entry => entry.id === defaults.attention) ?? attentions[attentions.length - 1];
  const state = { ...FIRST, attention: attention.id };
  for (const name of Object.keys(CHOICES)) state[name] = valid(name, defaults[name], attentions, attention) ?? FIRST[name];
  state.layer = valid("layer", defaults.layer, attentions, attention) ?? (header.view === "linked" ? attention.kept.at(-1) : null);
  state.head = valid("head", defaults.head, attentions, attention) ?? (header.view === "linked" ? "mean" : null);
  state.over = null; // heads drawn over the opened one
  return state;
}

export function readState(header, attentions, current = {}) {
  const first = firstState(header, attentions), url = new URLSearchParams(location.search), memory = remembered();
  const state = {};
  const pick = (name, attention) => [current[name], url.get(name), memory[name]]
    .map(value => valid(name, value, attentions, attention)).find(value => value !== undefined) ?? first[name];
  state.attention = pick("attention");
  const attention = attentions.find(entry => entry.id === state.attention);
  for (const name of [...Object.keys(CHOICES), "layer", "head", "over"]) state[name] = pick(name, attention);
  if (state.layer === null || state.head === null) state.layer = state.head = null;
  return state;
}

/** Parameters of this view; the server's own (language, model, sentences) are left as they are. */
function written(header, state) {
  const names = header.view === "linked" ? ["layer", "head", "row", "unit", "special", "scale"] : ["attention", "overview", "layer", "head", "over", "row", "unit", "special", "scale"];
  return names.map(name => [name, state[name]]);
}

export function linkOf(header, state) {
  const url = new URL(location.href);
  for (const [name, value] of written(header, state)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, String(value));
  }
  return url.href;
}

export function writeState(header, state) {
  try {
    sessionStorage.setItem(MEMORY, JSON.stringify({ ...remembered(), ...Object.fromEntries(written(header, state)) }));
  } catch { /* a browser without storage still has the URL */ }
  replaceAddress(linkOf(header, state));
}
