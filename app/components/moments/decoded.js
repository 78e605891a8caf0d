// The message as something to draw from.
const LEVELS = 65535;

export function decode(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength), size = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + size)));
  const [, layers, heads, rows, cols] = header.shape, cells = rows * cols;
  const levels = new Uint16Array(data.slice(4 + size).buffer), masked = new Uint8Array(cells);
  const map = ({ moment, layer, head }) => {
    const start = ((moment * layers + layer) * heads + head) * cells;
    return { rows, cols, masked, top: 1, values: Float32Array.from(levels.subarray(start, start + cells), level => level / LEVELS) };
  };
  const gold = row => new Set(header.links.map(([source, target]) => (target + (row === "read" ? 1 : 0)) * cols + source));
  return { ...header, layers, heads, rows, cols, map, gold: { produced: gold("produced"), read: gold("read") } };
}

/** The share of linked words at which this layer, head and row point. */
export const aligned = (shown, { moment, layer, head, row }) => shown.alignment[moment][layer][head][row === "read" ? 1 : 0];

const percent = value => Math.round(value * 1000) / 10;

export const share = value => `${percent(value)}\u00a0%`;

/** What the two charts show, in the form that the curves draw. */
export function charts(shown, place) {
  const { text, steps } = shown, labels = steps.map(String), of = moment => aligned(shown, { ...place, moment });
  const line = (label, values, kind = "line") => ({ label, values, kind });
  const loss = { marks: [], labels, places: steps, x_name: text.updates, y_name: text.loss_axis, series: [line(text.loss, shown.loss)] };
  if (shown.losses.length > 1) {
    const all = [...new Set([...shown.losses.map((_, i) => i + 1), ...steps])].sort((a, b) => a - b);
    const measured = new Map(steps.map((step, i) => [step, shown.loss[i]]));
    Object.assign(loss, { labels: all.map(String), places: all, series: [
      line(text.training_loss, all.map(step => shown.losses[step - 1] ?? null)),
      line(text.loss, all.map(step => measured.get(step) ?? null), "dots"),
    ] });
  }
  return [loss, { marks: [], labels, places: steps, x_name: text.updates, y_name: text.share_axis, series: [
    line(text.exact, shown.exact), line(text.aligned, steps.map((_, moment) => of(moment))),
  ] }];
}
