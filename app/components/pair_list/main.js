// The component: draws a page, follows the keyboard from row to row, asks the server to sort, to turn the page, to open a pair.
import { button } from "./controls.js";
import { Drawn, mount } from "./mount.js";
import { span, tableOf } from "./rows.js";
import { element, fill } from "./template.js";

class PairList extends Drawn {
  update({ data, setTriggerValue }) {
    this.send = setTriggerValue;
    const message = new TextDecoder().decode(data);
    this.receive(message, message === this.message);
  }

  open(message) {
    this.message = message;
    const before = this.header;
    this.header = JSON.parse(message);
    this.turned = before && (before.page !== this.header.page || before.sort !== this.header.sort || before.descending !== this.header.descending);
  }

  ask(what) {
    this.send("ask", what);
  }

  render() {
    this.width = this.root.clientWidth;
    if (this.drawn === this.message) return;
    this.drawn = this.message;
    const { header } = this, { text, rows, page, pages } = header;
    const focus = this.focused();
    const table = tableOf(header, what => this.ask(what));
    table.tBodies[0].onkeydown = event => this.key(event);
    const holder = element("div", { class: "list-scroll", tabindex: "0", role: "region", "aria-label": table.caption.textContent }, table);
    const live = element("p", { class: "unseen", role: "status", "aria-live": "polite", "data-testid": "live" });
    const parts = [holder];
    if (!rows.length) parts.push(element("p", { class: "note" }, text.empty));
    if (pages > 1) parts.push(this.turns(page, pages));
    this.root.replaceChildren(element("section", { class: "card" }, ...parts, live));
    if (this.turned) live.textContent = fill(text.caption, span(header));
    this.restore(focus);
    this.root.dataset.painted = ++this.painted;
  }

  turns(page, pages) {
    const { text } = this.header, to = (name, label, target) => {
      const made = button({ name, label, onPick: () => this.ask({ page: target }) });
      made.disabled = target < 0 || target >= pages || target === page;
      return made;
    };
    const where = element("span", { class: "note" }, fill(text.page, { page: page + 1, pages: pages.toLocaleString("en") }));
    return element("nav", { class: "turns", "aria-label": fill(text.page, { page: page + 1, pages }) },
      to("first-page", text.first, 0), to("previous-page", text.previous, page - 1), where, to("next-page", text.next, page + 1), to("last-page", text.last, pages - 1));
  }

  /** The keyboard is on a row's button, or on a heading's, or nowhere in here. */
  focused() {
    const root = this.root.getRootNode(), at = root.activeElement;
    if (!at || !this.root.contains(at)) return null;
    return at.dataset.testid ?? null;
  }

  restore(name) {
    if (!name) return;
    const found = this.root.querySelector(`[data-testid="${CSS.escape(name)}"]:not([disabled])`) ?? this.root.querySelector(".opens");
    this.reach(found);
  }

  reach(found) {
    if (!found) return;
    if (found.classList.contains("opens")) {
      for (const other of this.root.querySelectorAll(".opens")) other.tabIndex = other === found ? 0 : -1;
    }
    found.focus({ preventScroll: true });
    found.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    const all = [...this.root.querySelectorAll(".opens")], at = all.indexOf(event.target);
    if (at < 0 || event.altKey || event.metaKey || event.ctrlKey) return;
    const { page, pages } = this.header;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) this.reach(all[Math.max(0, Math.min(all.length - 1, to))]);
    else if (event.key === "PageDown" && page + 1 < pages) this.ask({ page: page + 1 });
    else if (event.key === "PageUp" && page > 0) this.ask({ page: page - 1 });
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

export default mount(".pair-list", PairList);
