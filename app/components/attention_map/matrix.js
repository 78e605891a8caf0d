// One head enlarged: rows are queries, columns are keys, every label measured before its room is decided.
import { elide, widthOf } from "./labels.js";

const SLOPE = Math.SQRT1_2; // labels at 45 degrees
const SMALLEST = 20, LARGEST_CELL = 36, GAP = 9;

export function layoutMatrix(theme, axes, { available, largest = LARGEST_CELL, smallest = SMALLEST }) {
  const rows = axes.rows.items, cols = axes.cols.items, narrow = available < 480;
  const room = narrow ? Math.min(110, available * 0.3) : 168;
  let cell = largest, geometry;
  for (let pass = 0; pass < 3; pass++) {
    const rowSize = Math.min(15.5, cell * 0.78), upright = Math.min(15.5, cell * 0.66), sloped = Math.min(15.5, cell * SLOPE * 0.92);
    const turned = cols.some(item => widthOf(theme, item.label, upright, 600) > cell - 3);
    const colSize = turned ? sloped : upright;
    const rowLabels = rows.map(item => elide(theme, item.label, room, rowSize, 600));
    const colLabels = cols.map(item => elide(theme, item.label, narrow ? 100 : 132, colSize, 600));
    const lengths = colLabels.map(label => widthOf(theme, label, colSize, 600));
    const left = Math.ceil(Math.max(16, ...rowLabels.map(label => widthOf(theme, label, rowSize, 600)))) + GAP;
    const top = turned ? Math.ceil(Math.max(...lengths, 10) * SLOPE + colSize * 0.8) + GAP : Math.ceil(colSize * 1.3) + GAP;
    const overhang = size => turned ? Math.max(4, ...lengths.map((length, i) => (i + 0.5 - cols.length) * size + length * SLOPE + colSize * 0.6)) : 4;
    geometry = { cell, left, top, rowSize, colSize, turned, rowLabels, colLabels, right: Math.ceil(overhang(cell)) };
    const fitting = Math.floor((available - left - geometry.right - 1) / Math.max(1, cols.length));
    const next = Math.max(smallest, Math.min(largest, fitting));
    if (next === cell) break;
    cell = next;
  }
  const { left, top, right } = geometry;
  geometry.gridWidth = cols.length * geometry.cell;
  geometry.gridHeight = rows.length * geometry.cell;
  return { ...geometry, width: left + geometry.gridWidth + right, height: top + geometry.gridHeight + 4 };
}

export const boxOfCell = (g, row, col) => ({ x: g.left + col * g.cell, y: g.top + row * g.cell, w: g.cell, h: g.cell });

/** What lies under a point of the stage: a cell, a row by its label, a column by its label, or nothing. */
export function hitMatrix(g, axes, x, y, view) {
  const col = Math.floor((x < g.left ? -1 : x + view.x - g.left) / g.cell), row = Math.floor((y < g.top ? -1 : y + view.y - g.top) / g.cell);
  const inRows = row >= 0 && row < axes.rows.items.length, inCols = col >= 0 && col < axes.cols.items.length;
  if (inRows && inCols) return { query: row, key: col };
  if (inRows && x < g.left) return { query: row, key: null };
  if (y < g.top && y > 0) {
    const sloped = g.turned ? Math.floor((x + view.x - g.left - (g.top - GAP / 2 - y)) / g.cell) : col;
    if (sloped >= 0 && sloped < axes.cols.items.length) return { query: null, key: sloped };
  }
  return null;
}

export function drawMatrix(surface, theme, g, { map, axes, bitmap, runs, messages }, focus, view) {
  const rows = axes.rows.items, cols = axes.cols.items, { cell, left, top } = g;
  const x0 = left - view.x, y0 = top - view.y;
  const seen = {
    row: Math.max(0, Math.floor(view.y / cell)), rowEnd: Math.min(rows.length, Math.ceil((view.y + view.h - top) / cell)),
    col: Math.max(0, Math.floor(view.x / cell)), colEnd: Math.min(cols.length, Math.ceil((view.x + view.w - left) / cell)),
  };
  const shown = runs.filter(run => run.row + run.count > seen.row && run.row < seen.rowEnd);
  surface.clip({ x: left - 2, y: top - 2, w: view.w - left + 2, h: view.h - top + 2 }, () => {
    surface.cells({ bitmap, rows: map.rows, cols: map.cols, x: x0, y: y0, cell, gap: cell >= 8 ? 1 : 0, view: seen, hatched: shown });
    surface.rect({ x: x0 - 0.5, y: y0 - 0.5, w: g.gridWidth + 1, h: g.gridHeight + 1, stroke: theme.line });
    for (const { row, text } of messages) {
      if (row < seen.row || row >= seen.rowEnd) continue;
      const size = Math.min(13, cell * 0.62), width = Math.min(g.gridWidth - 8, widthOf(theme, text, size) + 12);
      const at = Math.max(left, x0) + Math.max(4, (Math.min(g.gridWidth, view.w - left) - width) / 2);
      surface.rect({ x: at, y: y0 + (row + 0.5) * cell - size * 0.75, w: width, h: size * 1.5, r: 3, fill: theme.card });
      surface.text({ text: elide(theme, text, width - 8, size), x: at + 6, y: y0 + (row + 0.5) * cell, size, fill: theme.ink });
    }
    if (focus.query !== null && rows[focus.query]) surface.rect({ x: x0 - 0.5, y: y0 + focus.query * cell - 0.5, w: g.gridWidth + 1, h: cell + 1, r: 3, stroke: theme[axes.rows.side], width: 2 });
    if (focus.query === null && focus.key !== null && cols[focus.key]) surface.rect({ x: x0 + focus.key * cell - 0.5, y: y0 - 0.5, w: cell + 1, h: g.gridHeight + 1, r: 3, stroke: theme[axes.cols.side], width: 2 });
    if (focus.query !== null && focus.key !== null) surface.rect({ x: x0 + focus.key * cell - 0.5, y: y0 + focus.query * cell - 0.5, w: cell + 1, h: cell + 1, r: 3, stroke: theme.key, width: 2.6 });
  });
  surface.clip({ x: 0, y: top - 3, w: left, h: view.h - top + 3 }, () => {
    for (let row = seen.row; row < seen.rowEnd; row++) {
      const on = row === focus.query;
      surface.text({ text: g.rowLabels[row], x: left - GAP + 2, y: y0 + (row + 0.5) * cell, size: g.rowSize, align: "right", weight: on ? 700 : 400,
        fill: on ? theme[axes.rows.side] : rows[row].special ? theme.muted : theme.ink });
    }
  });
  surface.clip({ x: left - (g.turned ? 0 : 2), y: 0, w: view.w - left + 2, h: top }, () => {
    for (let col = seen.col; col < seen.colEnd; col++) {
      const on = col === focus.key, middle = x0 + (col + 0.5) * cell;
      if (middle < left - 1) continue;
      surface.text({ text: g.colLabels[col], x: g.turned ? middle + g.colSize * 0.28 : middle, y: top - GAP * 0.6 - (g.turned ? g.colSize * 0.2 : g.colSize * 0.4), size: g.colSize,
        align: g.turned ? "left" : "center", angle: g.turned ? -45 : 0, weight: on ? 700 : 400, fill: on ? theme[axes.cols.side] : cols[col].special ? theme.muted : theme.ink });
    }
  });
}
