// One sequential scale for weights, light to dark (dark to light on a dark page), even in perceived lightness.
import { css, mix } from "./theme.js";

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

/** A map as a small bitmap, one pixel a cell; masked cells and rows without numbers stay transparent. */
export function rasterize(theme, { rows, cols, values, masked, top }) {
  const bitmap = document.createElement("canvas");
  bitmap.width = Math.max(1, cols);
  bitmap.height = Math.max(1, rows);
  const context = bitmap.getContext("2d");
  const image = context.createImageData(bitmap.width, bitmap.height);
  const pixels = new Uint32Array(image.data.buffer), colours = palette(theme);
  const factor = (STEPS - 1) / (top || 1);
  for (let i = 0; i < rows * cols; i++) {
    if (masked && masked[i]) continue;
    const level = values[i] * factor + 0.5;
    pixels[i] = colours[level > STEPS - 1 ? STEPS - 1 : level | 0];
  }
  context.putImageData(image, 0, 0);
  return bitmap;
}

/** The colour bar with its two ends; a hatched square explains masked cells where there are any. */
export function drawScale(surface, theme, { x, y, low = "0", high, masked }) {
  const width = 132, height = 11, size = 12.5;
  let at = x + surface.text({ text: low, x, y: y + 6, size, fill: theme.muted }) + 8;
  for (let i = 0; i < 66; i++) surface.rect({ x: at + i * 2, y, w: 2.4, h: height, fill: colourAt(theme, i / 65) });
  surface.rect({ x: at - 0.5, y: y - 0.5, w: width + 1, h: height + 1, r: 2, stroke: theme.strong });
  at += width + 8;
  at += surface.text({ text: high, x: at, y: y + 6, size, fill: theme.muted });
  if (masked) {
    at += 22;
    surface.hatch({ x: at, y: y - 1, w: 20, h: height + 2 });
    surface.rect({ x: at + 0.5, y: y - 0.5, w: 19, h: height + 1, stroke: theme.strong });
    at += 28 + surface.text({ text: masked, x: at + 28, y: y + 6, size, fill: theme.muted });
  }
  return at - x;
}

export const scaleColour = (theme, share) => css(colourAt(theme, share));
