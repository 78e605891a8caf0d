// All that is drawn of a pair under its switches: axes, maps, links, and what each of them is beside the gold.
import { hypothesis, NONE, verdict } from "./links.js";
import { axesOf, extentsOf, pieceMap, wordMap } from "./maps.js";
import { rasterize } from "./scale.js";

/** Null while the maps of a large pair are on their way. */
export function shownOf({ data, header, state, draft, theme }) {
  const pieces = pieceMap(data, state);
  if (!pieces) return null;
  const axes = axesOf(header, state), words = wordMap(header, state, pieces), map = state.unit === "words" ? words : pieces;
  const links = hypothesis(data, state, words), linked = new Set(links.map(draft.cellOf));
  const extents = { rows: extentsOf(axes.rows.items), cols: extentsOf(axes.cols.items) };
  const cells = [...new Set([...linked, ...(draft.known ? draft.cells.keys() : [])])].sort((one, other) => one - other).map(cell => {
    const link = draft.linkOf(cell), share = Math.min(1, words.values[link[1] * words.cols + link[0]]);
    return { link, share, verdict: verdict(linked.has(cell), draft.cells.get(cell) ?? NONE, draft.known), row: extents.rows.get(link[1]), col: extents.cols.get(link[0]) };
  });
  return {
    axes, map, words, links, linked, extents,
    cells: cells.filter(({ row, col }) => row && col), // between pieces, a word without any has no place
    specials: new Map(axes.cols.items.filter(({ special }) => special).map(({ word, label }) => [word, label])),
    bitmap: rasterize(theme, [{ ...map, masked: new Uint8Array(map.values.length), top: 1 }]),
    titles: { rows: header.text.target, cols: header.text.source },
  };
}
