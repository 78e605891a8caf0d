// One matrix on its surface: cells, labels of tokens, the scale under it, and the marks of what is in play.
import { changed } from "./block.js";
import { elide, widthOf } from "./labels.js";
import { colourOf, roleColour, topOf, valueText, written } from "./numbers.js";
import { inkOn } from "./theme.js";

const LABELLED = 10, TOGETHER = 780, LABEL = 13, ROOM = 96, GAP = 7, SCALE = 26, BAR = 60;
const NUMBER = { wide: 58, narrow: 38, tall: 27, size: 12.5 }; // of a cell whose value stands in it
const SLOPED = 14; // narrower columns have their words upright, since sloped ones would touch

const labelsOf = axis => axis.labels;

/** How large the cells of a matrix are: tokens get room for their words, numbered dimensions share what is there.
 *  `alone`: pixels for the columns of a matrix that has the row to itself. */
export function cellSizes(matrix, factor, alone = 0) {
  if (matrix.numbers) return { wide: Math.max(NUMBER.narrow, Math.round(NUMBER.wide * factor)), tall: NUMBER.tall };
  // Rows of tokens become lower before they need a scrollbar: 64 of them fit below one another.
  const along = (axis, count, room, together = Infinity) => labelsOf(axis) ? Math.max(11, Math.min(22, Math.round(22 * factor), Math.max(12, Math.floor(together / Math.max(1, count)))))
    : Math.max(1, Math.min(14, Math.floor(4 * room * factor / Math.max(1, count)) / 4));
  return { wide: along(matrix.along.cols, matrix.cols, Math.max(290, alone)), tall: along(matrix.along.rows, matrix.rows, 300, TOGETHER) };
}

/** `room`: the width of the row, for a matrix that has it to itself. */
export function layoutGrid(theme, matrix, factor, room = 0) {
  const { rows, cols } = matrix.along, { tall } = cellSizes(matrix, factor), size = Math.min(LABEL, Math.max(10, tall * 0.68));
  const rowLabels = labelsOf(rows) && tall >= LABELLED ? rows.labels.map(label => elide(theme, label, ROOM, size)) : null;
  const left = rowLabels ? Math.ceil(Math.max(0, ...rowLabels.map(label => widthOf(theme, label, size, 700)))) + GAP : 3;
  const { wide } = cellSizes(matrix, factor, room - left - 8), colSize = Math.min(LABEL, Math.max(10, wide * 0.68));
  const colLabels = labelsOf(cols) && wide >= LABELLED ? cols.labels.map(label => elide(theme, label, ROOM, colSize)) : null;
  const longest = colLabels ? Math.max(0, ...colLabels.map(label => widthOf(theme, label, colSize))) : 0;
  const turned = Boolean(colLabels) && longest > wide - 2;
  const upright = turned && wide < SLOPED;
  const top = !colLabels ? 3 : upright ? Math.ceil(longest) + GAP : turned ? Math.ceil(longest * 0.72 + colSize * 0.8) + GAP : Math.ceil(colSize * 1.4) + 3;
  const overhang = turned && !upright ? Math.max(...colLabels.map((label, i) => (i + 0.5 - matrix.cols) * wide + widthOf(theme, label, colSize) * 0.72 + 8)) : 0;
  const gridWidth = matrix.cols * wide, gridHeight = matrix.rows * tall, right = Math.max(4, Math.ceil(overhang));
  return { wide, tall, left, top, size, colSize, rowLabels, colLabels, angle: upright ? -90 : turned ? -45 : 0, gridWidth, gridHeight,
    width: Math.max(left + gridWidth + right, left + scaleWidth(theme, matrix) + 4), height: top + gridHeight + SCALE };
}

export const boxOf = (g, row, col) => ({ x: g.left + col * g.wide, y: g.top + row * g.tall, w: g.wide, h: g.tall });

export function hitGrid(g, matrix, x, y, view) {
  const col = Math.floor((x + view.x - g.left) / g.wide), row = Math.floor((y + view.y - g.top) / g.tall);
  return row >= 0 && row < matrix.rows && col >= 0 && col < matrix.cols ? { row, col } : null;
}

function scaleEnds(matrix) {
  const top = topOf(matrix);
  if (matrix.scale === "range") return [written(matrix.low, 2), written(top, 2)];
  return matrix.scale === "signed" ? [written(-top, 2), written(top, 2)] : ["0", matrix.scale === "unit" && top > 1 ? written(top, 2) : "1"];
}

function scaleWidth(theme, matrix) {
  const [low, high] = scaleEnds(matrix);
  return widthOf(theme, low, 11.5) + BAR + widthOf(theme, high, 11.5) + 12;
}

function drawScale(surface, theme, matrix, x, y) {
  const [low, high] = scaleEnds(matrix), signed = matrix.scale === "signed";
  const at = x + surface.text({ text: low, x, y: y + 4, size: 11.5, fill: theme.muted }) + 6;
  for (let i = 0; i < 30; i++) {
    const share = signed ? i / 14.5 - 1 : i / 29;
    surface.rect({ x: at + i * BAR / 30, y, w: BAR / 30 + 0.4, h: 8, fill: colourOf(theme, matrix, matrix.scale === "switch" ? Math.round(share) : share) });
  }
  surface.rect({ x: at - 0.5, y: y - 0.5, w: BAR + 1, h: 9, stroke: theme.strong });
  surface.text({ text: high, x: at + BAR + 6, y: y + 4, size: 11.5, fill: theme.muted });
}

/** `marks`: {row, col, cell: [row, col]} in play, `cursor` under the pointer or keyboard. */
export function drawGrid(surface, theme, g, matrix, bitmap, marks, view) {
  const { wide, tall, left, top } = g, x0 = left - view.x, y0 = top - view.y;
  const seen = { row: 0, rowEnd: matrix.rows, col: 0, colEnd: matrix.cols };
  const colour = roleColour(theme, matrix.role);
  surface.clip({ x: 0, y: 0, w: view.w, h: view.h }, () => {
    surface.cells({ bitmap, rows: matrix.rows, cols: matrix.cols, x: x0, y: y0, cell: wide, tall, gap: Math.min(wide, tall) >= 6 ? 1 : 0, view: seen, hatched: hatchedRuns(matrix) });
    surface.rect({ x: x0 - 0.5, y: y0 - 0.5, w: g.gridWidth + 1, h: g.gridHeight + 1, stroke: theme.line });
    if (matrix.numbers) drawNumbers(surface, theme, g, matrix, x0, y0);
    if (matrix.before) {
      for (let at = 0; at < matrix.rows * matrix.cols; at++) {
        if (changed(matrix, at)) surface.rect({ x: x0 + (at % matrix.cols) * wide, y: y0 + Math.floor(at / matrix.cols) * tall, w: wide, h: tall, stroke: theme.key, width: Math.min(2, wide / 3) });
      }
    }
    if (marks.row !== undefined) surface.rect({ x: x0 - 1, y: y0 + marks.row * tall - 1, w: g.gridWidth + 2, h: tall + 2, r: 2, stroke: theme.ink, width: 1.6 });
    if (marks.col !== undefined) surface.rect({ x: x0 + marks.col * wide - 1, y: y0 - 1, w: wide + 2, h: g.gridHeight + 2, r: 2, stroke: theme.ink, width: 1.6 });
    if (marks.cell) surface.rect({ x: x0 + marks.cell[1] * wide - 1, y: y0 + marks.cell[0] * tall - 1, w: wide + 2, h: tall + 2, r: 2, stroke: theme.key, width: 2.4 });
    if (marks.cursor) surface.rect({ x: x0 + marks.cursor[1] * wide - 1, y: y0 + marks.cursor[0] * tall - 1, w: wide + 2, h: tall + 2, r: 2, stroke: colour, width: 1.6 });
    const [row, col] = marks.cell ?? [marks.row, marks.col];
    g.rowLabels?.forEach((text, i) => surface.text({ text, x: left - GAP + 2 - view.x, y: y0 + (i + 0.5) * tall, size: g.size, align: "right", weight: i === row ? 700 : 400, fill: i === row ? sideColour(theme, matrix.along.rows) : theme.ink }));
    g.colLabels?.forEach((text, i) => surface.text({ text, x: x0 + (i + 0.5) * wide + (g.angle === -45 ? g.colSize * 0.28 : 0), y: y0 - GAP * 0.6 - (g.angle ? g.angle === -45 ? g.colSize * 0.2 : 0 : g.colSize * 0.4), size: g.colSize,
      align: g.angle ? "left" : "center", angle: g.angle, weight: i === col ? 700 : 400, fill: i === col ? sideColour(theme, matrix.along.cols) : theme.ink }));
    drawScale(surface, theme, matrix, x0, y0 + g.gridHeight + 10);
  });
}

/** The values themselves, to two decimals, in the ink that is legible on each cell. */
function drawNumbers(surface, theme, { wide, tall }, matrix, x0, y0) {
  matrix.values.forEach((value, at) => {
    const background = Number.isFinite(value) ? colourOf(theme, matrix, value / topOf(matrix)) : theme.card;
    surface.text({ text: Number.isFinite(value) ? written(value, 2) : "–", x: x0 + (at % matrix.cols + 0.5) * wide, y: y0 + (Math.floor(at / matrix.cols) + 0.5) * tall, size: NUMBER.size, align: "center", fill: inkOn(background) });
  });
}

const sideColour = (theme, axis) => axis.role === "plain" ? theme.ink : theme[axis.role];

function hatchedRuns(matrix) {
  if (!matrix.masked) return [];
  const runs = [];
  for (let row = 0; row < matrix.rows; row++) {
    for (let col = 0; col < matrix.cols; col++) {
      if (!matrix.masked[row * matrix.cols + col]) continue;
      const start = col;
      while (col < matrix.cols && matrix.masked[row * matrix.cols + col]) col++;
      runs.push({ row, col: start, length: col - start, count: 1 });
    }
  }
  return runs;
}

/** "“the” (2)" for a token, "d_k 5" for a dimension, the label alone where the axis has no name. */
export function placeText(axis, index) {
  if (axis.labels && !axis.name) return axis.labels[index];
  return axis.labels ? `“\u2068${axis.labels[index]}\u2069” (${axis.name} ${index})` : `${axis.name} ${index}`;
}

export const cellValue = (matrix, at) => valueText(matrix, matrix.values[at]);
