// The bytes of a run, decoded: one payload and, after it, perhaps one head in full precision.

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
    const [queries, keys] = entry.stored, maps = entry.layers * entry.heads, size = queries * keys;
    return {
      ...entry,
      pooled: entry.block[0] > 1 || entry.block[1] > 1,
      stored: { queries, keys },
      levels: new Uint16Array(bytes.buffer, at + entry.offset, maps * size),
      mask: new Uint8Array(bytes.buffer, at + entry.mask, entry.masks === "shared" ? size : maps * size),
    };
  });
  return { header: first.header, attentions, detail: first.end < bytes.length ? decodeDetail(bytes, first.end) : null };
}

function decodeDetail(bytes, start) {
  const { header, raw } = block(bytes, start), size = header.queries * header.keys, at = bytes.byteOffset + raw;
  return { ...header, values: new Float32Array(bytes.buffer, at, size), masked: new Uint8Array(bytes.buffer, at + 4 * size, size) };
}
