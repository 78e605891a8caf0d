// The table twin of a picture: the same numbers as a real table, folded away until a visitor opens it.
import { element } from "./template.js";

/** Made when it is open and what it shows has changed: a component's own twin says in `made` how. */
export class Folded {
  constructor(text, label = null) {
    this.text = text;
    this.body = element("div", { class: "table-scroll", tabindex: "0", role: "group", "aria-label": label });
    this.details = element("details", { class: "twin", "data-testid": "table" }, element("summary", {}, text.table), this.body);
    this.details.ontoggle = () => this.fill();
  }

  /** Something else is to be shown. */
  renew(parts) {
    Object.assign(this, parts, { stale: true });
    this.fill();
  }

  fill() {
    if (!this.details.open || !this.stale) return;
    this.stale = false;
    const table = this.made();
    if (table.caption) this.body.setAttribute("aria-label", table.caption.textContent);
    this.body.replaceChildren(table);
  }
}

/** A table that is small enough to stand there before anybody opens it. */
export function folded(text, label, table) {
  const twin = new Folded(text, label);
  twin.body.append(table);
  return twin.details;
}
