// The files of a picture: of the opened head, or of all of them at once.
import { csvOf } from "./csv.js";
import { exportRow, fileName, pictureOf } from "./export.js";
import { captionOf } from "./opened.js";
import { linkOf } from "./state.js";

/** One picture to take away: `current()` gives {picture, opened, caption} at the moment of the click; the overview has no CSV. */
export class Taken {
  constructor(app, current, prefix = "") {
    this.app = app;
    this.current = current;
    this.prefix = prefix;
    const { header } = app.payload;
    this.node = exportRow(this, header.text, prefix ? null : () => linkOf(header, app.state));
  }

  get kinds() { return ["png", "svg", ...(this.prefix ? [] : ["csv"])].map(kind => this.prefix + kind); }

  async file(named) {
    const { app, prefix } = this, kind = named.slice(prefix.length), now = this.current(), { opened } = now, { header } = app.payload;
    const caption = now.caption ?? captionOf(opened, header.caption);
    const name = fileName([header.caption.model, ...(opened ? [opened.attention.id, `layer${opened.layer}`, `head${opened.head}`] : ["heads"])], kind);
    return { blob: kind === "csv" ? csvOf(opened, caption) : await pictureOf(kind, app.theme, now.picture, caption), name, caption };
  }
}
