// Pictures and numbers to take away, with a caption that says what they are.
import { fileName, pngOf, save, svgOf } from "./export.js";
import { drawLegend, layoutLegend } from "./marks.js";
import { captionOf } from "./say.js";
import { csvOf } from "./twin.js";

export const saveFile = async (app, kind) => {
  const { header, state, theme } = app, caption = captionOf(app), name = fileName([header.caption.model, `pair${header.index + 1}`, state.view], kind);
  if (kind === "csv") return save(csvOf(app), name);
  const inner = app.panel.picture, legend = layoutLegend(theme, app.entries, Math.max(inner.width, 420), state.view);
  const picture = { width: Math.max(inner.width, legend.width), height: inner.height + 14 + legend.height, draw: surface => {
    inner.draw(surface);
    drawLegend(surface, theme, legend, 0, inner.height + 14);
  } };
  return save(kind === "png" ? await pngOf(theme, picture, caption) : svgOf(theme, picture, caption), name);
};
