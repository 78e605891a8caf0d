// The switches above a picture.
import { choice, toggle } from "./controls.js";
import { guidedEntry, guidedTitle } from "./guided.js";

/** What a control needs to know of its room. */
export const fits = app => ({ theme: app.theme, room: app.inner });

/** The switches that both views offer. */
export function sharedControls(app, rowSwitch) {
  const { text } = app.payload.header, { state } = app;
  return [
    rowSwitch && choice({ ...fits(app), name: "row", label: text.row, value: state.row, onPick: row => app.set({ row }),
      options: [{ value: "produced", label: text.row_produced }, { value: "read", label: text.row_read }] }),
    choice({ ...fits(app), name: "unit", label: text.unit, value: state.unit, onPick: unit => app.set({ unit }),
      options: [{ value: "pieces", label: text.unit_pieces }, { value: "words", label: text.unit_words }] }),
    choice({ ...fits(app), name: "scale", label: text.scale, value: state.scale, onPick: scale => app.set({ scale }),
      options: [{ value: "unit", label: text.scale_unit }, { value: "map", label: text.scale_map }] }),
    toggle({ name: "special", label: text.special, value: state.special === "hide", onPick: hide => app.set({ special: hide ? "hide" : "show" }) }),
  ];
}

const markOf = entry => (entry ? `${entry.mark ?? "★"} ` : "");

export function layerAndHead(app, attention, text) {
  const { state } = app, count = total => [...Array(total).keys()];
  return [
    choice({ ...fits(app), name: "layer", label: text.layer, value: state.layer, onPick: layer => app.set({ layer }), options: attention.kept.map(layer => ({ value: layer, label: String(layer + 1) })) }),
    choice({ ...fits(app), name: "head", label: text.head, value: state.head, onPick: head => app.set({ head }),
      options: [...count(attention.heads).map(head => ({ value: head, label: markOf(guidedEntry(app, attention, state.layer, head)) + (head + 1), title: guidedTitle(app, attention, state.layer, head) })), { value: "mean", label: text.mean }] }),
  ];
}
