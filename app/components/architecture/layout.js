// Where everything stands. Data flows upwards, as in the paper's figure: columns side by side, or above one another on a phone.

const SIDE_BY_SIDE = 660, OUTER = 44, COLUMN = 430;
/** On a page: two lines in a box, a shape beside every arrow. */
const PAGE = {
  flat: false, gap: 30, heights: { plus: 24, add: 28, layer: 32, softmax: 30 }, box: 42, plus: 24, widest: 270, inner: 94, beside: 68,
  room: 30, branch: 40, fork: 46, frame: 26, foot: 10, sill: 8, branchDrop: 12, forkDrop: 20,
};
/** For a screen that is read from afar, on which a whole model stands: one line in a box, with the shape that leaves it. */
const FLAT = {
  flat: true, gap: 18, heights: { plus: 16, add: 17 }, box: 19, plus: 16, widest: 360, inner: 158, beside: 138,
  room: 8, branch: 14, fork: 14, frame: 18, foot: 7, sill: 5, branchDrop: 10, forkDrop: 10,
};

const ATTENTION = new Set(["self_attention", "masked_self_attention", "cross_attention"]);
const BESIDE = new Set(["position", "mask"]);

export const isAttention = box => ATTENTION.has(box.kind);

/** The layer that is open in a column; a column with fewer layers opens its last. */
export const openLayer = (column, layer) => Math.min(layer, column.layers.length - 1);

/** Visible boxes of a column from its start to its end: closed layers are one box each. */
function rowsOf(diagram, column, layer) {
  const open = openLayer(column, layer), rows = [];
  const own = diagram.boxes.filter(box => box.stack === column.path);
  for (const box of own) {
    if (box.layer === null || box.layer === open) rows.push(box);
    else if (rows.at(-1)?.id !== column.layers[box.layer]) rows.push(closedLayer(column, box.layer));
  }
  return rows;
}

function closedLayer(column, layer) {
  return { id: column.layers[layer], path: column.layers[layer], kind: "layer", stack: column.path, layer, of: column.layers.length, parameters: column.layer_parameters[layer], shared_with: [], notes: [], inputs: [] };
}

/** Geometry of all visible boxes, in the order in which data flows; y grows downwards. */
export function layout(diagram, { layer }, room, flat = false) {
  const { columns } = diagram, size = flat ? FLAT : PAGE, { gap } = size, beside = columns.length > 1 && (flat || room >= SIDE_BY_SIDE);
  const one = flat ? room : Math.min(room, COLUMN), width = Math.floor(beside ? (room - gap) / 2 : one);
  const box = Math.min(size.widest, width - OUTER - size.inner);
  const made = columns.map((column, i) => placeColumn(diagram, column, layer, { box, size, outwards: i === 0 && columns.length > 1 ? -1 : 1 }));
  const tallest = Math.max(...made.map(column => column.height));
  const total = beside ? tallest : made.reduce((sum, column) => sum + column.height + gap, -gap);
  const whole = box + OUTER + size.inner;
  made.forEach((column, i) => {
    const bottom = (beside ? total : total - made.slice(0, i).reduce((sum, other) => sum + other.height + gap, 0)) - 2;
    const left = beside ? room / 2 + (i === 0 ? -gap / 2 - whole : gap / 2) : Math.max(0, (one - whole) / (flat ? 1 : 2)); // beside it stands what is chosen
    shift(column, left, bottom);
  });
  const nodes = made.flatMap(column => column.nodes), byId = new Map(nodes.map(node => [node.box.id, node]));
  return { width: beside ? room : Math.max(whole, one), height: total, columns: made, nodes, byId, beside, size, arrows: arrowsOf(diagram, byId, columns, layer) };
}

/** One column standing on y = 0, its boxes at negative y. */
function placeColumn(diagram, column, layer, { box: width, size, outwards }) {
  const rows = rowsOf(diagram, column, layer), open = openLayer(column, layer), nodes = [], x = outwards < 0 ? OUTER : size.inner;
  const { frame: above, foot, sill } = size;
  let top = 0, before = null;
  const frame = { x: x - (outwards < 0 ? 36 : 10), w: width + 46 }, inner = { x: frame.x + 5, w: frame.w - 10 };
  const inStack = row => row && (row.layer !== null || row.path.startsWith(`${column.path}.`));
  for (const row of rows) {
    if (BESIDE.has(row.kind)) { nodes.push({ box: row, w: size.beside, h: size.box }); continue; }
    const entersStack = inStack(row) && !inStack(before), leavesStack = !inStack(row) && inStack(before);
    const entersOpen = row.layer === open && before?.layer !== open, leavesOpen = row.layer !== open && before && before.layer === open && row.layer !== open;
    let gap = before ? roomBelow(row, size) : 0;
    if (leavesOpen) { inner.top = top - above; gap += above; }
    if (leavesStack) { frame.top = top - above - (leavesOpen ? above : 0); gap += above; }
    if (entersOpen) { inner.bottom = top - foot; gap += foot; }
    if (entersStack) { frame.bottom = top - foot + (entersOpen ? 4 : 0); gap += sill; inner.bottom -= entersOpen ? 6 : 0; }
    const h = size.heights[row.kind] ?? size.box, w = row.kind === "plus" ? size.plus : width;
    top -= gap + h;
    nodes.push({ box: row, x: x + (width - w) / 2, y: top, w, h });
    before = row;
  }
  if (inner.bottom !== undefined && inner.top === undefined) inner.top = top - above;
  if (frame.bottom !== undefined && frame.top === undefined) frame.top = top - 2 * above;
  for (const node of nodes) if (BESIDE.has(node.box.kind)) placeBeside(node, nodes, x, width, outwards);
  return { column, nodes, frame: frame.top === undefined ? null : frame, inner: inner.top === undefined ? null : inner, centre: x + width / 2, outwards, height: 4 - Math.min(top, frame.top ?? top), open };
}

/** Room for an arrow and its label, for the branch of a residual, and for the fork before an attention. */
const roomBelow = (row, size) => isAttention(row) ? size.fork : row.kind === "feed_forward" || row.kind === "norm" ? size.branch : size.room;

/** A mask or a position encoding stands on the inner side of what it enters: the box after it. */
function placeBeside(node, nodes, x, width, outwards) {
  const into = nodes[nodes.indexOf(node) + 1];
  node.y = into.y + into.h / 2 - node.h / 2;
  node.x = outwards < 0 ? x + width + 20 : x - 20 - node.w;
}

function shift(column, left, bottom) {
  for (const node of column.nodes) { node.x += left; node.y += bottom; node.outwards = column.outwards; node.centre = node.x + node.w / 2; }
  for (const frame of [column.frame, column.inner]) if (frame) { frame.x += left; frame.top += bottom; frame.bottom += bottom; }
  column.centre += left;
  column.left = left;
}

/** Arrows between visible boxes; those within a closed layer are not drawn, and residual ways into one neither. */
function arrowsOf(diagram, byId, columns, layer) {
  const layerOf = new Map(diagram.boxes.map(box => [box.id, box])), found = new Map();
  const visible = id => {
    if (byId.has(id)) return byId.get(id);
    const box = layerOf.get(id), column = columns.find(entry => entry.path === box.stack);
    return byId.get(column.layers[box.layer]);
  };
  for (const arrow of diagram.arrows) {
    const start = visible(arrow.start), end = visible(arrow.end);
    if (start === end || (end.box.kind === "layer" && !["flow", "memory"].includes(arrow.role))) continue;
    const id = [start.box.id, end.box.id, arrow.role].join(" ");
    if (!found.has(id)) found.set(id, { id, start, end, role: arrow.role, flow: arrow.flow });
  }
  return [...found.values()];
}
