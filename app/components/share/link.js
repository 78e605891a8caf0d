// The link to what is on the screen, made of the address as it is now; and what its parameters say, in words.
import { fill } from "./template.js";

export const LONG = 2000, LONGEST = 8000; // characters: what chat and mail often break, what servers and programs refuse
const SHOWN = 80, OURS = ["lang", "shared", "present", "slide"];

/** `shared` tells the components that what this tab remembers is not what the sender saw. */
export function linkOf(address, { language }) {
  const url = new URL(address), { searchParams } = url;
  url.hash = "";
  searchParams.set("shared", "1");
  if (!language) searchParams.delete("lang");
  if (!searchParams.has("present")) searchParams.delete("slide");
  return url.href;
}

/** The same without the long texts, which are then copied as text. */
export function shortOf(link) {
  const url = new URL(link);
  for (const [name, value] of [...url.searchParams]) if (value.length > SHOWN) url.searchParams.delete(name);
  return url.href;
}

const cut = value => [...value].length > SHOWN ? `${[...value].slice(0, SHOWN).join("")}…` : value;

function read(value, kind, { words, text }) {
  if (kind === "counted" && /^\d{1,4}$/.test(value)) return String(Number(value) + 1);
  if (kind === "opened") return text.opened;
  if (kind === "mask" && !Object.hasOwn(words, value)) return text.painted;
  return Object.hasOwn(words, value) ? words[value] : value;
}

/** What the link holds: [what it is called, its value in words], each name once, in the order of the page. */
export function held(link, header) {
  const { names } = header, found = new Map([[header.text.page, [header.page]]]);
  for (const [name, value] of new URL(link).searchParams) {
    if (OURS.includes(name) || value === "") continue;
    const known = Object.hasOwn(names, name) ? names[name] : names[name.replace(/^[^.]*(?=\.)/, "")];
    const [label, kind] = known ?? [name, ""], said = read(value, kind, header);
    found.set(label, [...new Set([...found.get(label) ?? [], said])]);
  }
  return [...found].map(([label, values]) => [label, values.join(header.text.comma)]);
}

export const inWords = parts => parts.map(([label, value]) => [label, cut(value)]);

/** What is copied where no link is short enough: everything it would hold, a line each, and the link to the rest. */
export const asText = (link, parts) => [...parts.map(([label, value]) => `${label}: ${value}`), shortOf(link)].join("\n");

/** What to say of its length: nothing, that it is long, or that there is no link. */
export function lengthOf(link, text) {
  const said = link.length > LONGEST ? text.too_long : link.length > LONG ? text.long : "";
  return fill(said, { given: link.length.toLocaleString("en"), long: LONG.toLocaleString("en"), longest: LONGEST.toLocaleString("en") });
}
