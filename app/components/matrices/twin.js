// The same numbers as a table, and as a file.
import { csvBlob } from "./export.js";
import { Folded } from "./folded.js";
import { cellValue, placeText } from "./grid.js";
import { element, fill } from "./template.js";

const WHOLE = 64;

const textOf = (matrix, at, text) => matrix.masked?.[at] ? text.masked : cellValue(matrix, at);

/** A matrix as a table; of a large one the current row. */
export class TableTwin extends Folded {
  show(matrix, row) {
    const name = `${matrix.id} ${this.large(matrix) ? row : ""}`;
    if (this.matrix === matrix && this.named === name) return;
    this.renew({ matrix, row, named: name });
  }

  large({ rows, cols }) { return Math.max(rows, cols) > WHOLE; }

  made() {
    const { matrix, text } = this, made = this.large(matrix) ? this.one() : this.whole();
    made.createCaption().textContent = fill(text.table_of, { title: matrix.title });
    return made;
  }

  whole() {
    const { matrix, text } = this, { along, rows, cols } = matrix;
    const head = element("tr", {}, element("th", { scope: "col" }, text.table_corner), ...count(cols).map(col => element("th", { scope: "col" }, header(along.cols, col))));
    const body = count(rows).map(row => element("tr", {}, element("th", { scope: "row" }, header(along.rows, row)), ...count(cols).map(col => element("td", {}, textOf(matrix, row * cols + col, text)))));
    return element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  }

  one() {
    const { matrix, row, text } = this, { along, cols } = matrix;
    const head = element("tr", {}, element("th", { scope: "col" }, along.cols.name), element("th", { scope: "col" }, fill(text.table_row, { row: placeText(along.rows, row) })));
    const body = count(cols).map(col => element("tr", {}, element("th", { scope: "row" }, header(along.cols, col)), element("td", {}, textOf(matrix, row * cols + col, text))));
    return element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  }
}

const count = total => [...Array(total).keys()];

function header(axis, index) {
  if (!axis.labels) return String(index);
  const made = document.createDocumentFragment();
  made.append(element("bdi", {}, axis.labels[index]), ...(axis.name ? [" ", element("small", {}, String(index))] : []));
  return made;
}

/** Long form, one line a cell of every matrix; the caption stands in the last column of the first line. */
export function csvOf(matrices, caption) {
  const lines = [["matrix", "row", "row_label", "column", "column_label", "value", "masked", "before", "caption"]];
  for (const matrix of matrices) {
    const { rows, cols } = matrix.along;
    for (let at = 0; at < matrix.rows * matrix.cols; at++) {
      const [row, col] = [Math.floor(at / matrix.cols), at % matrix.cols];
      lines.push([matrix.id, row, rows.labels?.[row] ?? "", col, cols.labels?.[col] ?? "", matrix.masked?.[at] ? "" : Number(matrix.values[at].toPrecision(8)), matrix.masked?.[at] ?? 0,
        matrix.before ? Number(matrix.before[at].toPrecision(8)) : "", lines.length === 1 ? caption.join(" ") : ""]);
    }
  }
  return csvBlob(lines);
}
