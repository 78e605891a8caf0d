// What is on the screen in words: the place pointed at, the conventions in force, the agreement with the gold, the caption of an export.
import { NONE, POSSIBLE, scoresOf, SURE } from "./links.js";
import { knownWords } from "./maps.js";
import { fill, isolate } from "./template.js";

const PARTNERS = 4, LEAST = 0.02;

export const written = value => value.toFixed(4);

export const whereOf = ({ text }, { layer, head }) =>
  `${fill(text.layer_number, { layer: layer + 1 })}${text.comma}${head === "mean" ? text.head_mean : fill(text.head_number, { head: head + 1 })}`;

export const pathOf = ({ caption }, { layer, head, measure }) =>
  `${caption.path.replace("{layer}", layer)}.weights${head === "mean" ? "[0].mean(0)" : `[0, ${head}]`}${measure === "norms" ? " · ‖α f(x)‖" : ""}`;

const goldText = (text, value) => ({ [SURE]: text.gold_sure, [POSSIBLE]: text.gold_possible, [NONE]: text.gold_none })[value];

/** The cell, row or column in play, with exact numbers; empty where nothing is pointed at. */
export function describe(app) {
  const { header, shown, focus, draft, state } = app, { text } = header, [query, key] = app.cellOf(focus), { axes, map, words } = shown;
  if (query !== null && key !== null) {
    const target = axes.rows.items[query], source = axes.cols.items[key], named = { target: isolate(target.label), target_position: target.place, source: isolate(source.label), source_position: source.place };
    const said = fill(state.unit === "words" ? text.cell : text.cell_piece, { ...named, weight: written(map.values[query * map.cols + key]), where: whereOf(header, state) });
    if (source.special) return `${said} ${text.special_column}`;
    return focus.row === null ? said : `${said} ${statusOf(app, [focus.col, focus.row], text, draft)}`;
  }
  if (focus.row === null && focus.col === null) return "";
  const own = focus.row !== null, label = isolate(own ? header.target.words[focus.row] : wordLabel(header, app, focus.col));
  const found = [...Array(own ? words.cols : words.rows).keys()]
    .map(at => ({ at, weight: own ? words.values[focus.row * words.cols + at] : words.values[at * words.cols + focus.col] }))
    .filter(({ weight }) => weight >= LEAST).sort((one, other) => other.weight - one.weight).slice(0, PARTNERS);
  const partners = found.map(({ at, weight }) => fill(text.partner, { word: isolate(own ? wordLabel(header, app, at) : header.target.words[at]), position: at, weight: written(weight) }));
  const linked = shown.links.filter(([source, target]) => own ? target === focus.row : source === focus.col).map(([source, target]) => isolate(own ? header.source.words[source] : header.target.words[target]));
  const said = fill(own ? text.word_target : text.word_source, { word: label, position: own ? focus.row : focus.col, where: whereOf(header, state), partners: partners.length ? partners.join(text.comma) : text.no_partner });
  return `${said} ${linked.length ? fill(text.linked_with, { words: linked.join(text.comma) }) : text.linked_to_none}`;
}

const wordLabel = (header, { shown }, index) => header.source.words[index] ?? shown.specials.get(index) ?? "–";

function statusOf({ shown }, link, text, draft) {
  const linked = shown.links.some(([source, target]) => source === link[0] && target === link[1]);
  const status = linked ? text.linked : text.not_linked;
  return draft.known ? `${status} ${goldText(text, draft.cells.get(draft.cellOf(link)) ?? NONE)}` : status;
}

/** How rows are named, how links are made. */
export function notesOf({ header, state }) {
  const { text } = header;
  const silent = ["source", "target"].flatMap(side => {
    const known = knownWords(header[side], header.pieces[side === "source" ? "source" : state.row]);
    return header[side].words.filter((_, index) => !known[index]).map(isolate);
  });
  return [
    state.row === "produced" ? text.note_produced : text.note_read,
    state.measure === "norms" ? text.note_norms : "",
    state.second === "joint" ? fill(text.note_joint, { name: header.backward.name, above: header.joint.above, mutual: header.joint.mutual }) : state.threshold === null ? text.note_argmax : fill(text.note_threshold, { threshold: state.threshold }),
    state.second === "reverse" ? fill(text.note_reverse, { name: header.backward.name }) : state.second === "axis" ? text.note_axis : "",
    silent.length ? fill(text.unknown_words, { words: silent.join(text.comma) }) : "",
  ].filter(Boolean);
}

/** Agreement with the gold, always beside what the diagonal alone gets; and where that gold comes from. */
export function scoresText({ header, shown, draft }) {
  const { text } = header;
  if (!draft.known) return text.scores_none;
  const found = scoresOf(shown.links, draft.cells, draft.cellOf), diagonal = scoresOf(header.diagonal, draft.cells, draft.cellOf);
  const three = value => value.toFixed(3), origin = draft.changed ? text.gold_draft : header.gold.hand ? text.gold_hand : text.gold_file;
  return [fill(text.scores, { error: three(found.error), precision: three(found.precision), recall: three(found.recall), links: found.links, sure: found.sure }),
    fill(text.scores_diagonal, { error: three(diagonal.error) }), origin].join(" ");
}

export function captionOf(app) {
  const { header, state, draft } = app, { text, caption } = header;
  const joint = state.second === "joint", method = state.second === "none" || joint ? "" : `${text.comma}${text[`method_${state.method.replaceAll("-", "_")}`]}`;
  const rule = joint ? text.rule_joint : state.threshold === null ? text.rule_argmax : `${text.rule_threshold} ${state.threshold}`;
  return [
    fill(text.caption_pair, { pair: header.index + 1, count: header.count, file: isolate(caption.file), model: caption.model, source: isolate(sentenceOf(header.source)), target: isolate(sentenceOf(header.target)) }),
    fill(text.caption_shown, { where: whereOf(header, state), path: pathOf(header, state), unit: text[`unit_${state.unit}`], measure: text[`measure_${state.measure}`] }),
    fill(text.caption_links, { rule, second: `${text[`second_${state.second}`]}${method}` }),
    ...notesOf(app),
    ...(draft.known ? [text.caption_marks, scoresText(app)] : []),
  ];
}

export const sentenceOf = ({ words, gaps }) => words.reduce((whole, word, index) => whole + word + (gaps[index + 1] ?? ""), gaps[0] ?? "");
