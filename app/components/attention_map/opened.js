// One head as both views show it: its numbers, its name, and the sentences that say what a cell, a row or a column holds.
import { axesOf, rowsBy } from "./axes.js";
import { decimals, largest, mapOf, maskedRuns, meanOf, reduce, strongest } from "./reduce.js";
import { rasterize } from "./scale.js";
import { fill, isolate } from "./template.js";

/** The opened head, {loading} while a large one is on its way, or null where none is open. */
export function openHead({ header, attentions, details }, state, theme) {
  if (state.layer === null) return null;
  const attention = attentions.find(entry => entry.id === state.attention), { layer, head } = state;
  const detail = attention.pooled ? details.get(detailName(header.trace, attention.id, layer, head)) : null;
  if (attention.pooled && !detail) return { attention, layer, head, loading: true };
  const axes = axesOf(header, attention, state);
  const recorded = detail ? { rows: detail.queries, cols: detail.keys, values: detail.values, masked: detail.masked } : mapOf(attention, layer, head);
  const map = reduce(recorded, axes), top = state.scale === "map" ? largest(map.values) : 1, { text } = header;
  const messages = map.states.map((found, row) => ({ row, text: { masked: text.no_key, removed: text.all_special }[found] })).filter(message => message.text && map.cols);
  return { attention, layer, head, axes, map, recorded, top, exact: Boolean(detail), bitmap: rasterize(theme, [{ ...map, top }]), runs: maskedRuns(map), messages, text, state };
}

export const detailName = (trace, attention, layer, head) => [trace, attention, layer, head].join("/");

export const attentionName = (text, id) => text[id.replaceAll(".", "_")] ?? id;

export function titleOf(text, { attention, layer, head }) {
  const values = { attention: attentionName(text, attention.id), layer: layer + 1, head: head + 1 };
  return fill(head === "mean" ? text.opened_mean : text.opened, values);
}

export const pathOf = ({ attention, layer, head }) =>
  `${attention.path.replace("{layer}", layer)}${head === "mean" ? "[0].mean(0)" : `[0, ${head}]`}`;

export const conventionOf = (text, { attention, state }) =>
  ({ itself: text.convention_self, produced: text.convention_produced, read: text.convention_read })[rowsBy(attention, state)];

/** A weight with as many decimals as are true. */
export const weightText = (opened, row, col) => {
  const at = row * opened.map.cols + col;
  return opened.map.values[at].toFixed(decimals(opened.exact, opened.map.removed[row]));
};

/** What a cursor or pointer is on, as a sentence with exact numbers. */
export function describe(opened, { query, key }) {
  const { text, axes, map, layer, head } = opened, rows = axes.rows.items, cols = axes.cols.items;
  const place = head === "mean" ? fill(text.head_mean, {}) : fill(text.head_number, { head: head + 1 });
  const values = { layer: layer + 1, head: place };
  const side = (name, item) => ({ [name]: isolate(item.label), [`${name}_position`]: item.place });
  if (query !== null && rows[query]) Object.assign(values, side("query", rows[query]));
  if (key !== null && cols[key]) Object.assign(values, side("key", cols[key]));
  if (query !== null && map.states[query] === "masked") return fill(text.row_no_key, values);
  if (query !== null && map.states[query] === "removed") return fill(text.row_all_special, { ...values, removed: map.removed[query].toFixed(4) });
  if (query !== null && key !== null) {
    if (map.masked[query * map.cols + key]) return fill(text.cell_masked, values);
    return fill(text.cell, { ...values, weight: weightText(opened, query, key) }) + removedOf(opened, query);
  }
  const other = query !== null ? strongest(map, { row: query }) : strongest(map, { col: key });
  if (other === null) return fill(text.cell_masked, { ...values, query: "–", query_position: "–" });
  const [row, col] = query !== null ? [query, other] : [other, key];
  Object.assign(values, side("query", rows[row]), side("key", cols[col]), { weight: weightText(opened, row, col) });
  return fill(query !== null ? text.row_summary : text.key_summary, values) + (query !== null ? removedOf(opened, query) : "");
}

const removedOf = ({ state, map, text }, row) =>
  state.special === "hide" ? ` ${fill(text.removed_row, { removed: map.removed[row].toFixed(4) })}` : "";

/** The mean removed mass, said whenever special tokens are hidden. */
export const removedNote = ({ state, map, text }) =>
  state.special === "hide" ? fill(text.removed_mean, { removed: meanOf([...map.removed]).toFixed(4) }) : "";

export const scaleEnd = ({ state, top, text }) => state.scale === "map" ? fill(text.scale_this_map, { maximum: top.toFixed(4) }) : "1";

/** The caption of an export: model and sentences; layer, head, path; every convention in force. */
export function captionOf(opened, caption) {
  const { text, state } = opened;
  const shown = fill(text.caption_shown, {
    title: titleOf(text, opened), path: pathOf(opened), convention: conventionOf(text, opened),
    unit: state.unit === "words" ? text.unit_words : text.unit_pieces, scale: state.scale === "map" ? text.scale_map : text.scale_unit,
  });
  return [fill(text.caption_sentence, { model: caption.model, source: isolate(caption.source), target: isolate(caption.target) }), shown,
    state.special === "hide" ? `${removedNote(opened)}` : ""].filter(Boolean);
}
