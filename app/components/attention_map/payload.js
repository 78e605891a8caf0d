// The bytes of a run, decoded: one payload and, after it, perhaps heads in full precision.

function block(bytes, start) {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start);
  const length = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(start + 4, start + 4 + length)));
  const raw = start + Math.ceil((4 + length) / 4) * 4;
  return { header, raw, end: raw + Math.ceil(header.bytes / 4) * 4 };
}

export function decode(data) {
  const bytes = data.byteOffset % 4 ? data.slice() : data;
  const first = block(bytes, 0), at = bytes.byteOffset + first.raw;
  const attentions = first.header.attentions.map(entry => {
    const [queries, keys] = entry.stored, maps = entry.kept.length * entry.heads, size = queries * keys;
    return {
      ...entry,
      pooled: entry.block[0] > 1 || entry.block[1] > 1,
      stored: { queries, keys },
      levels: new Uint16Array(bytes.buffer, at + entry.offset, maps * size),
      mask: new Uint8Array(bytes.buffer, at + entry.mask, entry.masks === "shared" ? size : maps * size),
    };
  });
  const details = [];
  for (let at = first.end; at < bytes.length; at = details.at(-1).end) details.push(decodeDetail(bytes, at));
  return { header: first.header, attentions, details, bytes: bytes.subarray(0, first.end) };
}

function decodeDetail(bytes, start) {
  const { header, raw, end } = block(bytes, start), size = header.queries * header.keys, at = bytes.byteOffset + raw;
  return { ...header, end, bytes: bytes.subarray(start, end), values: new Float32Array(bytes.buffer, at, size), masked: new Uint8Array(bytes.buffer, at + 4 * size, size) };
}
