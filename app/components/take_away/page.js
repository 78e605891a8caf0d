// The page as a file that opens from disk: what the server knows of each picture's code, and the bytes that it was drawn from here.

const CHUNK = 0x8000;

async function squeezed(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer()), signs = [];
  for (let at = 0; at < packed.length; at += CHUNK) signs.push(String.fromCharCode(...packed.subarray(at, at + CHUNK)));
  return btoa(signs.join(""));
}

/** `frame` is the file with `place` where its contents belong: JSON in which no sign can end the element around it. */
export async function pageOf(pictures, { header, frame, address }) {
  const { title, language, notes, place } = header;
  const drawn = await Promise.all(pictures.map(async picture => ({ component: picture.root.dataset.testid.replaceAll("-", "_"), data: await squeezed(picture.saved ?? picture.bytes) })));
  const contents = JSON.stringify({ language, title, notes, address, pictures: drawn }).replaceAll("<", "\\u003c");
  return new Blob([frame.replace(place, () => contents)], { type: "text/html;charset=utf-8" });
}
