// What is seen of presenter mode: a slim bar below the slide, a black screen, a box with the keys.
import { element, fill } from "./template.js";

const KEYS = [["→  n  Space  PageDown", "key_next"], ["←  p  Shift+Space  PageUp", "key_previous"], ["Home", "key_first"], ["End", "key_last"],
  ["↓  ↑", "key_scroll"], ["f", "key_full"], ["b  .", "key_black"], ["?", "key_help"], ["Esc", "key_leave"]];

/** The parts, each made once; `act` is told what a button stands for. */
export function parts(act) {
  const press = (name, sign) => element("button", { type: "button", class: "turn", "data-testid": `present-${name}`, onclick: () => act(name) }, sign);
  const made = {
    title: element("span", { class: "page" }), count: element("span", { class: "count", "data-testid": "present-count" }),
    down: press("down", "↓"), previous: press("previous", "‹"), next: press("next", "›"), help: press("help", "?"), leave: press("leave", "×"),
    live: element("p", { class: "unseen", role: "status", "aria-live": "polite", "data-testid": "present-live" }),
    black: element("div", { class: "black", "data-testid": "present-black", popover: "manual", onclick: () => act("black") }),
    box: element("dialog", { class: "keys", "data-testid": "present-keys" }),
  };
  made.bar = element("nav", { class: "bar" }, made.title, made.down, made.previous, made.count, made.next, made.help, made.leave);
  return made;
}

/** Says where we are. The live region is set only when that changed. */
export function tell(made, { page, title, count, text }, slide) {
  made.title.textContent = page;
  made.count.textContent = fill(text.count, { slide, count });
  made.bar.setAttribute("aria-label", page);
  for (const name of ["down", "previous", "next", "help", "leave"]) {
    made[name].setAttribute("aria-label", text[name]);
    made[name].title = text[name];
  }
  const said = fill(text.slide, { slide, count, title });
  if (made.live.textContent !== said) made.live.textContent = said;
  const rows = KEYS.map(([keys, key]) => element("tr", {}, element("th", { scope: "row" }, ...keys.split("  ").map(name => element("kbd", {}, name))), element("td", {}, text[key])));
  made.box.setAttribute("aria-label", text.keys);
  made.box.replaceChildren(element("h2", {}, text.keys), element("table", {}, element("tbody", {}, ...rows)), element("p", {}, text.key_focus),
    element("button", { type: "button", class: "turn wide", onclick: () => made.box.close() }, text.close));
}
