// Pictures and numbers to take away, with a caption that says what they are.
import { fileName, pictureOf } from "./export.js";
import { drawLegend, layoutLegend } from "./marks.js";
import { captionOf } from "./say.js";
import { csvOf } from "./twin.js";

export async function fileOf(app, kind) {
  const { header, state, theme } = app, caption = captionOf(app), name = fileName([header.caption.model, `pair${header.index + 1}`, state.view], kind);
  if (kind === "csv") return { blob: csvOf(app), name, caption };
  const inner = app.panel.picture, legend = layoutLegend(theme, app.entries, Math.max(inner.width, 420), state.view);
  const picture = { width: Math.max(inner.width, legend.width), height: inner.height + 14 + legend.height, draw: surface => {
    inner.draw(surface);
    drawLegend(surface, theme, legend, 0, inner.height + 14);
  } };
  return { blob: await pictureOf(kind, theme, picture, caption), name, caption };
}
