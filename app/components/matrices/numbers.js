// How a number is written and coloured.
import { colourAt } from "./scale.js";
import { mix } from "./theme.js";

const minus = text => (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "\u2212");

/** A value to four decimals, or to fewer; whole numbers of true-and-false matrices as 0 and 1. */
export function written(value, digits = 4) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "\u2212∞";
  return Math.abs(value) >= 1e6 ? minus(value.toExponential(digits)) : minus(value.toFixed(digits));
}

/** The same inside a formula: negative numbers in brackets. */
export const bracketed = (value, digits = 4) => value < 0 ? `(${written(value, digits)})` : written(value, digits);

export const valueText = (matrix, value) => matrix.scale === "switch" ? (value ? "1" : "0") : written(value);

const ROLES = { query: "query", key: "key", value: "value", source: "source", target: "target", weights: "accent", scores: "accent", plain: "accent" };
export const roleColour = (theme, role) => theme[ROLES[role] ?? "accent"];

/** The colour of a share: 0 to 1 on the sequential scale of weights, or -1 to 1 from grey through nothing to the role's colour. */
export function colourOf(theme, matrix, share) {
  if (matrix.scale === "unit" || matrix.scale === "range") return colourAt(theme, share);
  if (matrix.scale === "switch") return share ? colourAt(theme, 0.6) : colourAt(theme, 0);
  const strength = Math.min(1, Math.abs(share)) ** 0.8;
  return mix(theme.card, share < 0 ? theme.muted : roleColour(theme, matrix.role), strength);
}

/** The end of a matrix's scale. */
export const topOf = matrix => matrix.scale === "range" ? matrix.top : matrix.scale === "signed" ? matrix.top || 1 : Math.max(1, matrix.scale === "unit" ? matrix.top : 1);

/** Where the scale begins: at 0, or at the least value. */
const lowOf = matrix => matrix.scale === "range" ? matrix.low : 0;

/** One pixel a cell; what is masked or no number stays transparent. */
export function bitmapOf(theme, matrix, values) {
  const { rows, cols } = matrix, made = document.createElement("canvas"), low = lowOf(matrix), span = topOf(matrix) - low || 1;
  made.width = Math.max(1, cols);
  made.height = Math.max(1, rows);
  const context = made.getContext("2d"), image = context.createImageData(made.width, made.height), shades = new Map();
  for (let i = 0; i < rows * cols; i++) {
    if (matrix.masked?.[i] || !Number.isFinite(values[i])) continue;
    const share = Math.round((values[i] - low) / span * 255);
    if (!shades.has(share)) shades.set(share, colourOf(theme, matrix, share / 255));
    const [r, g, b] = shades.get(share);
    image.data.set([r, g, b, 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
  return made;
}
