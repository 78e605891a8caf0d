// The colours of the page as numbers, and the fixed colours of the roles.

const ROLES = {
  light: { query: [0, 114, 178], key: [198, 81, 2], value: [0, 128, 90], source: [138, 90, 0], target: [59, 76, 202] },
  dark: { query: [86, 180, 233], key: [240, 136, 62], value: [63, 199, 150], source: [227, 179, 65], target: [143, 155, 255] },
};

const WHITE = [255, 255, 255];
const DARK_INK = [4, 5, 7]; // almost black: on the middle of the scale no lighter one is legible

export const css = ([r, g, b], alpha = 1) => alpha >= 1 ? `rgb(${r},${g},${b})` : `rgba(${r},${g},${b},${alpha})`;

export const mix = (from, to, share) => from.map((value, i) => Math.round(value + (to[i] - value) * share));

function luminance(colour) {
  const [r, g, b] = colour.map(value => value / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** The more legible of dark and white on a background. */
export const inkOn = background => contrast(WHITE, background) > contrast(DARK_INK, background) ? WHITE : DARK_INK;

const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

function parse(text, fallback) {
  if (!text || text === "unset") return fallback;
  probe.canvas.width = probe.canvas.height = 1;
  probe.fillStyle = text;
  probe.fillRect(0, 0, 1, 1);
  return [...probe.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

export function readTheme(root) {
  const style = getComputedStyle(root);
  const paper = parse(style.getPropertyValue("--st-background-color").trim(), WHITE);
  const ink = parse(style.getPropertyValue("--st-text-color").trim(), [29, 35, 48]);
  const accent = parse(style.getPropertyValue("--st-primary-color").trim(), ROLES.light.target);
  const dark = luminance(paper) < 0.25;
  const card = mix(paper, WHITE, dark ? 0.035 : 0.75);
  const edge = mix(card, ink, dark ? 0.4 : 0.5); // what must be seen without being read: 3:1 on the card
  const theme = {
    dark, paper, ink, accent, card, ...ROLES[dark ? "dark" : "light"],
    muted: mix(card, ink, 0.68), line: mix(card, ink, 0.14), strong: edge, hatch: edge,
    font: style.fontFamily, mono: '"Source Code Pro", "Noto Sans Mono", ui-monospace, monospace',
  };
  theme.name = JSON.stringify([paper, ink, accent, theme.font]);
  return theme;
}

/** Eight colours that colour-blind eyes tell apart (tests/components/test_colours.py); with the dashes below, 56 heads look different. */
const HEADS = {
  light: [[0, 114, 178], [198, 81, 2], [0, 128, 90], [160, 70, 130], [120, 66, 40], [90, 60, 190], [40, 44, 56], [20, 30, 240]],
  dark: [[86, 180, 233], [240, 136, 62], [63, 199, 150], [225, 140, 190], [240, 215, 90], [170, 150, 255], [222, 224, 230], [91, 225, 244]],
};
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [12, 4], [1, 5]];

export const headStyle = (theme, head) => head === "mean"
  ? { colour: theme.ink, dash: [] }
  : { colour: HEADS[theme.dark ? "dark" : "light"][head % 8], dash: DASHES[head % 7] };

/** Hands the colours to the stylesheet. */
export function applyTheme(root, theme) {
  root.dataset.theme = theme.dark ? "dark" : "light";
  for (const name of ["card", "muted", "line", "strong", "source", "target", "key", "query"]) root.style.setProperty(`--${name}`, css(theme[name]));
  root.style.setProperty("--on-accent", css(inkOn(theme.accent)));
}
