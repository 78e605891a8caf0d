// The keys that walk a grid of cells.
const PAGE = 10;

/**
 * Where a key leads from a cell [row, col] in a grid of `rows` × `cols`, or null if it leads nowhere; such an event goes no
 * further. Without a cell to start `from`, the first arrow leads to the first cell.
 */
export function cellAfter(event, { rows, cols }, from) {
  if (!rows || !cols || event.altKey || event.metaKey) return null;
  const [row, col] = from ?? [0, 0], whole = event.ctrlKey;
  const moves = {
    ArrowUp: [row - 1, col], ArrowDown: [row + 1, col], ArrowLeft: [row, col - 1], ArrowRight: [row, col + 1],
    Home: [whole ? 0 : row, 0], End: [whole ? rows - 1 : row, cols - 1], PageUp: [row - PAGE, col], PageDown: [row + PAGE, col],
    Enter: [row, col], " ": [row, col],
  };
  if (!moves[event.key]) return null;
  event.preventDefault();
  event.stopPropagation();
  const [toRow, toCol] = from || !event.key.startsWith("Arrow") ? moves[event.key] : [0, 0];
  return [Math.max(0, Math.min(rows - 1, toRow)), Math.max(0, Math.min(cols - 1, toCol))];
}
