// A square mask: read from and written to a link, changed cell by cell. 1 = may attend.

const SHAPE = /^([1-9][0-9]?)\.([A-Za-z0-9_-]+)$/;

/** {size, cells} of a link's text ("9.gMDg…": the size, and the cells row by row as bits in base64); null for any other text. */
export function fromLink(text) {
  const found = SHAPE.exec(text ?? "");
  if (!found) return null;
  const size = Number(found[1]);
  let raw;
  try {
    raw = atob(found[2].replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
  if (raw.length !== Math.ceil(size * size / 8)) return null;
  const cells = Uint8Array.from({ length: size * size }, (_, at) => raw.charCodeAt(at >> 3) >> (7 - (at & 7)) & 1);
  return { size, cells };
}

export function toLink({ size, cells }) {
  const bytes = new Uint8Array(Math.ceil(size * size / 8));
  cells.forEach((cell, at) => { if (cell) bytes[at >> 3] |= 128 >> (at & 7); });
  return `${size}.${btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The mask that a text names on this sentence: a preset, cells laid over the model's own mask, or that itself. */
export function maskOf(header, text) {
  const own = fromLink(header.presets[header.own]);
  if (Object.hasOwn(header.presets, text)) return fromLink(header.presets[text]);
  const painted = fromLink(text);
  if (!painted) return own;
  const shared = Math.min(painted.size, own.size), cells = own.cells.slice();
  for (let row = 0; row < shared; row++) {
    for (let col = 0; col < shared; col++) cells[row * own.size + col] = painted.cells[row * painted.size + col];
  }
  return { size: own.size, cells };
}

/** How a mask is called: "" the model's own, a preset's name, else its cells. */
export function nameOf(header, mask) {
  const text = toLink(mask);
  if (text === header.presets[header.own]) return "";
  return Object.keys(header.presets).find(name => header.presets[name] === text) ?? text;
}

export const repainted = (mask, places, value) => {
  const cells = mask.cells.slice();
  for (const [row, col] of places) cells[row * mask.size + col] = value;
  return { ...mask, cells };
};

export const seenBy = ({ size, cells }, row) => [...Array(size).keys()].filter(col => cells[row * size + col]);
