// Pictures to take away: what is on the screen, with a caption that says what it is.
import { button, copyLink } from "./controls.js";
import { widthOf } from "./labels.js";
import { CanvasSurface, SvgSurface } from "./surface.js";
import { element } from "./template.js";

const MARGIN = 24, LINE = 18, SIZE = 12.5, LARGEST_SIDE = 8000;

function wrap(theme, text, room) {
  const lines = [""];
  for (const part of text.split(/(?<=\s)|(?<=[\u3000-\u9fff\uff00-\uffef])/u)) {
    if (lines.at(-1) && widthOf(theme, lines.at(-1) + part.trimEnd(), SIZE) > room) lines.push("");
    lines[lines.length - 1] += part;
  }
  return lines.map(line => line.trimEnd());
}

/** A line of a caption without the signs that part its parts where one of these is empty: a chart without a path, a study. */
export const tidy = line => line.replace(/( · *)+(?= · |$)/g, "").replace(/ → ?$/, "");

/** A picture and its caption on one sheet; `picture`: {width, height, draw(surface)}. */
function sheet(theme, picture, caption) {
  const width = Math.max(460, picture.width + 2 * MARGIN);
  const lines = caption.flatMap(text => wrap(theme, text, width - 2 * MARGIN));
  const height = picture.height + 2 * MARGIN + 14 + lines.length * LINE;
  const draw = surface => {
    surface.shift(MARGIN, MARGIN, () => picture.draw(surface));
    lines.forEach((text, i) => surface.text({ text, x: MARGIN, y: picture.height + MARGIN + 20 + i * LINE, size: SIZE, fill: theme.muted }));
  };
  return { width, height, draw };
}

export function svgOf(theme, picture, caption) {
  const page = sheet(theme, picture, caption), surface = new SvgSurface(theme);
  page.draw(surface);
  return new Blob([surface.document(page.width, page.height, caption[1] ?? caption[0])], { type: "image/svg+xml" });
}

export function pngOf(theme, picture, caption) {
  const page = sheet(theme, picture, caption), canvas = document.createElement("canvas");
  const surface = new CanvasSurface(canvas, theme, Math.min(2, LARGEST_SIDE / Math.max(page.width, page.height)));
  surface.begin(page.width, page.height, theme.card);
  page.draw(surface);
  return new Promise(resolve => canvas.toBlob(resolve, "image/png"));
}

export const pictureOf = async (kind, ...sheetOf) => (kind === "svg" ? svgOf : pngOf)(...sheetOf);

/** A field of a CSV file. */
export const quote = value => /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/, NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** Text that a spreadsheet would take for a formula gets an apostrophe before it (as OWASP advises); a number stays a number. */
const plain = value => typeof value === "string" && FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : String(value);

export const csvBlob = lines => new Blob(["\ufeff", ...lines.map(line => line.map(value => quote(plain(value))).join(",") + "\r\n")], { type: "text/csv;charset=utf-8" });

export function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** The row of buttons under a picture: each saves one of its files, `app.file(kind)` of `app.kinds`; `link()` is what a last one copies. */
export function exportRow(app, text, link = null) {
  const take = async kind => { const { blob, name } = await app.file(kind); save(blob, name); };
  return element("div", { class: "exports" }, ...app.kinds.map(kind => button({ name: kind, label: text[kind.split("-").at(-1)], onPick: () => take(kind) })), link ? copyLink(text, link) : "");
}

export const fileName = (parts, kind) => `${parts.filter(part => part !== null && part !== "").join("-").replace(/[^\w.-]+/g, "_")}.${kind}`;
