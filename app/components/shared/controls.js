// Small controls that a keyboard and a screen reader can use: one choice of several, several of several, yes or no.
import { widthOf } from "./labels.js";
import { element } from "./template.js";

const AROUND = 24; // room that a button needs beside its words

/** One of several, as a row of buttons (a radio group); a list where they would not fit in one row of `room`. */
export function choice({ name, label, options, value, onPick, theme, room }) {
  const wide = options.reduce((sum, option) => sum + Math.max(32, widthOf(theme, option.label, 14, 600) + AROUND), 0);
  if (wide > room) return list({ name, label, options, value, onPick });
  const buttons = options.map(option => element("button", {
    type: "button", role: "radio", "aria-checked": String(option.value === value), tabindex: option.value === value ? "0" : "-1",
    "data-testid": `${name}-${option.value}`, "data-value": option.value, title: option.title, onclick: () => onPick(option.value),
  }, option.label));
  if (!options.some(option => option.value === value)) buttons[0]?.setAttribute("tabindex", "0");
  const group = element("span", { role: "radiogroup", "aria-label": label, class: "segments", "data-testid": `control-${name}` }, ...buttons);
  group.onkeydown = event => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const from = buttons.indexOf(event.target.closest("button")), next = (from + step + buttons.length) % buttons.length;
    onPick(options[next].value);
  };
  return element("span", { class: "control" }, element("span", { class: "name", "aria-hidden": "true" }, label), group);
}

function list({ name, label, options, value, onPick }) {
  const select = element("select", { "data-testid": `control-${name}` });
  options.forEach((option, i) => select.append(element("option", { value: i, selected: option.value === value }, option.label)));
  select.onchange = () => onPick(options[select.selectedIndex].value);
  return element("label", { class: "control" }, element("span", { class: "name" }, label), select);
}

export function toggle({ name, label, value, onPick }) {
  const box = element("input", { type: "checkbox", "data-testid": `control-${name}`, onchange: () => onPick(box.checked) });
  box.checked = value;
  return element("label", { class: "control toggle" }, box, element("span", {}, label));
}

export const button = ({ name, label, title, onPick, className = "action" }) =>
  element("button", { type: "button", class: className, title, "data-testid": name, onclick: onPick }, label);

/** A button that copies what `link()` gives, and says for a moment whether it could. */
export function copyLink(text, link) {
  const made = button({ name: "copy-link", className: "action linked", label: text.copy_link, onPick: async () => {
    try {
      await navigator.clipboard.writeText(link());
      made.textContent = text.copied;
    } catch {
      made.textContent = text.copy_failed;
    }
    setTimeout(() => { made.textContent = text.copy_link; }, 2500);
  } });
  made.setAttribute("aria-live", "polite");
  return made;
}

/** Puts controls in place of the old ones and keeps the keyboard focus where it was. */
export function replaceControls(holder, controls) {
  const root = holder.getRootNode(), focused = root.activeElement;
  const name = focused && holder.contains(focused) ? focused.getAttribute("data-testid") : null;
  const group = focused?.closest?.('[role="radiogroup"]')?.getAttribute("data-testid");
  holder.replaceChildren(...controls.filter(Boolean));
  if (!name) return;
  const again = group ? holder.querySelector(`[data-testid="${group}"] [tabindex="0"]`) : [...holder.querySelectorAll("[data-testid]")].find(node => node.getAttribute("data-testid") === name);
  again?.focus();
}
