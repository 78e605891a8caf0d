// A zip file made in the browser: the files one after another as they are (pictures and archives are packed already).

const TABLE = Uint32Array.from({ length: 256 }, (_, at) => {
  let value = at;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ value >>> 1 : value >>> 1;
  return value;
});
const FIRST_DAY = 0x21, UTF8 = 0x800; // 1 January 1980, the first date that a zip can name: the file says nothing of when it was made

/** The checksum of zip, gzip and PNG. */
export function crc32(bytes) {
  let value = 0xffffffff;
  for (let at = 0; at < bytes.length; at++) value = TABLE[(value ^ bytes[at]) & 255] ^ value >>> 8;
  return (value ^ 0xffffffff) >>> 0;
}

function record(signature, fields, name) {
  const size = fields.reduce((sum, [width]) => sum + width, 4), bytes = new Uint8Array(size + name.length), view = new DataView(bytes.buffer);
  view.setUint32(0, signature, true);
  let at = 4;
  for (const [width, value] of fields) {
    view[`setUint${8 * width}`](at, value, true);
    at += width;
  }
  bytes.set(name, at);
  return bytes;
}

/** `files`: [{name, bytes}], each name once; together below 4 GB. */
export function zipOf(files) {
  const parts = [], entries = [];
  let at = 0;
  for (const { name, bytes } of files) {
    const named = new TextEncoder().encode(name);
    const common = [[2, 20], [2, UTF8], [2, 0], [2, 0], [2, FIRST_DAY], [4, crc32(bytes)], [4, bytes.length], [4, bytes.length], [2, named.length], [2, 0]];
    const local = record(0x04034b50, common, named);
    parts.push(local, bytes);
    entries.push(record(0x02014b50, [[2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]], named));
    at += local.length + bytes.length;
  }
  const size = entries.reduce((sum, entry) => sum + entry.length, 0);
  const end = record(0x06054b50, [[2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, at], [2, 0]], new Uint8Array());
  return new Blob([...parts, ...entries, end], { type: "application/zip" });
}
