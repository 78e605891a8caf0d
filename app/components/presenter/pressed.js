// Which key does what, and whose it is: what has the keyboard keeps its arrows, a remote's keys always step.
const ALWAYS = { PageDown: "next", PageUp: "previous", Escape: "leave" };
const ELSE = { ArrowRight: "next", n: "next", ArrowLeft: "previous", p: "previous", Home: "first", End: "last",
  ArrowDown: "down", ArrowUp: "up", f: "full", b: "black", ".": "black", "?": "help" };
const OWNERS = 'input, textarea, select, [contenteditable]:not([contenteditable="false"]), canvas, [role="application"], [role="slider"], [role="radio"], [role="combobox"], [role="listbox"], [role="spinbutton"], [role="grid"], [role="menu"], [role="tab"], [tabindex="0"]:not(button, a)';
const PRESSED_BY_SPACE = 'button, a, summary, [role="button"]';
const TYPED = 'textarea, input:not([type="range"], [type="checkbox"], [type="radio"]), [contenteditable]:not([contenteditable="false"])';
const LIST = CSS.supports("selector(select:open)") ? "select:open" : "select:not(*)";
const OPEN = 'dialog[open], :popover-open, [data-testid="stDialog"], [data-testid="stPopoverBody"], [data-testid="stSelectboxVirtualDropdown"], [role="combobox"][aria-expanded="true"]';

/** Whether a box lies over the slide; it has all keys. */
export const boxOpen = event => Boolean(document.querySelector(OPEN)) || target(event)?.matches(LIST);

/** The box that a text is being typed into. */
export const typedIn = event => target(event)?.closest(TYPED);

/** What a key on the way down does, before whoever has the keyboard gets it. */
export const early = event => modified(event) ? undefined : ALWAYS[event.key];

/** What a key does that nobody took, and that nobody who has the keyboard would take. */
export function late(event) {
  if (modified(event) || event.defaultPrevented) return undefined;
  const space = event.key === " ";
  if (holds(event, space ? `${OWNERS}, ${PRESSED_BY_SPACE}` : OWNERS)) return undefined;
  return space ? (event.shiftKey ? "previous" : "next") : ELSE[event.key.length === 1 ? event.key.toLowerCase() : event.key];
}

function target(event) {
  const [node] = event.composedPath();
  return node instanceof Element ? node : null;
}

const modified = event => event.altKey || event.ctrlKey || event.metaKey || event.isComposing;

function holds(event, selector) {
  for (const node of event.composedPath()) {
    if (!(node instanceof Element)) continue;
    if (node === document.body || node.matches('[data-testid="stMain"]')) return false;
    if (node.matches(selector)) return true;
  }
  return false;
}
