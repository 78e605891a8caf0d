// The component: a button, and the box it opens: the link, what it holds, what it leaves out.
import { oneEntryAPage } from "./address.js";
import { button, toggle } from "./controls.js";
import { asText, held, inWords, lengthOf, linkOf, LONGEST } from "./link.js";
import { Drawn, mount } from "./mount.js";
import { reachWide } from "./reach.js";
import { afterReconnecting } from "./reconnect.js";
import { element, fill } from "./template.js";

const ICON = "M14 5l5 5-5 5M19 10H9a4 4 0 0 0-4 4v5"; // an arrow that leaves

class Share extends Drawn {
  constructor(root) {
    super(root);
    oneEntryAPage();
    // It stands on every page.
    this.ends = [reachWide(), afterReconnecting(() => this.again(Date.now()))];
  }

  update({ data, setTriggerValue }) {
    this.again = time => setTriggerValue("again", time);
    const message = new TextDecoder().decode(data);
    this.receive(message, message === this.message);
  }

  open(message) {
    this.message = message;
    this.header = JSON.parse(message);
    document.documentElement.lang = this.header.spoken; // a screen reader speaks the page in its language
    this.language ??= true;
    const { text } = this.header, open = this.panel?.matches(":popover-open");
    this.panel = element("div", { popover: true, id: "share-panel", class: "panel", role: "dialog", "aria-label": text.title, "data-testid": "share-panel" });
    this.panel.ontoggle = ({ newState }) => {
      if (newState === "open") this.build();
      else if (this.panel.contains(opener.getRootNode().activeElement) || document.activeElement === document.body) opener.focus(); // no browser gives it back inside a component
    };
    const opener = element("button", { type: "button", class: "action open", popovertarget: "share-panel", "data-testid": "share-open" }, this.icon(), text.share);
    this.root.replaceChildren(opener, this.panel);
    if (open) this.panel.showPopover();
  }

  icon() {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS(svg.namespaceURI, "path");
    for (const [name, value] of Object.entries({ viewBox: "0 0 24 24", width: 15, height: 15, "aria-hidden": "true" })) svg.setAttribute(name, value);
    path.setAttribute("d", ICON);
    svg.append(path);
    return svg;
  }

  /** Everything in the box is made when it opens: until then nobody reads it. */
  build() {
    const { text } = this.header;
    const close = button({ name: "share-close", label: "×", className: "close", onPick: () => this.panel.hidePopover() });
    close.setAttribute("aria-label", text.close);
    this.field = element("textarea", { readonly: true, rows: "3", dir: "ltr", spellcheck: "false", autofocus: true, "data-testid": "share-link", onfocus: () => this.field.select() });
    this.label = element("label", {}, element("span", { class: "name" }), this.field);
    this.length = element("p", { class: "warning", role: "alert", "data-testid": "share-length" });
    this.said = element("span", { class: "note", role: "status", "aria-live": "polite", "data-testid": "share-said" });
    this.list = element("dl", { "data-testid": "share-holds" });
    this.missing = element("ul", { "data-testid": "share-leaves-out" });
    this.panel.replaceChildren(close, element("h2", {}, text.title), this.label, this.length,
      element("div", { class: "row" }, button({ name: "share-copy", label: text.copy, className: "action strong", onPick: () => this.copy() }), this.said),
      toggle({ name: "share-language", label: fill(text.language, { language: this.header.language }), value: this.language, onPick: value => { this.language = value; this.show(); } }),
      element("h3", {}, text.holds), this.list, element("h3", {}, text.leaves_out), this.missing);
    this.show();
    this.field.focus();
  }

  /** From the address as it is now: a component may have written it a moment ago. */
  show() {
    const { header } = this, { text } = header, link = linkOf(location.href, this), parts = held(link, header), long = link.length > LONGEST;
    this.field.value = long ? asText(link, parts) : link;
    this.label.firstChild.textContent = long ? text.as_text : text.link;
    this.length.textContent = lengthOf(link, text);
    this.said.textContent = "";
    this.list.replaceChildren(...inWords(parts).flatMap(([label, value]) => [element("dt", {}, label), element("dd", {}, element("bdi", {}, value))]));
    const url = new URL(link).searchParams, without = !url.get("text") && header.names.text ? [text.no_text] : [];
    this.missing.replaceChildren(...[...without, ...header.left].map(sentence => element("li", {}, sentence)));
  }

  async copy() {
    const { text } = this.header;
    this.show();
    let done = true;
    try {
      await navigator.clipboard.writeText(this.field.value);
    } catch { // without https, or not allowed
      this.field.focus();
      this.field.select();
      done = document.execCommand("copy");
    }
    this.said.textContent = done ? text.copied : text.by_hand;
  }

  /** The address was changed while the box is open. */
  write() {
    if (this.panel.matches(":popover-open")) this.show();
  }

  render() {
    this.width = this.root.clientWidth;
    this.root.dataset.painted = ++this.painted;
  }

  close() {
    super.close();
    for (const end of this.ends) end();
  }
}

export default mount(".share", Share);
