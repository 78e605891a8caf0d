// The row of buttons under a picture.
import { button, copyLink } from "./controls.js";
import { csvOf } from "./csv.js";
import { fileName, pngOf, save, svgOf } from "./export.js";
import { captionOf } from "./opened.js";
import { linkOf } from "./state.js";
import { element } from "./template.js";

/** `current()` gives {picture, opened, csv, caption} at the moment of the click. */
export function exportBar(app, current, prefix = "") {
  const { header } = app.payload, { text } = header;
  const caption = ({ opened, caption: given }) => given ?? captionOf(opened, header.caption);
  const name = ({ opened }, kind) => fileName([header.caption.model, ...(opened ? [opened.attention.id, `layer${opened.layer}`, `head${opened.head}`] : ["heads"])], kind);
  const kinds = {
    png: async now => save(await pngOf(app.theme, now.picture, caption(now)), name(now, "png")),
    svg: now => save(svgOf(app.theme, now.picture, caption(now)), name(now, "svg")),
    csv: now => save(csvOf(now.opened, caption(now)), name(now, "csv")),
  };
  const offered = Object.keys(kinds).filter(kind => kind !== "csv" || !prefix);
  const bar = element("div", { class: "exports" }, ...offered.map(kind => button({ name: `${prefix}${kind}`, label: text[kind], onPick: () => kinds[kind](current()) })));
  if (!prefix) bar.append(copyLink(text, () => linkOf(header, app.state)));
  return bar;
}
