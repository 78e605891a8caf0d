// The rows "shifted right": under each step the token that the decoder read and the one that it produced, in aligned columns.
import { elide, widthOf } from "./labels.js";

const SIZE = 15, SMALL = 11.5, BOX = 28, WIDEST = 140, LINE = 96, GAP = 4, TOP = 3; // room for the frame of the current column
const STILL_TO_COME = 0.66; // of the ink: stands back, and can be read

export function layoutRows(theme, { moments, text }, room) {
  const gutter = Math.ceil(Math.max(...[text.reads, text.produces, text.step].map(name => widthOf(theme, name, 13)))) + 14;
  let x = gutter, y = TOP;
  const columns = moments.map(({ read, taken }) => {
    const wide = Math.max(widthOf(theme, read, SIZE, 600), widthOf(theme, taken, SIZE, 600));
    const w = Math.min(WIDEST, Math.max(46, wide + 18), room - gutter);
    if (x > gutter && x + w > room) [x, y] = [gutter, y + LINE];
    const column = { x, y, w, h: LINE - 8 };
    x += w + GAP;
    return column;
  });
  return { columns, gutter, bottom: y + LINE };
}

export function drawRows(surface, theme, { moments, text }, { columns, gutter }, step, pointed) {
  const lines = [...new Set(columns.map(({ y }) => y))];
  for (const y of lines) {
    [[text.step, 9], [text.reads, 34], [text.produces, 70]].forEach(([label, down]) => surface.text({ text: elide(theme, label, gutter - 8, 13), x: 0, y: y + down, size: 13, fill: theme.muted }));
  }
  columns.forEach(({ x, y, w, h }, at) => {
    const moment = moments[at], now = at === step, alpha = at > step ? STILL_TO_COME : 1;
    if (now || pointed === at) surface.rect({ x: x - 2, y: y - 1, w: w + 4, h: h + 2, r: 7, fill: theme.accent, alpha: now ? 0.12 : 0.06 });
    if (now) surface.rect({ x: x - 2, y: y - 1, w: w + 4, h: h + 2, r: 7, stroke: theme.accent, width: 2 });
    surface.text({ text: String(at + 1), x: x + w / 2, y: y + 9, size: SMALL, align: "center", fill: theme.muted });
    surface.rect({ x: x + 2, y: y + 20, w: w - 4, h: BOX, r: 5, fill: theme.card, stroke: theme.line });
    surface.text({ text: elide(theme, moment.read, w - 12, SIZE, 600), x: x + w / 2, y: y + 35, size: SIZE, weight: 600, align: "center", fill: theme.ink, alpha });
    surface.rect({ x: x + 2, y: y + 56, w: w - 4, h: BOX, r: 5, fill: theme.card, stroke: moment.given ? theme.key : theme.target, width: at > step ? 1 : 2 });
    surface.text({ text: elide(theme, moment.taken, w - 12, SIZE, 600), x: x + w / 2, y: y + 71, size: SIZE, weight: 600, align: "center", fill: theme.ink, alpha });
  });
}

export const columnAt = ({ columns }, px, py) => columns.findIndex(({ x, y, w, h }) => px >= x && px < x + w && py >= y && py < y + h);
