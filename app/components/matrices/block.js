// The bytes of a run, decoded.

export function decode(data) {
  const bytes = data.byteOffset % 4 ? data.slice() : data;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const raw = bytes.byteOffset + Math.ceil((4 + length) / 4) * 4;
  const matrices = new Map(header.matrices.map(entry => {
    const [rows, cols] = entry.size, count = rows * cols;
    return [entry.id, {
      ...entry, rows, cols, along: { rows: entry.rows, cols: entry.columns },
      values: new Float32Array(bytes.buffer, raw + entry.values, count),
      before: entry.before === null ? null : new Float32Array(bytes.buffer, raw + entry.before, count),
      masked: entry.masked === null ? null : new Uint8Array(bytes.buffer, raw + entry.masked, count),
    }];
  }));
  return { header, matrices };
}

/** The matrices of a scene in reading order; the last is the result. */
export const matricesOf = (scene, matrices) => scene.items.filter(item => matrices.has(item)).map(id => matrices.get(id));

export const changed = (matrix, at) => matrix.before !== null && Math.abs(matrix.values[at] - matrix.before[at]) > 1e-6;
