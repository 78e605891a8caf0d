// Measuring, eliding and directing token labels; they are drawn as typed and never decide where anything stands.

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LETTER = /\p{L}/u;

export const fontOf = (theme, size, weight = 400, mono = false) => `${weight} ${size}px ${mono ? theme.mono : theme.font}`;

export function widthOf(theme, text, size, weight = 400, mono = false) {
  const font = fontOf(theme, size, weight, mono), name = `${font}\n${text}`;
  let width = widths.get(name);
  if (width === undefined) {
    ruler.font = font;
    width = ruler.measureText(text).width;
    if (widths.size > 20000) widths.clear();
    widths.set(name, width);
  }
  return width;
}

export const forgetWidths = () => widths.clear();

const graphemes = typeof Intl.Segmenter === "function"
  ? text => Array.from(new Intl.Segmenter().segment(text), part => part.segment)
  : text => Array.from(text);

/** The text, or its longest beginning that fits with an ellipsis. */
export function elide(theme, text, room, size, weight = 400) {
  if (widthOf(theme, text, size, weight) <= room) return text;
  const parts = graphemes(text);
  let low = 0, high = parts.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(theme, parts.slice(0, middle).join("") + "…", size, weight) <= room) low = middle;
    else high = middle - 1;
  }
  return parts.slice(0, Math.max(1, low)).join("") + "…";
}

/** The direction of the first letter, as dir="auto" decides it. */
export function directionOf(text) {
  for (const character of text) {
    if (LETTER.test(character)) return RIGHT_TO_LEFT.test(character) ? "rtl" : "ltr";
  }
  return "ltr";
}
