// What stands along the rows and columns: tokens or words, with specials or without, under one of the two row conventions.

/** Rows of the decoder may be called by the token they produce or the one they read, where both are known; its keys are always tokens read. */
export const switchable = attention => attention.query === "target" && !attention.named;

/** What the rows are called by: "produced", "read", or "itself" where a sentence looks at itself. */
export const rowsBy = (attention, state) => attention.query === "target" ? attention.named ?? state.row : "itself";

function items(tokens, side, unit, hide) {
  const single = (label, position) => ({ label, positions: [position], special: Boolean(tokens.special[position]) });
  const all = unit === "words"
    ? tokens.words.map(word => ({ label: word.label, positions: word.tokens, special: word.tokens.every(i => tokens.special[i]) }))
    : tokens.labels.map(single);
  const kept = hide ? all.filter(item => !item.special) : all;
  return { side, all, items: kept.map((item, index) => ({ ...item, index, place: placeOf(item.positions) })) };
}

const placeOf = positions => positions.length > 1 ? `${positions[0]}–${positions[positions.length - 1]}` : `${positions[0]}`;

export function axesOf(header, attention, state) {
  const hide = state.special === "hide";
  const rows = rowsBy(attention, state) === "produced" ? header.tokens.produced : header.tokens[attention.query];
  return {
    rows: items(rows, attention.query, state.unit, hide),
    cols: items(header.tokens[attention.key], attention.key, state.unit, hide),
  };
}
