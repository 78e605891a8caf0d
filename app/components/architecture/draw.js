// The picture: frames of the stacks, arrows with the shapes that run along them, boxes.
import { elide, widthOf } from "./labels.js";
import { count, detailOf, nameOf, shapeText, stackName } from "./names.js";
import { isAttention } from "./layout.js";
import { fill } from "./template.js";

const SMALL = 11.5, HEAD = 5;

/** Draws a diagram; what touches the box of this id (`focus`, may be null) is drawn strong. */
export function draw(surface, diagram, plan, state, focus) {
  const pen = { surface, theme: surface.theme, diagram, plan, state, focus };
  for (const column of plan.columns) drawFrames(pen, column);
  const strong = arrow => arrow.start.box.id === focus || arrow.end.box.id === focus;
  for (const arrow of plan.arrows.filter(arrow => !strong(arrow))) drawArrow(pen, arrow, false);
  for (const arrow of plan.arrows.filter(strong)) drawArrow(pen, arrow, true);
  for (const node of plan.nodes) drawBox(pen, node);
}

const colourOf = ({ theme, diagram }, stack) => theme[diagram.columns.find(column => column.path === stack).sentence] ?? theme.accent;

function drawFrames({ surface, theme, diagram, plan }, { column, frame, inner, open }) {
  const middle = plan.size.frame / 2 + 1;
  if (frame) {
    const ink = theme[column.sentence] ?? theme.accent;
    surface.rect({ x: frame.x, y: frame.top, w: frame.w, h: frame.bottom - frame.top, r: 14, fill: ink, alpha: 0.05 });
    surface.rect({ x: frame.x, y: frame.top, w: frame.w, h: frame.bottom - frame.top, r: 14, stroke: theme.strong });
    const name = fill(diagram.text.stack_title, { stack: stackName(diagram, column.path), count: column.layers.length });
    surface.text({ text: elide(theme, name, frame.w / 2 - 16, 13, 650), x: frame.x + 10, y: frame.top + middle, size: 13, weight: 650, fill: ink });
  }
  if (!inner) return;
  surface.rect({ x: inner.x, y: inner.top, w: inner.w, h: inner.bottom - inner.top, r: 10, fill: theme.card, stroke: theme.strong });
  const name = fill(diagram.text.layer_of, { layer: open + 1, count: column.layers.length });
  surface.text({ text: elide(theme, name, inner.w / 2 - 14, 12), x: inner.x + 8, y: inner.top + middle, size: 12, fill: theme.muted });
}

// ----- arrows

function drawArrow(pen, arrow, strong) {
  const { theme } = pen;
  const ink = arrow.role === "memory" ? theme.source : strong ? theme.accent : theme.muted;
  const line = { colour: ink, width: strong ? 2.4 : 1.4, dash: arrow.role === "residual" ? [5, 3] : [] };
  ({ flow: drawFlow, residual: drawResidual, memory: drawMemory, mask: drawBeside, position: drawBeside })[arrow.role](pen, arrow, line);
}

/** An arrowhead whose tip is at a point, pointing up (0, -1), left (-1, 0) or right (1, 0). */
function head(surface, [x, y], [dx, dy], fill) {
  const side = HEAD * 0.8;
  surface.path({ points: [[x, y], [x - dx * HEAD * 1.6 - dy * side, y - dy * HEAD * 1.6 - dx * side], [x - dx * HEAD * 1.6 + dy * side, y - dy * HEAD * 1.6 + dx * side]], closed: true, fill });
}

function label({ surface, theme, state }, flow, x, y, options = {}) {
  surface.text({ text: shapeText(flow, state.shapes), x, y, size: SMALL, fill: theme.muted, mono: true, ...options });
}

/** Straight up; before an attention it splits into what becomes Q, K and V. */
function drawFlow(pen, { start, end, flow }, line) {
  const { surface, theme } = pen, x = start.centre, bottom = start.y, top = end.y + end.h;
  if (pen.plan.size.flat || !isAttention(end.box)) {
    surface.path({ points: [[x, bottom], [x, top + HEAD]], ...line });
    head(surface, [x, top], [0, -1], line.colour);
    return pen.plan.size.flat || label(pen, flow, x + 8, top + labelDrop(end.box));
  }
  const names = end.box.kind === "cross_attention" ? ["Q"] : ["Q", "K", "V"], step = end.w / 4;
  const fork = top + 13, places = names.map((_, i) => x + (i - (names.length - 1) / 2) * step);
  surface.path({ points: [[x, bottom], [x, names.length > 1 ? fork : top + HEAD]], ...line });
  if (names.length > 1) surface.path({ points: [[places[0], top + HEAD], [places[0], fork], [places[2], fork], [places[2], top + HEAD]], ...line });
  places.forEach((at, i) => {
    if (at === x && names.length > 1) surface.path({ points: [[at, fork], [at, top + HEAD]], ...line });
    head(surface, [at, top], [0, -1], line.colour);
    surface.text({ text: names[i], x: at + 7, y: top + 7, size: 11, weight: 650, fill: theme.ink });
  });
  label(pen, flow, x + 8, top + labelDrop(end.box));
}

const branches = box => box.kind === "feed_forward" || box.kind === "norm" && !box.notes.includes("final");

/** How far below a box the residual leaves, and the label stands: clear of the fork, of frames and of each other. */
const branchDrop = (box, size) => isAttention(box) ? size.forkDrop : size.branchDrop;
const labelDrop = box => isAttention(box) ? 32 : branches(box) ? 24 : 15;

/** Leaves the stream below the sublayer, goes around it, and enters the sum from the side. */
function drawResidual(pen, { start, end, flow }, line) {
  const { surface, plan } = pen, { outwards } = end, from = branchOf(plan, start, end);
  const side = outwards < 0 ? end.x : end.x + end.w, out = side + outwards * 22, y = end.y + end.h / 2;
  surface.path({ points: [[start.centre, from], [out, from], [out, y], [side + outwards * HEAD, y]], ...line });
  head(surface, [side, y], [-outwards, 0], line.colour);
  if (!plan.size.flat) label(pen, flow, out - outwards * 9, (from + y) / 2, { angle: -90, align: "center" });
}

/** Just below the box that the stream enters next. */
function branchOf(plan, start, end) {
  const next = plan.arrows.find(arrow => arrow.role === "flow" && arrow.start === start && arrow.end !== end)?.end ?? end;
  return next.y + next.h + branchDrop(next.box, plan.size);
}

/** From the end of the encoder along a line between the columns into a layer of the decoder. */
function drawMemory(pen, { start, end, flow }, line) {
  const { surface, plan, theme, diagram } = pen, x = plan.beside ? plan.width / 2 : plan.columns[0].left + 3, y = end.y + end.h / 2, out = start.y - (plan.size.flat ? plan.size.frame / 2 : 16);
  surface.path({ points: [[start.centre, start.y], [start.centre, out], [x, out], [x, y], [end.x - HEAD, y]], ...line });
  head(surface, [end.x, y], [1, 0], line.colour);
  if (end.box.kind === "layer") return;
  surface.text({ text: diagram.text.keys_values, x: x + 7, y: y - 9, size: plan.size.flat ? 12 : 11, weight: 650, fill: theme.ink });
  label(pen, flow, x + 7, y + 10);
}

function drawBeside({ surface }, { start, end }, line) {
  const right = start.x < end.x, from = right ? start.x + start.w : start.x, to = right ? end.x : end.x + end.w, y = end.y + end.h / 2;
  surface.path({ points: [[from, y], [to + (right ? -HEAD : HEAD), y]], ...line });
  head(surface, [to, y], [right ? 1 : -1, 0], line.colour);
}

// ----- boxes

const TINT = { self_attention: 0.16, masked_self_attention: 0.16, cross_attention: 0.16, feed_forward: 0.09, linear: 0.09, embedding: 0.14, layer: 0.06 };
const OPEN = new Set(["tokens", "produced"]);

function drawBox(pen, { box, x, y, w, h }) {
  const { surface, theme, diagram, state, focus } = pen, strong = box.id === focus, tied = box.shared_with.includes(focus);
  const stroke = strong || tied ? theme.accent : OPEN.has(box.kind) ? colourOf(pen, box.stack) : theme.strong, width = strong || tied ? 2.2 : 1;
  if (box.kind === "plus") {
    surface.rect({ x, y, w, h, r: w / 2, fill: theme.card, stroke, width });
    surface.text({ text: "+", x: x + w / 2, y: y + h / 2, size: 16, weight: 600, fill: theme.ink, align: "center" });
    return;
  }
  const r = OPEN.has(box.kind) ? 4 : 8, tint = TINT[box.kind];
  surface.rect({ x, y, w, h, r, fill: theme.card });
  const fill = box.kind.endsWith("attention") ? theme.accent : box.kind === "embedding" ? colourOf(pen, box.stack) : theme.ink;
  if (tint) surface.rect({ x, y, w, h, r, fill, alpha: tint });
  surface.rect({ x, y, w, h, r, stroke, width });
  if (pen.plan.size.flat) return drawLine(pen, { x, y, w, h }, box);
  drawWords(pen, { x, y, w, h }, nameOf(diagram, box), detailOf(diagram, box, state.shapes), box.kind, box.parameters && count(box.parameters));
  if (box.notes.includes("rotary")) badge(pen, diagram.text.rotary, x + w - 8, y);
}

function drawWords({ surface, theme }, { x, y, w, h }, name, detail, kind, brief) {
  const middle = x + w / 2, room = w - 12, beside = kind === "layer" || kind === "add";
  const size = w < 100 ? 12 : 14;
  if (beside || !detail) {
    const [words, short] = [detail, brief].map(beside => [name, beside].filter(Boolean).join(" · "));
    surface.text({ text: elide(theme, widthOf(theme, words, 13, 500) > room ? short : words, room, 13, 500), x: middle, y: y + h / 2, size: 13, weight: 500, fill: theme.ink, align: "center" });
    return;
  }
  surface.text({ text: elide(theme, name, room, size, 600), x: middle, y: y + h / 2 - 9, size, weight: 600, fill: theme.ink, align: "center" });
  surface.text({ text: elide(theme, detail, room, SMALL), x: middle, y: y + h / 2 + 9, size: SMALL, fill: theme.muted, align: "center" });
}

/** The name, and at the right what leaves the box: its tokens, or the shape of the arrow that starts here where it has room. */
function drawLine({ surface, theme, diagram, plan, state }, { x, y, w, h }, box) {
  const leaves = plan.arrows.find(({ start }) => start.box === box)?.flow ?? box.output, tokens = diagram.tokens[box.id];
  const detail = tokens ? tokens.join(" ") : leaves ? shapeText(leaves, state.shapes) : "", mono = !tokens, middle = y + h / 2;
  const words = [nameOf(diagram, box), ...(box.notes.includes("rotary") ? [diagram.text.rotary] : [])].join(" · ");
  const shown = elide(theme, words, w - 16, 13, 600), room = w - 22 - widthOf(theme, shown, 13, 600);
  surface.text({ text: shown, x: x + 8, y: middle, size: 13, weight: 600, fill: theme.ink });
  const fits = widthOf(theme, detail, SMALL, 400, mono) <= room;
  if (fits || (tokens && room > 20)) surface.text({ text: fits ? detail : elide(theme, detail, room, SMALL), x: x + w - 8, y: middle, size: SMALL, fill: theme.muted, align: "right", mono });
}

/** A word on the upper edge of a box. */
function badge({ surface, theme }, text, right, y) {
  const w = widthOf(theme, text, 11, 600) + 12;
  surface.rect({ x: right - w, y: y - 8, w, h: 16, r: 8, fill: theme.card, stroke: theme.accent });
  surface.text({ text, x: right - w / 2, y, size: 11, weight: 600, fill: theme.accent, align: "center" });
}
