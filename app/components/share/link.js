// The link to what is on the screen, made of the address as it is now; and what its parameters say, in words.
import { fill } from "./template.js";

export const LONG = 2000; // characters: what chat and mail often break
export const LONGEST = 8000; // what servers and programs refuse
const SHOWN = 80, OURS = ["lang", "shared", "present", "slide"];

/** `shared` tells the components that what this tab remembers is not what the sender saw. */
export function linkOf(address, { language, header }) {
  const url = new URL(address), { searchParams } = url;
  url.hash = "";
  for (const [name, value] of Object.entries(header.place)) if (!searchParams.has(name)) searchParams.set(name, value);
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

/** What a parameter is called, by its whole name, by its end (".cell") or by its beginning ("own_*"); null for one that is not ours. */
function called(name, names) {
  const parts = [name, name.replace(/^[^.]*(?=\.)/, ""), ...Object.keys(names).filter(key => key.endsWith("*") && name.startsWith(key.slice(0, -1)))];
  const key = parts.find(part => Object.hasOwn(names, part));
  return key === undefined ? null : [key, ...names[key]];
}

function read(key, kind, value, { words, text }) {
  if (kind === "counted" && /^\d{1,4}(,\d{1,4})*$/.test(value)) return value.split(",").map(part => Number(part) + 1).join(text.comma);
  if (kind === "opened") return value === "false" ? text.closed : text.opened;
  const word = part => words[`${key}=${part.replace(/\W/g, "_")}`], known = value.split(",").map(word);
  if (kind === "mask" && !known[0]) return text.painted;
  return known.every(Boolean) ? known.join(text.comma) : value === "mean" ? text.mean : value;
}

/** What the link holds: [what it is called, its value in words], each name once, in the order of the page. */
export function held(link, header) {
  const { names, text } = header, found = [];
  for (const [name, value] of new URL(link).searchParams) {
    if (OURS.includes(name) || value === "") continue;
    const [key, label, kind] = called(name, names) ?? [name, name, ""];
    found.push({ at: Object.keys(names).indexOf(key), label, said: read(key, kind, value, header) });
  }
  found.sort((one, other) => (one.at < 0) - (other.at < 0) || one.at - other.at);
  const told = new Map([[text.page, [header.page]]]);
  for (const { label, said } of found) told.set(label, [...new Set([...told.get(label) ?? [], said])]);
  return [...told].map(([label, said]) => [label, said.join(text.comma)]);
}

export const inWords = parts => parts.map(([label, value]) => [label, cut(value)]);

/** What is copied where no link is short enough: everything it would hold, a line each, and the link to the rest. */
export const asText = (link, parts) => [...parts.map(([label, value]) => `${label}: ${value}`), shortOf(link)].join("\n");

/** What to say of its length: nothing, that it is long, or that there is no link. */
export function lengthOf(link, text) {
  const said = link.length > LONGEST ? text.too_long : link.length > LONG ? text.long : "";
  return fill(said, { given: link.length.toLocaleString("en"), long: LONG.toLocaleString("en"), longest: LONGEST.toLocaleString("en") });
}
