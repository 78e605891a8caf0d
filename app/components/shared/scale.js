// One sequential scale for weights, light to dark (dark to light on a dark page), even in perceived lightness.
import { widthOf } from "./labels.js";
import { CanvasSurface, ratioOf } from "./surface.js";
import { mix } from "./theme.js";

const STOPS = {
  light: [[246, 247, 252], [199, 206, 243], [131, 146, 226], [72, 84, 190], [27, 32, 112]],
  dark: [[31, 35, 45], [50, 58, 104], [80, 92, 174], [127, 139, 236], [205, 210, 255]],
};
const STEPS = 1024;
const palettes = new Map();

export function colourAt(theme, share) {
  const stops = STOPS[theme.dark ? "dark" : "light"];
  const at = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const below = Math.min(stops.length - 2, Math.floor(at));
  return mix(stops[below], stops[below + 1], at - below);
}

/** 1024 colours as little-endian RGBA words, made once for each theme. */
function palette(theme) {
  const name = theme.dark ? "dark" : "light";
  if (!palettes.has(name)) {
    const words = new Uint32Array(STEPS);
    for (let i = 0; i < STEPS; i++) {
      const [r, g, b] = colourAt(theme, i / (STEPS - 1));
      words[i] = (255 << 24 | b << 16 | g << 8 | r) >>> 0;
    }
    palettes.set(name, words);
  }
  return palettes.get(name);
}

/** Maps of one size as one bitmap, one pixel a cell, `across` maps a row; masked cells and rows without numbers stay transparent. */
export function rasterize(theme, maps, across = 1) {
  const { rows, cols } = maps[0], bitmap = document.createElement("canvas");
  bitmap.width = Math.max(1, cols * across);
  bitmap.height = Math.max(1, rows * Math.ceil(maps.length / across));
  const context = bitmap.getContext("2d"), image = context.createImageData(bitmap.width, bitmap.height);
  const pixels = new Uint32Array(image.data.buffer), colours = palette(theme);
  maps.forEach(({ values, masked, top }, place) => {
    const factor = (STEPS - 1) / (top || 1), corner = Math.floor(place / across) * rows * bitmap.width + (place % across) * cols;
    for (let row = 0, i = 0; row < rows; row++) {
      for (let to = corner + row * bitmap.width, end = to + cols; to < end; to++, i++) {
        if (masked[i]) continue;
        const level = values[i] * factor + 0.5;
        pixels[to] = colours[level > STEPS - 1 ? STEPS - 1 : level | 0];
      }
    }
  });
  context.putImageData(image, 0, 0);
  return bitmap;
}

const BAR = 132, BAR_HEIGHT = 11, TEXT = 12.5, LEGEND_LINE = 22;

/** Where the colour bar, its two ends and the hatched square that explains masked cells stand; two lines where one is too long. */
export function layoutScale(theme, { low = "0", high, masked, room = Infinity }) {
  const end = widthOf(theme, low, TEXT) + 8 + BAR + 8 + widthOf(theme, high, TEXT), legend = masked ? 28 + widthOf(theme, masked, TEXT) : 0;
  const beside = !masked || end + 22 + legend <= room;
  return { low, high, masked, legendX: beside ? end + 22 : 0, legendY: beside ? 0 : LEGEND_LINE,
    width: beside ? end + (masked ? 22 + legend : 0) : Math.max(end, legend), height: beside ? LEGEND_LINE : 2 * LEGEND_LINE };
}

export function drawScale(surface, theme, { low, high, masked, legendX, legendY }, x, y) {
  const at = x + surface.text({ text: low, x, y: y + 6, size: TEXT, fill: theme.muted }) + 8;
  for (let i = 0; i < 66; i++) surface.rect({ x: at + i * 2, y, w: 2.4, h: BAR_HEIGHT, fill: colourAt(theme, i / 65) });
  surface.rect({ x: at - 0.5, y: y - 0.5, w: BAR + 1, h: BAR_HEIGHT + 1, r: 2, stroke: theme.strong });
  surface.text({ text: high, x: at + BAR + 8, y: y + 6, size: TEXT, fill: theme.muted });
  if (!masked) return;
  const left = x + legendX, top = y + legendY;
  surface.hatch({ x: left, y: top - 1, w: 20, h: BAR_HEIGHT + 2 });
  surface.rect({ x: left + 0.5, y: top - 0.5, w: 19, h: BAR_HEIGHT + 1, stroke: theme.strong });
  surface.text({ text: masked, x: left + 28, y: top + 6, size: TEXT, fill: theme.muted });
}

/** The scale on a canvas of its own, as large as it needs. */
export function paintScale(canvas, theme, scale) {
  const name = JSON.stringify([scale, theme.name, ratioOf(canvas)]);
  if (canvas.dataset.scale === name) return;
  canvas.dataset.scale = name;
  const surface = new CanvasSurface(canvas, theme), width = Math.ceil(scale.width) + 4;
  surface.begin(width, scale.height);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${scale.height}px`;
  drawScale(surface, theme, scale, 2, 5);
}
