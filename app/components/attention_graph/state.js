// What the reader has chosen: read from the URL, else from the page; written to the URL, and remembered for the other pages of this tab.
import { replaceAddress } from "./address.js";

const MEMORY = "attention-atlas.attention-map";
const CHOICES = { row: ["produced", "read"], encoder: ["matrix", "graph"] };

const index = (value, count) => /^\d+$/.test(String(value)) ? Math.min(Number(value), count - 1) : undefined;

function valid(name, value, attentions) {
  if (name in CHOICES) return CHOICES[name].includes(value) ? value : undefined;
  if (name === "attention") return attentions.some(entry => entry.id === value) ? value : undefined;
  return index(value, Math.max(...attentions.map(entry => name === "layer" ? entry.layers : entry.heads)));
}

export function readState(header, attentions, current = {}) {
  const url = new URLSearchParams(location.search), first = { attention: attentions[0].id, layer: 0, head: 0, row: "produced", encoder: "matrix" }, state = {};
  for (const name of Object.keys(first)) {
    state[name] = [current[name], url.get(name), header.defaults[name]].map(value => valid(name, value, attentions)).find(value => value !== undefined) ?? first[name];
  }
  return state;
}

export function linkOf(state) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(state)) url.searchParams.set(name, String(value));
  return url.href;
}

export function writeState(state) {
  try {
    const memory = JSON.parse(sessionStorage.getItem(MEMORY)) ?? {};
    sessionStorage.setItem(MEMORY, JSON.stringify({ ...memory, attention: state.attention, layer: state.layer, head: state.head, row: state.row }));
  } catch { /* a browser without storage still has the URL */ }
  replaceAddress(linkOf(state));
}
