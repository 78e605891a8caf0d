// From the maps of a pair to the one that is shown: which layer, head, row and measure; pieces or words.

const count = total => [...Array(total).keys()];

/** The words of a side as columns or rows, after them (where `special`) those tokens that stand for no text. */
function wordItems({ words }, pieces, special) {
  const items = words.map((label, index) => ({ label, index, word: index, place: `${index}`, special: false }));
  if (!special) return items;
  pieces.labels.forEach((label, at) => {
    const index = pieces.words[at];
    if (index >= words.length) items[index] = { label, index, word: index, place: "–", special: true };
  });
  return items;
}

const pieceItems = pieces => pieces.labels.map((label, index) =>
  ({ label, index, word: pieces.words[index], place: `${index}`, special: Boolean(pieces.special[index]) }));

/** Rows and columns: of the target, named by the token produced or read; of the source. Columns keep the special tokens, word rows do not. */
export function axesOf(header, { unit, row }) {
  const rows = header.pieces[row], cols = header.pieces.source;
  return unit === "words"
    ? { rows: { side: "target", items: wordItems(header.target, rows, false) }, cols: { side: "source", items: wordItems(header.source, cols, true) } }
    : { rows: { side: "target", items: pieceItems(rows) }, cols: { side: "source", items: pieceItems(cols) } };
}

/** Between pieces: one head, or all together (the last); null while its block has not come. */
export function pieceMap({ header, blocks }, { measure, layer, head }) {
  const block = blocks.get(`${measure}/${layer}`);
  if (!block) return null;
  const rows = header.pieces.produced.labels.length, cols = header.pieces.source.labels.length, size = rows * cols;
  const place = head === "mean" ? header.heads : head;
  return { rows, cols, values: block.subarray(place * size, (place + 1) * size) };
}

/** Between words: the sum over the pieces of a source word, the mean over those of a target word. A word without pieces has zeros. */
export function wordMap(header, { row }, map) {
  const rowWords = header.pieces[row].words, colWords = header.pieces.source.words;
  const rows = header.target.words.length, cols = Math.max(header.source.words.length, ...colWords.map(word => word + 1));
  const sums = new Float64Array(rows * cols), pieces = new Float64Array(rows);
  for (let q = 0; q < map.rows; q++) {
    const word = rowWords[q];
    if (word >= rows) continue;
    pieces[word] += 1;
    for (let k = 0; k < map.cols; k++) sums[word * cols + colWords[k]] += map.values[q * map.cols + k];
  }
  const values = new Float32Array(rows * cols);
  for (let at = 0; at < values.length; at++) values[at] = pieces[Math.floor(at / cols)] ? sums[at] / pieces[Math.floor(at / cols)] : 0;
  return { rows, cols, values };
}

/** Where a word's pieces begin and end along an axis of items; null for a word without any. */
export function extentsOf(items) {
  const found = new Map();
  items.forEach(({ word }, at) => {
    const before = found.get(word);
    found.set(word, before ? [Math.min(before[0], at), Math.max(before[1], at)] : [at, at]);
  });
  return found;
}

/** For each word of a side whether any token stands for it. */
export const knownWords = ({ words }, pieces) => count(words.length).map(word => pieces.words.includes(word));
