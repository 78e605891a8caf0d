// The component: two buttons, each saves all that the page shows as one file; a line says how it goes.
import { button } from "./controls.js";
import { save } from "./export.js";
import { Drawn, mount, picturesOfPage } from "./mount.js";
import { nameOf, packOf } from "./pack.js";
import { pageOf } from "./page.js";
import { element, fill } from "./template.js";

const PATIENCE = 60_000; // ms that an answer may take
const KINDS = { zip: "pack", html: "page" };

function decode(data) {
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  return { header: JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length))), raw: data.slice(4 + length) };
}

const megabytes = bytes => (bytes / 1e6).toFixed(bytes < 1e5 ? 2 : 1);

class TakeAway extends Drawn {
  asked = 0;

  update({ data, setTriggerValue }) {
    this.send = setTriggerValue;
    const { header, raw } = decode(data);
    if (header.answer) this.waiting?.(header.answer, raw);
    this.receive(header, header.digest === this.header?.digest);
  }

  open(header) {
    const focused = this.root.getRootNode().activeElement?.dataset.testid;
    this.header = header;
    const { text } = header;
    this.buttons = Object.entries(KINDS).map(([kind, name]) => button({ name: `take-${kind}`, label: text[name], title: text[`${name}_hint`], onPick: () => this.take(kind) }));
    this.said = element("span", { class: "note", role: "status", "aria-live": "polite", "data-testid": "take-said" }, this.said?.textContent ?? "");
    this.root.replaceChildren(element("div", { class: "take" }, ...this.buttons, this.said));
    this.asGroup(text.name);
    if (focused) this.buttons.find(made => made.dataset.testid === focused)?.focus();
  }

  say(sentence, state) {
    this.said.textContent = sentence;
    this.root.dataset.state = state;
  }

  /** What only the server has: the page's numbers, or the code of the pictures. */
  answer(kind, components) {
    const number = `${performance.timeOrigin}-${++this.asked}`;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("no answer")), PATIENCE);
      this.waiting = (answer, raw) => {
        if (answer.number !== number) return;
        clearTimeout(late);
        if (answer.failed) reject(new Error("refused"));
        else resolve(raw);
      };
      this.send("ask", { number, kind, components });
    });
  }

  async take(kind) {
    if (this.busy) return;
    const { header } = this, { text } = header, pictures = picturesOfPage(), address = location.href;
    if (!pictures.length) return this.say(text.nothing, "failed");
    this.busy = true;
    this.say(text.working, "working");
    try {
      const blob = await (kind === "zip" ? this.pack(pictures, address) : this.page(pictures, address));
      const name = nameOf(header, address, kind), size = megabytes(blob.size);
      if (kind === "html" && blob.size > header.limit) return this.say(fill(text.too_large, { size, limit: megabytes(header.limit) }), "failed");
      save(blob, name);
      this.say(fill(text.saved, { name, size }), "saved");
    } catch (error) {
      console.warn(error);
      this.say(text.failed, "failed");
    } finally {
      this.busy = false;
    }
    return undefined;
  }

  async pack(pictures, address) {
    const { header } = this, numbers = header.numbers ? await this.answer("zip", []) : null;
    return packOf(pictures, { header, numbers, address });
  }

  async page(pictures, address) {
    const { header } = this, components = pictures.map(picture => picture.root.dataset.testid.replaceAll("-", "_"));
    return pageOf(pictures, { header, frame: new TextDecoder().decode(await this.answer("html", components)), address });
  }

  render() {
    this.width = this.root.clientWidth;
    this.root.dataset.painted = ++this.painted;
  }
}

export default mount(".take-away", TakeAway);
