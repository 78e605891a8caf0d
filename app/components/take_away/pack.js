// The pack: every picture that the page shows as PNG, SVG and CSV, the page's numbers as NPZ, and one text that says what it all is.
import { fileName } from "./export.js";
import { zipOf } from "./zip.js";

const bytesOf = async blob => new Uint8Array(await blob.arrayBuffer());

/** Layer and head of the view, as files count them, where its address names them. */
function placeOf(address) {
  const named = new URL(address).searchParams;
  return ["layer", "head"].filter(name => named.has(name)).map(name => `${name}${named.get(name)}`);
}

export const nameOf = ({ page, model }, address, kind) => fileName([page, model, ...placeOf(address)], kind);

export async function packOf(pictures, { header, numbers, address }) {
  const { text, lines } = header, files = [], told = [...lines, `${text.reopen} ${address}`];
  for (const [at, picture] of pictures.entries()) {
    const made = await picture.files(), captions = new Map();
    for (const { blob, name, caption } of made) {
      const numbered = `${at + 1}-${name}`;
      files.push({ name: numbered, bytes: await bytesOf(blob) });
      const said = caption.join("\n");
      captions.set(said, [...(captions.get(said) ?? []), numbered]);
    }
    for (const [said, names] of captions) told.push("", ...names, said);
  }
  if (numbers) {
    files.push({ name: "numbers.npz", bytes: numbers });
    told.push("", "numbers.npz", header.numbers);
  } else told.push("", text.no_numbers);
  const written = new TextEncoder().encode(`${told.join("\n")}\n`);
  return zipOf([{ name: "caption.txt", bytes: written }, ...files]);
}
