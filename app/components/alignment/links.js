// Links from a map between words, what they are beside gold ones, and how well they agree: the formulas of model/alignment.
import { symmetrize } from "./symmetrize.js";

/** For each row the column with the largest weight (the first of equals), or every one above the threshold; special columns never link. */
export function linksOf({ rows, cols, values }, words, threshold) {
  const links = [];
  for (let row = 0; row < rows; row++) {
    if (threshold !== null) {
      for (let col = 0; col < words; col++) if (values[row * cols + col] > threshold) links.push([col, row]);
      continue;
    }
    let best = 0;
    for (let col = 1; col < cols; col++) if (values[row * cols + col] > values[row * cols + best]) best = col;
    if (cols && best < words && values[row * cols + best] > 0) links.push([best, row]);
  }
  return links;
}

/** The same matrix read along its other axis: for each source word its target words, each column divided by its sum. */
function otherAxis({ rows, cols, values }, words) {
  const turned = new Float32Array(words * rows);
  for (let col = 0; col < words; col++) {
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += values[row * cols + col];
    for (let row = 0; row < rows && sum > 0; row++) turned[col * rows + row] = values[row * cols + col] / sum;
  }
  return { rows: words, cols: rows, values: turned };
}

/** Where the mean weight of both directions is large, or the largest of both its words: model/alignment/joint.py, in float32 as there. */
function jointLinks({ header, joint }, { layer, head, row, measure }, map) {
  const sources = header.source.words.length, targets = header.target.words.length;
  const averaged = joint.heads.some(one => one[0] === layer && one[1] === head && one[2] === row);
  const forward = averaged ? joint.forward.get(measure) : map.values, width = averaged ? sources : map.cols, backward = joint.backward.get(measure);
  const mean = (i, j) => Math.fround(forward[j * width + i] + backward[i * targets + j]) / 2;
  const above = Math.fround(joint.above), mutual = Math.fround(joint.mutual), links = [];
  const ofSource = new Float32Array(sources), ofTarget = new Float32Array(targets);
  for (let i = 0; i < sources; i++) for (let j = 0; j < targets; j++) {
    ofSource[i] = Math.max(ofSource[i], mean(i, j));
    ofTarget[j] = Math.max(ofTarget[j], mean(i, j));
  }
  for (let i = 0; i < sources; i++) for (let j = 0; j < targets; j++) {
    const value = mean(i, j), largest = value >= ofSource[i] && value >= ofTarget[j];
    if (value > above || (largest && value > mutual)) links.push([i, j]);
  }
  return links;
}

/** The links of the pair under all switches, in order of source and target. `map` is between words. */
export function hypothesis(data, state, map) {
  const { header, backward, columns } = data, { threshold, second, method, measure } = state;
  if (second === "joint") return jointLinks(data, state, map);
  const sources = header.source.words.length, targets = header.target.words.length;
  const forward = linksOf(map, sources, threshold);
  if (second === "none") return symmetrize(forward, forward, "union");
  const other = second === "axis" ? otherAxis(map, sources) : { rows: sources, cols: columns, values: backward.get(measure) };
  return symmetrize(forward, linksOf(other, targets, threshold).map(([target, source]) => [source, target]), method);
}

export const SURE = 2;
export const POSSIBLE = 1;
export const NONE = 0;

/** What a link or a gold cell is: a word for each of the five cases, null for a cell that is neither. */
export function verdict(linked, gold, known) {
  if (!known) return linked ? "link" : null;
  if (gold === SURE) return linked ? "found_sure" : "missed";
  if (gold === POSSIBLE) return linked ? "found_possible" : "possible";
  return linked ? "extra" : null;
}

/** Precision, recall and alignment error rate of one pair (Och and Ney 2003). `gold` maps cells to SURE or POSSIBLE. */
export function scoresOf(links, gold, cellOf) {
  let sure = 0, inSure = 0, inPossible = 0;
  for (const value of gold.values()) if (value === SURE) sure += 1;
  for (const link of links) {
    const value = gold.get(cellOf(link)) ?? NONE;
    if (value === SURE) inSure += 1;
    if (value !== NONE) inPossible += 1;
  }
  const size = links.length + sure;
  return { links: links.length, sure, precision: links.length ? inPossible / links.length : 1, recall: sure ? inSure / sure : 1,
    error: size ? 1 - (inSure + inPossible) / size : 0 };
}
