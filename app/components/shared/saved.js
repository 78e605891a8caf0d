// A page that was saved: pictures of the app on their own, from a file, without a server. `components` says by name how each is
// drawn ({style, make}); `contents` is what the file holds: {language, title, notes, address, pictures: [{component, data}]}.

const dark = matchMedia("(prefers-color-scheme: dark)");
const stored = { getItem: () => null, setItem() {}, removeItem() {} };

/**
 * What the pictures take for the address of their page: the view that it was saved from, else the file; what they write there
 * follows in the address bar, where the browser lets it, so that a reload keeps it.
 */
function placesOf(contents) {
  const here = new URL(contents.address || location.href);
  if (location.search) here.search = location.search;
  const replaceState = (state, _, link) => {
    here.href = link;
    try {
      history.replaceState(state, "", here.search || location.pathname);
    } catch { /* a page inside a page has no address */ }
  };
  return { location: here, history: { state: null, replaceState }, sessionStorage: stored };
}

async function unpacked(text) {
  const signs = atob(text), bytes = new Uint8Array(signs.length);
  for (let at = 0; at < signs.length; at++) bytes[at] = signs.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function draw(main, { style, make }, name, data, places) {
  const host = document.createElement("div"), shadow = host.attachShadow({ mode: "open" });
  const look = document.createElement("style"), root = document.createElement("div");
  look.textContent = style;
  root.className = `atlas ${name}`;
  root.classList.toggle("placeless", places.location.protocol === "about:");
  root.dataset.testid = name;
  shadow.append(look, root);
  main.append(host);
  const component = make(places), told = { data: await unpacked(data), parentElement: shadow, setStateValue() {}, setTriggerValue() {}, offline: true };
  const show = () => component(told);
  show();
  dark.addEventListener("change", show);
}

export async function open(components, contents) {
  const main = document.querySelector("main"), places = placesOf(contents);
  const say = (tag, text, place = null) => {
    const made = document.createElement(tag);
    made.dir = "auto";
    made.textContent = text;
    main.insertBefore(made, place);
  };
  main.querySelector("noscript")?.remove();
  say("h1", contents.title);
  for (const note of contents.notes) say("p", note);
  for (const { component, data } of contents.pictures) await draw(main, components[component], component.replaceAll("_", "-"), data, places);
  document.documentElement.dataset.drawn = contents.pictures.length;
}
