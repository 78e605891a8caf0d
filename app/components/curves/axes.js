// Axes: where values stand, round numbers beside them, and how a number is written.

const minus = text => (Number(text) === 0 ? text.replace("-", "") : text).replaceAll("-", "\u2212");

const MOST_WHOLE = 1e12;

/** Four decimals or three digits, or a power of ten for what is very small or large; counts (`whole`) as whole numbers. */
export function written(value, none, whole = false) {
  if (value === null || value === undefined) return none;
  const size = Math.abs(value);
  if (whole && size < MOST_WHOLE) return minus(value.toLocaleString("en-US"));
  if (size > 0 && (size < 1e-3 || size >= 1e5)) {
    const [leading, exponent] = value.toExponential(2).split("e");
    return `${minus(leading)}${TIMES}${power(Number(exponent))}`;
  }
  return minus(value.toFixed(size ? Math.max(4, 2 - decade(size)) : 4));
}

const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const TIMES = "\u00a0×\u00a0";
const LARGE = 1e6;
const power = exponent => `10${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(exponent))].map(digit => SUPERSCRIPT[digit]).join("")}`;
const decade = value => Math.floor(Math.log10(value) + 1e-9);

/** A round number beside an axis whose ends reach `top`; of a large one all numbers are written with the same power of ten. */
const tick = (value, step, top) => {
  const exponent = top >= LARGE ? decade(top) : 0, digits = Math.max(0, Math.min(6, exponent - decade(step)));
  if (exponent && value === 0) return "0";
  const shown = minus((value / 10 ** exponent).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
  return exponent ? `${shown}${TIMES}${power(exponent)}` : shown;
};

/** Round steps over a range, about `wanted` of them. */
function roundStep(range, wanted) {
  const raw = range / wanted, power = 10 ** Math.floor(Math.log10(raw)), lead = raw / power;
  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

/** A linear axis from `low` to `high`: its ends are round, and its ticks as well. */
export function linear(low, high, wanted) {
  if (!(high > low)) [low, high] = [low - (low > 0 ? low : 0), low > 0 ? low : low + 1];
  const step = roundStep(high - low, wanted), from = Math.floor(low / step + 1e-9) * step, to = Math.ceil(high / step - 1e-9) * step;
  const ticks = [], top = Math.max(-from, to);
  for (let i = 0; from + i * step <= to + step * 1e-6; i++) ticks.push({ value: from + i * step, label: tick(from + i * step, step, top) });
  return { ticks, share: value => (value - from) / (to - from) };
}

/** A logarithmic axis over whole decades. */
export function decades(low, high, wanted) {
  const from = Math.floor(Math.log10(low) + 1e-9), to = Math.max(from + 1, Math.ceil(Math.log10(high) - 1e-9));
  const step = Math.max(1, Math.ceil((to - from) / wanted)), ticks = [];
  for (let exponent = from; exponent <= to; exponent += step) ticks.push({ value: 10 ** exponent, label: power(exponent) });
  return { ticks, share: value => (Math.log10(value) - from) / (to - from) };
}
