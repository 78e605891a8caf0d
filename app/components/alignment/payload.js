// The bytes of a run: a header, and maps as numbers.

export function decode(data) {
  const bytes = data.byteOffset % 4 ? data.slice() : data, view = new DataView(bytes.buffer, bytes.byteOffset);
  const length = view.getUint32(0, true), header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  let at = bytes.byteOffset + Math.ceil((4 + length) / 4) * 4;
  const take = count => { const values = new Float32Array(bytes.buffer, at, count); at += 4 * count; return values; };
  const size = header.pieces.produced.labels.length * header.pieces.source.labels.length;
  const blocks = new Map(header.blocks.map(([measure, layer]) => [`${measure}/${layer}`, take((header.heads + 1) * size)]));
  const columns = header.backward?.columns ?? 0;
  const backward = new Map((header.backward?.measures ?? []).map(measure => [measure, take(header.source.words.length * columns)]));
  const cells = header.source.words.length * header.target.words.length, of = () => new Map(header.joint.measures.map(measure => [measure, take(cells)]));
  const joint = header.joint && { ...header.joint, forward: of(), backward: of() };
  return { header, blocks, backward, columns, joint };
}
