// What was chosen, and how it stands in the URL.

export const LAST = 127;
export const REACHES = [16, 48, 127];
const PAIRINGS = ["adjacent", "half"];

const whole = (text, low, high, otherwise) => /^-?\d{1,4}$/.test(text ?? "") ? Math.max(low, Math.min(high, Number(text))) : otherwise;
const two = (text, most, otherwise) => (text ?? "").split(",").length === 2 ? text.split(",").map((part, i) => whole(part, 0, most, otherwise[i])) : otherwise;

/** Vectors that a link names, or those to begin with. */
function vectors(text, own) {
  const found = (text ?? "").split(",").map(Number), width = own[0].length;
  return text && found.length === 2 * width && found.every(value => Number.isFinite(value) && Math.abs(value) <= 9)
    ? [found.slice(0, width), found.slice(width)] : own.map(vector => [...vector]);
}

export function fromAddress(header) {
  const url = new URLSearchParams(location.search), own = url.get("vectors") === "own", tokens = two(url.get("tokens"), header.length - 1, header.at);
  return {
    own, tokens, hands: vectors(url.get("hands"), header.own),
    places: two(url.get("at"), LAST, own ? [3, 1] : tokens.map(at => Math.min(LAST, at))),
    pair: whole(url.get("pair"), 0, header.width / 2 - 1, 1), pairing: PAIRINGS.includes(url.get("pairing")) ? url.get("pairing") : "adjacent",
    phases: url.get("phases") !== "off", reach: REACHES.includes(Number(url.get("reach"))) ? Number(url.get("reach")) : 48,
  };
}

/** The address of this page with the state in it; what is as at the beginning is left out. */
export function address(state, header) {
  const url = new URL(location.href), own = state.own, start = own ? [3, 1] : state.tokens.map(at => Math.min(LAST, at));
  const put = (name, value, usual) => value === usual ? url.searchParams.delete(name) : url.searchParams.set(name, value);
  put("vectors", own ? "own" : "model", "model");
  put("tokens", state.tokens.join(","), header.at.join(","));
  put("hands", state.hands.flat().map(value => Number(value.toFixed(3))).join(","), header.own.flat().join(","));
  put("at", state.places.join(","), start.join(","));
  put("pair", String(state.pair), "1");
  put("pairing", state.pairing, "adjacent");
  put("phases", state.phases ? "on" : "off", "on");
  put("reach", String(state.reach), "48");
  return url.href;
}
