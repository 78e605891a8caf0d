// The bytes of a run, decoded.

/** The forms in which values come, by name: each makes a Float32Array of `count`. */
export const FORMS = {
  whole: (buffer, at, count) => new Float32Array(buffer, at, count),
  half: (buffer, at, count) => Float32Array.from(new Uint16Array(buffer, at, count), half),
  sparse: (buffer, at, count) => {
    const values = new Float32Array(count), [kept] = new Uint32Array(buffer, at, 1);
    const found = new Float32Array(buffer, at + 4 + 4 * kept, kept);
    new Uint32Array(buffer, at + 4, kept).forEach((place, index) => { values[place] = found[index]; });
    return values;
  },
};

/** The number that a float16 stands for: sign, exponent, fraction. */
function half(bits) {
  const exponent = bits >> 10 & 31, fraction = bits & 1023;
  const size = exponent === 31 ? (fraction ? NaN : Infinity) : exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24;
  return bits >> 15 ? -size : size;
}

export function decode(data) {
  const bytes = data.byteOffset % 4 ? data.slice() : data;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const raw = bytes.byteOffset + Math.ceil((4 + length) / 4) * 4;
  const matrices = new Map(header.matrices.map(entry => {
    const [rows, cols] = entry.size, count = rows * cols;
    return [entry.id, {
      ...entry, rows, cols, along: { rows: entry.rows, cols: entry.columns },
      values: FORMS[entry.form](bytes.buffer, raw + entry.values, count),
      before: entry.before === null ? null : new Float32Array(bytes.buffer, raw + entry.before, count),
      masked: entry.masked === null ? null : new Uint8Array(bytes.buffer, raw + entry.masked, count),
    }];
  }));
  return { header, matrices };
}

/** The matrices of a scene in reading order; the last is the result. */
export const matricesOf = (scene, matrices) => scene.items.filter(item => matrices.has(item)).map(id => matrices.get(id));

export const changed = (matrix, at) => matrix.before !== null && Math.abs(matrix.values[at] - matrix.before[at]) > 1e-6;
