// Which step and which cell: from the URL, kept in it; and the place in the model, shared with the attention map.
import { isShared, replaceAddress } from "./address.js";

const PLACE = "attention-atlas.attention-map";

const names = ({ name }) => Object.fromEntries(["step", "cell", "difference"].map(what => [what, name ? `${name}.${what}` : what]));

const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));

export function readChosen(header, matrices, before) {
  const url = new URLSearchParams(location.search), { step, cell, difference } = names(header);
  const wanted = before?.step ?? url.get(step);
  const scene = header.scenes.find(entry => entry.id === wanted) ?? header.scenes[0];
  const given = before?.cell ?? url.get(cell)?.match(/^(\d+),(\d+)$/)?.slice(1).map(Number);
  return { step: scene.id, cell: given ?? null, difference: before?.difference ?? url.get(difference) === "1" };
}

/** The chosen cell of a scene's result; what is outside of it is moved to its edge. */
export function cellIn(scene, result, chosen) {
  const [row, col] = chosen.cell ?? scene.cell ?? [0, 0];
  return [clamp(row, result.rows), clamp(col, result.cols)];
}

export function linkOf(header, chosen) {
  const url = new URL(location.href), { step, cell, difference } = names(header);
  if (header.scenes.length > 1) url.searchParams.set(step, chosen.step);
  if (chosen.cell) url.searchParams.set(cell, chosen.cell.join(","));
  else url.searchParams.delete(cell);
  if (chosen.difference) url.searchParams.set(difference, "1");
  else url.searchParams.delete(difference);
  for (const [name, value] of Object.entries(header.place ?? {})) url.searchParams.set(name, value);
  return url.href;
}

export function writeChosen(header, chosen) {
  replaceAddress(linkOf(header, chosen));
}

function remembered() {
  if (isShared()) return {};
  try {
    return JSON.parse(sessionStorage.getItem(PLACE)) ?? {};
  } catch {
    return {};
  }
}

/** The place that another page left, if the link names none; null where it is the one that is drawn. */
export function placeElsewhere(header) {
  if (!header.place || new URLSearchParams(location.search).has("layer")) return null;
  const { attention, layer, head } = remembered();
  const known = typeof attention === "string" && Number.isInteger(layer) && Number.isInteger(head);
  const same = attention === header.place.attention && layer === header.place.layer && head === header.place.head;
  return known && !same ? { attention, layer, head } : null;
}

export function rememberPlace(header) {
  if (!header.place) return;
  try {
    sessionStorage.setItem(PLACE, JSON.stringify({ ...remembered(), ...header.place }));
  } catch { /* a browser without storage still has the URL */ }
}
