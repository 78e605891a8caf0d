// The message: a header, and of each strip of keys its weights and its mask.

export function decode(data) {
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  const raw = data.slice(Math.ceil((4 + length) / 4) * 4).buffer;
  for (const panel of header.panels) {
    panel.steps = panel.writes.length;
    for (const strip of panel.strips) {
      const cells = panel.steps * strip.labels.length;
      strip.numbers = new Float32Array(raw, strip.weights, panel.layers * panel.heads * cells);
      strip.allowed = new Uint8Array(raw, strip.mask, cells);
    }
  }
  return header;
}

/** Where a panel looks: a model with fewer layers or heads shows its last, and its last step once it has ended. */
export const placeIn = (panel, { word, layer, head }) => ({
  step: Math.min(word, panel.steps - 1), ended: word >= panel.steps,
  layer: Math.min(layer, panel.layers - 1), head: head === "mean" ? "mean" : Math.min(head, panel.heads - 1),
});

/** The weight of a key of a strip, exact; the mean of all heads where no one head is chosen. */
export function weightOf(panel, strip, { step, layer, head }, key) {
  const keys = strip.labels.length, one = which => strip.numbers[((layer * panel.heads + which) * panel.steps + step) * keys + key];
  if (head !== "mean") return one(head);
  let sum = 0;
  for (let which = 0; which < panel.heads; which++) sum += one(which);
  return sum / panel.heads;
}

export const maySee = (strip, { step }, key) => strip.allowed[step * strip.labels.length + key] === 1;

export const seen = (strip, at) => strip.labels.filter((_, key) => maySee(strip, at, key)).length;
