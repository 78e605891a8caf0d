// One drawing interface with two hands, canvas and SVG, so that an exported picture is the picture on the screen.
import { css } from "./theme.js";
import { directionOf, fontOf, widthOf } from "./labels.js";

const TILE = 6;
const VECTOR_CELLS = 5000;

/** How much larger than drawn an element is shown: presenter mode zooms. What a pointer says is in pixels of the screen. */
export const zoomOf = element => element.getBoundingClientRect().width / element.offsetWidth || 1;

/** Device pixels for each pixel that is drawn into an element. */
export const ratioOf = element => (window.devicePixelRatio || 1) * zoomOf(element);

export class CanvasSurface {
  constructor(canvas, theme, ratio = ratioOf(canvas)) {
    this.theme = theme;
    this.ratio = ratio;
    this.context = canvas.getContext("2d");
  }

  begin(width, height, background) {
    const { canvas } = this.context, [w, h] = [Math.max(1, Math.round(width * this.ratio)), Math.max(1, Math.round(height * this.ratio))];
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    if (background) this.rect({ x: 0, y: 0, w: width, h: height, fill: background });
  }

  rect({ x, y, w, h, r = 0, fill, stroke, width = 1, alpha = 1 }) {
    const { context } = this;
    if (!r && fill && !stroke) {
      context.fillStyle = css(fill, alpha);
      context.fillRect(x, y, w, h);
      return;
    }
    context.beginPath();
    if (r) context.roundRect(x, y, w, h, r);
    else context.rect(x, y, w, h);
    if (fill) { context.fillStyle = css(fill, alpha); context.fill(); }
    if (stroke) { context.strokeStyle = css(stroke); context.lineWidth = width; context.stroke(); }
  }

  /** A smooth line from one point to another, leaving and arriving along `axis`. */
  curve({ from, to, axis = "x", colour, width = 1, alpha = 1, dash = [] }) {
    const { context } = this, [a, b] = handles(from, to, axis);
    context.beginPath();
    context.moveTo(...from);
    context.bezierCurveTo(...a, ...b, ...to);
    context.setLineDash(dash);
    context.strokeStyle = css(colour, alpha);
    context.lineWidth = width;
    context.lineCap = dash.length ? "butt" : "round";
    context.stroke();
    context.setLineDash([]);
  }

  /** Straight lines from point to point; `closed` and `fill` make a shape of them. */
  path({ points, colour, width = 1, alpha = 1, dash = [], closed = false, fill }) {
    const { context } = this;
    context.beginPath();
    points.forEach(([x, y], i) => i ? context.lineTo(x, y) : context.moveTo(x, y));
    if (closed) context.closePath();
    if (fill) { context.fillStyle = css(fill, alpha); context.fill(); }
    if (!colour) return;
    context.setLineDash(dash);
    context.lineJoin = "round";
    context.strokeStyle = css(colour, alpha);
    context.lineWidth = width;
    context.stroke();
    context.setLineDash([]);
  }

  /** A line from one point to another that is drawn towards the point `by`. */
  bow({ from, by, to, colour, width = 1, alpha = 1, dash = [] }) {
    const { context } = this;
    context.beginPath();
    context.moveTo(...from);
    context.quadraticCurveTo(...by, ...to);
    context.setLineDash(dash);
    context.strokeStyle = css(colour, alpha);
    context.lineWidth = width;
    context.lineCap = "butt";
    context.stroke();
    context.setLineDash([]);
  }

  /** A filled polygon. */
  shape({ points, fill, alpha = 1 }) {
    const { context } = this;
    context.beginPath();
    points.forEach((point, i) => context[i ? "lineTo" : "moveTo"](...point));
    context.closePath();
    context.fillStyle = css(fill, alpha);
    context.fill();
  }

  /** Draws text from its vertical middle and returns its width. */
  text({ text, x, y, size, weight = 400, fill, align = "left", angle = 0, mono = false, alpha = 1 }) {
    const { context, theme } = this;
    context.font = fontOf(theme, size, weight, mono);
    context.fillStyle = css(fill, alpha);
    context.textAlign = align;
    context.textBaseline = "middle";
    context.direction = directionOf(text);
    if (angle) {
      context.save();
      context.translate(x, y);
      context.rotate(angle * Math.PI / 180);
      context.fillText(text, 0, 0);
      context.restore();
    } else context.fillText(text, x, y);
    return widthOf(theme, text, size, weight, mono);
  }

  /** A bitmap, or the `part` of it, with hard edges between its pixels. */
  image({ bitmap, part = wholeOf(bitmap), x, y, w, h }) {
    this.context.imageSmoothingEnabled = w * this.ratio < part.w || h * this.ratio < part.h;
    this.context.drawImage(bitmap, part.x, part.y, part.w, part.h, x, y, w, h);
  }

  /** A matrix of cells (square unless `tall` says otherwise) with a thin gap between them; `view` limits the gaps to what can be seen. */
  cells({ bitmap, rows, cols, x, y, cell, tall = cell, gap, view, hatched = [] }) {
    this.image({ bitmap, x, y, w: cols * cell, h: rows * tall });
    for (const run of hatched) this.hatch({ x: x + run.col * cell, y: y + run.row * tall, w: run.length * cell, h: run.count * tall });
    if (!gap) return;
    const { context, theme } = this;
    context.fillStyle = css(theme.card);
    for (let row = view.row; row <= view.rowEnd; row++) context.fillRect(x, y + row * tall - gap / 2, cols * cell, gap);
    for (let col = view.col; col <= view.colEnd; col++) context.fillRect(x + col * cell - gap / 2, y, gap, rows * tall);
  }

  hatch({ x, y, w, h }) {
    const { context } = this;
    context.fillStyle = this.pattern();
    context.fillRect(x, y, w, h);
  }

  pattern() {
    if (this.made) return this.made;
    const tile = document.createElement("canvas"), side = Math.round(TILE * this.ratio);
    tile.width = tile.height = side;
    const paint = tile.getContext("2d");
    paint.fillStyle = css(this.theme.card);
    paint.fillRect(0, 0, side, side);
    paint.strokeStyle = css(this.theme.hatch);
    paint.lineWidth = 1.2 * this.ratio;
    paint.beginPath();
    for (const [fx, fy, tx, ty] of [[-1, 1, 1, -1], [0, TILE, TILE, 0], [TILE - 1, TILE + 1, TILE + 1, TILE - 1]]) {
      paint.moveTo(fx * side / TILE, fy * side / TILE);
      paint.lineTo(tx * side / TILE, ty * side / TILE);
    }
    paint.stroke();
    this.made = this.context.createPattern(tile, "repeat");
    this.made.setTransform(new DOMMatrix().scale(TILE / side));
    return this.made;
  }

  clip({ x, y, w, h }, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, w, h);
    this.context.clip();
    draw();
    this.context.restore();
  }

  shift(x, y, draw) {
    this.context.save();
    this.context.translate(x, y);
    draw();
    this.context.restore();
  }
}

export class SvgSurface {
  constructor(theme) {
    this.theme = theme;
    this.parts = [];
    this.clips = 0;
  }

  rect({ x, y, w, h, r = 0, fill, stroke, width = 1, alpha = 1 }) {
    this.parts.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"${r ? ` rx="${r}"` : ""} fill="${fill ? css(fill) : "none"}"`
      + (fill && alpha < 1 ? ` fill-opacity="${n(alpha)}"` : "") + (stroke ? ` stroke="${css(stroke)}" stroke-width="${width}"` : "") + "/>");
  }

  curve({ from, to, axis = "x", colour, width = 1, alpha = 1, dash = [] }) {
    const [a, b] = handles(from, to, axis), point = ([x, y]) => `${n(x)},${n(y)}`;
    this.parts.push(`<path d="M${point(from)} C${point(a)} ${point(b)} ${point(to)}" fill="none" stroke="${css(colour)}" stroke-opacity="${n(alpha)}"`
      + ` stroke-width="${n(width)}"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ' stroke-linecap="round"'}/>`);
  }

  path({ points, colour, width = 1, alpha = 1, dash = [], closed = false, fill }) {
    const d = points.map(([x, y], i) => `${i ? "L" : "M"}${n(x)},${n(y)}`).join(" ") + (closed ? " Z" : "");
    this.parts.push(`<path d="${d}" fill="${fill ? css(fill) : "none"}"${fill && alpha < 1 ? ` fill-opacity="${n(alpha)}"` : ""}`
      + (colour ? ` stroke="${css(colour)}" stroke-width="${n(width)}" stroke-linejoin="round"${alpha < 1 ? ` stroke-opacity="${n(alpha)}"` : ""}` : "")
      + (dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "") + "/>");
  }

  bow({ from, by, to, colour, width = 1, alpha = 1, dash = [] }) {
    this.parts.push(`<path d="M${pointOf(from)} Q${pointOf(by)} ${pointOf(to)}" fill="none" stroke="${css(colour)}" stroke-opacity="${n(alpha)}"`
      + ` stroke-width="${n(width)}"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}/>`);
  }

  shape({ points, fill, alpha = 1 }) {
    this.parts.push(`<polygon points="${points.map(pointOf).join(" ")}" fill="${css(fill)}" fill-opacity="${n(alpha)}"/>`);
  }

  text({ text, x, y, size, weight = 400, fill, align = "left", angle = 0, mono = false, alpha = 1 }) {
    const rtl = directionOf(text) === "rtl";
    const anchor = align === "center" ? "middle" : (align === "left") === rtl ? "end" : "start";
    const place = angle ? `transform="translate(${n(x)} ${n(y)}) rotate(${angle})"` : `x="${n(x)}" y="${n(y)}"`;
    this.parts.push(`<text ${place} dy="0.35em" font-size="${size}" font-weight="${weight}" fill="${css(fill)}" text-anchor="${anchor}"`
      + (alpha < 1 ? ` fill-opacity="${n(alpha)}"` : "") + (mono ? ` font-family="${escapeXml(this.theme.mono)}"` : "")
      + `${rtl ? ' direction="rtl"' : ""} style="unicode-bidi:isolate;white-space:pre">${escapeXml(text)}</text>`);
    return widthOf(this.theme, text, size, weight, mono);
  }

  image({ bitmap, part = wholeOf(bitmap), x, y, w, h }) {
    const cut = document.createElement("canvas");
    cut.width = part.w;
    cut.height = part.h;
    cut.getContext("2d").drawImage(bitmap, part.x, part.y, part.w, part.h, 0, 0, part.w, part.h);
    this.parts.push(`<image x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" preserveAspectRatio="none"`
      + ` style="image-rendering:pixelated" href="${cut.toDataURL("image/png")}"/>`);
  }

  cells({ bitmap, rows, cols, x, y, cell, tall = cell, gap, hatched = [] }) {
    if (rows * cols > VECTOR_CELLS) this.image({ bitmap, x, y, w: cols * cell, h: rows * tall });
    else {
      const { data } = bitmap.getContext("2d").getImageData(0, 0, cols, rows);
      for (let i = 0; i < rows * cols; i++) {
        if (!data[4 * i + 3]) continue;
        this.rect({ x: x + (i % cols) * cell + gap / 2, y: y + Math.floor(i / cols) * tall + gap / 2, w: cell - gap, h: tall - gap, fill: [...data.slice(4 * i, 4 * i + 3)] });
      }
    }
    for (const run of hatched) {
      for (let row = run.row; row < run.row + run.count; row++) {
        for (let col = run.col; col < run.col + run.length; col++) this.hatch({ x: x + col * cell + gap / 2, y: y + row * tall + gap / 2, w: cell - gap, h: tall - gap });
      }
    }
  }

  hatch({ x, y, w, h }) {
    this.parts.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="url(#masked)"/>`);
  }

  clip({ x, y, w, h }, draw) {
    const name = `clip${this.clips++}`;
    this.parts.push(`<clipPath id="${name}"><rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"/></clipPath><g clip-path="url(#${name})">`);
    draw();
    this.parts.push("</g>");
  }

  shift(x, y, draw) {
    this.parts.push(`<g transform="translate(${n(x)} ${n(y)})">`);
    draw();
    this.parts.push("</g>");
  }

  document(width, height, title) {
    const { theme } = this;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}" font-family="${escapeXml(theme.font)}">`
      + `<title>${escapeXml(title)}</title><defs><pattern id="masked" width="${TILE}" height="${TILE}" patternUnits="userSpaceOnUse">`
      + `<rect width="${TILE}" height="${TILE}" fill="${css(theme.card)}"/><path d="M-1,1 L1,-1 M0,${TILE} L${TILE},0 M${TILE - 1},${TILE + 1} L${TILE + 1},${TILE - 1}" stroke="${css(theme.hatch)}" stroke-width="1.2"/></pattern></defs>`
      + `<rect width="100%" height="100%" fill="${css(theme.card)}"/>${this.parts.join("\n")}</svg>`;
  }
}

const wholeOf = ({ width, height }) => ({ x: 0, y: 0, w: width, h: height });

const n = value => Math.round(value * 100) / 100;

const pointOf = ([x, y]) => `${n(x)},${n(y)}`;

const handles = ([x, y], [tx, ty], axis) => axis === "x"
  ? [[x + (tx - x) * 0.45, y], [tx - (tx - x) * 0.45, ty]]
  : [[x, y + (ty - y) * 0.5], [tx, ty - (ty - y) * 0.5]];

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** Text for XML: entities for its five characters, and the replacement sign for what XML 1.0 forbids. */
export const escapeXml = text => String(text).toWellFormed()
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd").replace(/[&<>"']/g, sign => ENTITIES[sign]);
