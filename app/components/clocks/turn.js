// The arithmetic of rotary positions: pairs, hands, terms. Tested against model.position.rotate.

const TURN = 2 * Math.PI;

/** Members of pair i in a vector of this width. */
export const channelsOf = (width, pairing, i) => pairing === "half" ? [i, i + width / 2] : [2 * i, 2 * i + 1];

/** Everything that does not depend on positions: for each pair both hands, |q||k|, phi and w. */
export function pairsOf(query, key, frequencies, pairing) {
  return Array.from(frequencies, (w, i) => {
    const [a, b] = channelsOf(query.length, pairing, i), q = hand(query[a], query[b]), k = hand(key[a], key[b]);
    return { index: i, channels: [a, b], w, wavelength: TURN / w, q, k, size: q.size * k.size, phase: q.angle - k.angle };
  });
}

const hand = (x, y) => ({ x, y, size: Math.hypot(x, y), angle: Math.atan2(y, x) });

/** What a pair adds to q . k at an offset p_q - p_k; without phi where notes leave it out. */
export const term = (pair, offset, phases = true) => pair.size * Math.cos(offset * pair.w + (phases ? pair.phase : 0));

export const product = (pairs, offset, phases = true) => pairs.reduce((sum, pair) => sum + term(pair, offset, phases), 0);

/** The 2 x 2 rotation of a pair at a position, and what it makes of a hand. */
export function turned(pair, name, position) {
  const c = Math.cos(position * pair.w), s = Math.sin(position * pair.w), { x, y } = pair[name];
  return { matrix: [[c, -s], [s, c]], before: [x, y], after: [c * x - s * y, s * x + c * y] };
}

/** The same angle within half a turn either way. */
export const wrapped = angle => ((angle + Math.PI) % TURN + TURN) % TURN - Math.PI;

/** An angle in degrees between -180 and 180. */
export const degrees = angle => wrapped(angle) * 360 / TURN;

/** Curves over offsets from -reach to reach, `steps` parts: every pair's cosine, their sum, and the sum without phases. */
export function curves(pairs, reach, steps) {
  const offsets = Array.from({ length: steps + 1 }, (_, i) => (2 * i / steps - 1) * reach);
  const each = pairs.map(pair => offsets.map(offset => term(pair, offset)));
  return { offsets, each, sum: offsets.map((_, i) => each.reduce((sum, values) => sum + values[i], 0)), plain: offsets.map(offset => product(pairs, offset, false)) };
}
