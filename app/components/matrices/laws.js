// How a cell of the result comes about: which rows, columns and cells are in play, and the sum that gives its value.
import { matricesOf } from "./block.js";
import { cellValue, placeText } from "./grid.js";
import { bracketed, written } from "./numbers.js";

const at = (matrix, row, col) => matrix.values[row * matrix.cols + col];
const row0 = matrix => matrix.rows === 1;

/** {marks: Map of id -> marks, sentence: [label, values], terms: [{parts, roles}], total} for the cell (row, col) of the result. */
export function explain(scene, matrices, row, col) {
  const all = matricesOf(scene, matrices), result = all.at(-1), operands = all.slice(0, -1);
  const hidden = result.masked?.[row * result.cols + col];
  const found = LAWS[scene.law]({ scene, operands, result, row, col, hidden, value: cellValue(result, row * result.cols + col) });
  found.marks.set(result.id, { ...found.marks.get(result.id), cell: [row, col] });
  return { result, ...found };
}

const sameCell = (all, row, col) => new Map(all.map(matrix => [matrix.id, { cell: [Math.min(row, matrix.rows - 1), Math.min(col, matrix.cols - 1)] }]));

/** Whether two axes run along the same tokens, of which one may have more: only then is there a "same cell". */
const shared = ({ labels: one }, { labels: other }) => !one || !other || one.every((label, i) => i >= other.length || label === other[i]);

const LAWS = {
  product({ operands: [a, b, bias], row, col, value }) {
    const terms = [];
    let total = 0;
    for (let k = 0; k < a.cols; k++) {
      const [left, right] = [at(a, row, k), at(b, k, col)];
      if (left === 0 && Number.isFinite(right) && a.masked?.[row * a.cols + k]) continue; // a masked key adds nothing
      terms.push([left, right]);
      total += left * right;
    }
    if (bias) total += at(bias, 0, col);
    const marks = new Map([[a.id, { row }], [b.id, { col }]]);
    if (bias) marks.set(bias.id, { cell: [0, col] });
    return { marks, terms, total, roles: [a.role, b.role], sentence: [bias ? "law_product_bias" : terms.length === 1 ? "law_product_one" : "law_product", { count: terms.length, first: a.title, second: b.title, bias: bias ? bracketed(at(bias, 0, col)) : "", value }] };
  },
  scaled({ scene, operands: [a], result, row, col, value }) {
    return { marks: sameCell([a, result], row, col), sentence: ["law_scaled", { before: bracketed(at(a, row, col)), factor: bracketed(scene.value), value }] };
  },
  sum({ operands, result, row, col, value }) {
    const parts = operands.map(matrix => at(matrix, row0(matrix) ? 0 : row, col));
    return { marks: sameCell([...operands, result], row, col), sentence: ["law_sum", { sum: parts.map(part => bracketed(part)).join(" + "), value }] };
  },
  softmax({ operands: [a], result, row, col, hidden, value }) {
    const allowed = [...Array(a.cols).keys()].map(k => at(a, row, k)).filter(Number.isFinite), top = Math.max(...allowed);
    const marks = new Map([[a.id, { row, cell: [row, col] }], [result.id, { row }]]);
    if (!allowed.length) return { marks, sentence: ["law_softmax_none", {}] };
    const total = allowed.reduce((sum, score) => sum + Math.exp(score - top), 0);
    if (hidden) return { marks, sentence: ["law_mask_hidden", {}] };
    return { marks, sentence: ["law_softmax", { score: bracketed(at(a, row, col)), top: bracketed(top), total: written(total), count: allowed.length, value }] };
  },
  mask({ operands, result, row, col, hidden, value }) {
    return { marks: sameCell([...operands, result], row, col), sentence: hidden ? ["law_mask_hidden", {}] : ["law_mask_kept", { value }] };
  },
  lookup({ scene, operands, result, row, col, value }) {
    const table = operands.at(-1), from = scene.index[row], marks = new Map([[table.id, { row: Math.min(from, table.rows - 1) }], [result.id, { row }]]);
    for (const other of operands.slice(0, -1)) marks.set(other.id, other.cols === table.rows ? { row, cell: [row, from] } : { row });
    return { marks, sentence: ["law_lookup", { row, index: table.along.rows.labels?.[from] ?? from, table: table.title, value }] };
  },
  norm({ scene, operands: [a, gain, bias], result, row, col, value }) {
    const all = [...Array(a.cols).keys()].map(k => at(a, row, k)), mean = all.reduce((sum, x) => sum + x, 0) / a.cols;
    const variance = all.reduce((sum, x) => sum + (x - mean) ** 2, 0) / a.cols;
    const marks = new Map([[a.id, { row, cell: [row, col] }], [result.id, { row }]]);
    if (gain) marks.set(gain.id, { cell: [0, col] });
    if (bias) marks.set(bias.id, { cell: [0, col] });
    return { marks, sentence: ["law_norm", { x: bracketed(at(a, row, col)), mean: bracketed(mean), variance: written(variance), epsilon: String(scene.value ?? 0),
      gain: gain ? written(at(gain, 0, col)) : "1", bias: bias ? bracketed(at(bias, 0, col)) : "0", value }] };
  },
  activation({ scene, operands: [a], result, row, col, value }) {
    return { marks: sameCell([a, result], row, col), sentence: [`law_${scene.activation}`, { before: written(at(a, row, col)), value }] };
  },
  concat({ operands, result, row, col, value }) {
    let inner = col, from = operands[0];
    for (from of operands) {
      if (inner < from.cols) break;
      inner -= from.cols;
    }
    return { marks: new Map([[from.id, { cell: [row, inner] }], [result.id, {}]]), sentence: ["law_concat", { column: col, inner, part: from.title, value }] };
  },
  slice({ scene, operands: [a], result, row, col, value }) {
    const from = scene.value + col;
    return { marks: new Map([[a.id, { cell: [row, from] }], [result.id, {}]]), sentence: ["law_slice", { column: col, from, whole: a.title, value }] };
  },
  sinusoid({ scene, result, row, col, value }) {
    const width = result.cols, halves = scene.layout === "halves", pair = halves ? col % (width / 2) : col >> 1, cosine = halves ? col >= width / 2 : col % 2;
    const angle = written(row / scene.value ** (2 * pair / width)), wave = cosine ? "cos" : "sin";
    return { marks: new Map([[result.id, { cell: [row, col] }]]), sentence: ["law_sinusoid", { wave, position: row, base: String(scene.value), exponent: `${2 * pair}/${width}`, pair, angle, value }] };
  },
  turn({ operands: [a, b], row, col, value }) {
    const block = [row & ~1, row | 1], terms = block.map(k => [at(a, row, k), at(b, k, col)]);
    const marks = new Map([[a.id, { row }], [b.id, { col }]]);
    return { marks, terms, total: terms.reduce((sum, [x, y]) => sum + x * y, 0), roles: [a.role, b.role], sentence: ["law_turn", { pair: row >> 1, first: a.title, second: b.title, value }] };
  },
  same({ operands, result, row, col }) {
    const all = [...operands.filter(matrix => shared(matrix.along.rows, result.along.rows) && shared(matrix.along.cols, result.along.cols)), result];
    const values = all.filter(matrix => row < matrix.rows && col < matrix.cols).map(matrix => `${matrix.title}: ${cellValue(matrix, row * matrix.cols + col)}`);
    if (!result.along.rows.name) return { marks: sameCell(all, row, col), sentence: ["law_named", { row: placeText(result.along.rows, row), column: placeText(result.along.cols, col), values: values.join(" · ") }] };
    return { marks: sameCell(all, row, col), sentence: ["law_same", { row: placeText(result.along.rows, row), column: placeText(result.along.cols, col), values: values.join(" · ") }] };
  },
};
