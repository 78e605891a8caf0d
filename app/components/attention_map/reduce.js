// The arithmetic between the recorded weights and the numbers on the screen, in this order:
// mean of the heads; words (sum over the pieces of a key, mean over the pieces of a query); special tokens hidden, rows renormalised.

const LEVELS = 65535;

/** One head as stored, without a copy, or the sum of all; `full` is the level that stands for a weight of 1. */
export function levelsOf(attention, layer, head) {
  const { queries, keys } = attention.stored, size = queries * keys, from = attention.kept.indexOf(layer) * attention.heads * size, first = from + (head === "mean" ? 0 : head) * size;
  const masked = attention.masks === "shared" ? attention.mask : attention.mask.subarray(first, first + size), map = { rows: queries, cols: keys, masked };
  if (head !== "mean") return { ...map, values: attention.levels.subarray(first, first + size), full: LEVELS / attention.unit };
  const values = new Float32Array(size);
  for (let at = from, i = 0; at < from + attention.heads * size; at++, i = i + 1 === size ? 0 : i + 1) values[i] += attention.levels[at];
  return { ...map, values, full: attention.heads * LEVELS / attention.unit };
}

/** One head, or the mean of all, as weights. */
export function mapOf(attention, layer, head) {
  const { values, full, ...map } = levelsOf(attention, layer, head);
  return { ...map, values: Float64Array.from(values, level => level / full) };
}

/** A row below this share of what it had is not scaled up again: its digits would be noise. */
const LEAST = 0.001;

/**
 * The map as it is drawn. `states` says of each row whether it has numbers ("ok"), may read nothing ("masked") or has
 * everything on hidden tokens ("removed"); `removed` is the share of each row that lay on hidden keys.
 */
export function reduce(map, axes) {
  const { rows, cols } = axes, height = rows.items.length, width = cols.items.length;
  const columnOf = new Int32Array(map.cols).fill(-1), hiddenColumn = new Uint8Array(map.cols).fill(1);
  cols.items.forEach((item, index) => item.positions.forEach(k => { columnOf[k] = index; hiddenColumn[k] = 0; }));
  const values = new Float64Array(height * width), open = new Uint8Array(height * width);
  const removed = new Float64Array(height), states = Array(height).fill("masked");
  const readers = readingRows(map);
  for (let row = 0; row < height; row++) {
    const positions = rows.items[row].positions.filter(q => readers[q]), share = 1 / positions.length, base = row * width;
    let kept = 0, lost = 0;
    for (const q of positions) {
      for (let k = 0; k < map.cols; k++) {
        const at = q * map.cols + k;
        if (map.masked[at]) continue;
        const value = map.values[at] * share;
        if (hiddenColumn[k]) lost += value;
        else { values[base + columnOf[k]] += value; open[base + columnOf[k]] = 1; kept += value; }
      }
    }
    if (!positions.length) continue;
    const total = kept + lost;
    removed[row] = lost > 0 ? lost / total : 0;
    states[row] = lost > 0 && kept < LEAST * total ? "removed" : "ok";
    if (states[row] === "removed") values.fill(0, base, base + width);
    else if (lost > 0) for (let col = 0; col < width; col++) values[base + col] *= total / kept;
  }
  const masked = open.map(flag => 1 - flag);
  return { rows: height, cols: width, values, masked, states, removed, anyMasked: masked.includes(1) };
}

/** Queries that may read anything at all; the others have no part in the mean over a word's pieces. */
function readingRows(map) {
  const readers = new Uint8Array(map.rows);
  for (let q = 0; q < map.rows; q++) for (let k = 0; k < map.cols && !readers[q]; k++) readers[q] = 1 - map.masked[q * map.cols + k];
  return readers;
}

export function largest(values) {
  let top = 0;
  for (let i = 0; i < values.length; i++) if (values[i] > top) top = values[i];
  return top;
}

/** A map for fewer pixels: each cell of the result is the largest of a block; masked where all of the block is. */
export function pool(map, block) {
  if (block <= 1) return map;
  const rows = Math.ceil(map.rows / block), cols = Math.ceil(map.cols / block);
  const values = new Float32Array(rows * cols), masked = new Uint8Array(rows * cols).fill(1);
  for (let row = 0; row < map.rows; row++) {
    const from = row * map.cols, to = Math.floor(row / block) * cols;
    for (let col = 0, at = to, left = block; col < map.cols; col++, left--) {
      if (!left) { at++; left = block; }
      if (map.masked[from + col]) continue;
      masked[at] = 0;
      const value = map.values[from + col];
      if (value > values[at]) values[at] = value;
    }
  }
  return { ...map, rows, cols, values, masked };
}

/** Index of the largest open cell of a row (or of a column), or null. */
export function strongest(map, { row, col }) {
  let best = null, top = -1;
  const count = row === undefined ? map.rows : map.cols;
  for (let i = 0; i < count; i++) {
    const at = row === undefined ? i * map.cols + col : row * map.cols + i;
    if (!map.masked[at] && map.values[at] > top) { top = map.values[at]; best = i; }
  }
  return best;
}

export const meanOf = values => values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0;

/** Decimals that the stored 16 bits can answer for once a row has been scaled up: four, fewer where much was removed. */
export function decimals(exact, removedShare) {
  if (exact) return 4;
  const kept = 1 - removedShare;
  return kept > 0.32 ? 4 : kept > 0.032 ? 3 : 2;
}

/** Masked cells as rectangles (equal runs of neighbouring rows are one), for hatching. */
export function maskedRuns(map) {
  const done = [];
  let above = [];
  for (let row = 0; row < map.rows; row++) {
    const current = [];
    for (let col = 0; col < map.cols; col++) {
      if (!map.masked[row * map.cols + col]) continue;
      const start = col;
      while (col + 1 < map.cols && map.masked[row * map.cols + col + 1]) col++;
      const length = col - start + 1, longer = above.find(run => run.col === start && run.length === length);
      if (longer) longer.count += 1;
      current.push(longer ?? { row, col: start, length, count: 1 });
    }
    done.push(...current.filter(run => !above.includes(run)));
    above = current;
  }
  return done;
}
