// The component: steps from slide to slide, with the keyboard of the whole page, and leaves.
import { replaceAddress } from "./address.js";
import { parts, tell } from "./bar.js";
import { Fit } from "./fit.js";
import { mount } from "./mount.js";
import { boxOpen, early, late, typedIn } from "./pressed.js";
import { reachWide } from "./reach.js";
import { afterReconnecting } from "./reconnect.js";

const WAIT = 5000, TURNING = 1000; // ms in which a page that was left is drawn again; in which another page comes
const LINE = 12; // px below the screen that hide nothing

class Presenter {
  constructor(root) {
    this.made = parts(action => this.act(action));
    root.replaceChildren(this.made.bar, this.made.live, this.made.black, this.made.box);
    this.more = () => { this.made.down.hidden = !moreBelow(); };
    this.fit = new Fit(this.more);
    this.down = event => this.press(event, this.covered ? () => "black" : early);
    this.up = event => this.press(event, late);
    document.addEventListener("keydown", this.down, true);
    document.addEventListener("keydown", this.up);
    document.addEventListener("scroll", this.more, true);
    this.ends = [reachWide(), afterReconnecting(() => this.send("to", {}))];
  }

  update({ data, setTriggerValue }) {
    this.send = setTriggerValue;
    const message = new TextDecoder().decode(data);
    if (message === this.message) { this.fit.grow(); return; }
    const before = this.header;
    this.message = message;
    this.header = JSON.parse(message);
    document.documentElement.lang = this.header.spoken;
    const { page, slide, kind, count } = this.header, turned = before?.page !== page || before?.slide !== slide;
    if (this.wanted !== slide && this.wanted <= count && before?.page === page) return; // an answer to an earlier step
    this.wanted = undefined;
    tell(this.made, this.header, slide);
    if (!turned) return;
    this.fit.begin(kind, `${page} ${slide}`);
    const main = document.querySelector('[data-testid="stMain"]');
    if (main) main.scrollTop = 0;
  }

  get covered() { return this.made.black.matches(":popover-open"); }

  press(event, meaning) {
    if (this.made.box.open || boxOpen(event)) return;
    const action = meaning(event);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    const box = typedIn(event);
    box?.blur(); // what was typed counts, whatever comes next
    if (!box || action !== "leave") this.act(action);
  }

  act(action) {
    const { slide, count } = this.header, at = this.wanted ?? slide;
    if (action === "next") at < count ? this.go(at + 1) : this.turn("next");
    else if (action === "previous") at > 1 ? this.go(at - 1) : this.turn("previous");
    else if (action === "first") this.go(1);
    else if (action === "last") this.go(count);
    else if (action === "leave") this.leave();
    else if (action === "black") this.made.black.togglePopover();
    else if (action === "help") this.made.box.showModal();
    else if (action === "full") document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.().catch(() => {});
    else document.querySelector('[data-testid="stMain"]').scrollBy({ top: (action === "down" ? 0.6 : -0.6) * innerHeight });
  }

  go(slide) {
    if (slide === (this.wanted ?? this.header.slide)) return;
    this.wanted = slide;
    this.made.count.textContent = this.made.count.textContent.replace(/^\d+/, slide);
    this.write({ slide: String(slide) });
    this.send("to", { slide });
  }

  /** To the page beside, once for two quick presses: the second would go through all of that page. */
  turn(page) {
    if (Date.now() - this.turned < TURNING) return;
    this.turned = Date.now();
    this.send("to", { page });
  }

  leave() {
    if (document.fullscreenElement) document.exitFullscreen();
    this.write({ present: null, slide: null });
    this.send("to", { leave: true });
    const part = this.header.parts[(this.wanted ?? this.header.slide) - 1]; // of a slide that is still to come as well
    if (part) reveal(part);
  }

  /** Into the URL at once, so that the server reads it with the next message and the history gets no entry for every slide. */
  write(changes) {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    replaceAddress(url.href);
  }

  close() {
    document.removeEventListener("keydown", this.down, true);
    document.removeEventListener("keydown", this.up);
    document.removeEventListener("scroll", this.more, true);
    this.fit.close();
    for (const end of this.ends) end();
  }
}

/** Whether the slide goes on below what is seen of it. */
function moreBelow() {
  const main = document.querySelector('[data-testid="stMain"]');
  return Boolean(main) && main.scrollHeight - main.scrollTop - main.clientHeight > LINE;
}

/** Scrolls to the part of the page that the slide showed, once the page has it, and again while what is above it still grows. */
function reveal(part) {
  const end = Date.now() + WAIT, ended = new AbortController(), stop = () => ended.abort();
  for (const own of ["wheel", "touchstart", "keydown", "pointerdown"]) addEventListener(own, stop, { signal: ended.signal, capture: true });
  const look = () => {
    if (ended.signal.aborted) return;
    document.getElementById(part)?.scrollIntoView({ block: "start" });
    if (Date.now() < end) setTimeout(look, 100);
    else stop();
  };
  setTimeout(look);
}

export default mount(".presenter", Presenter);
