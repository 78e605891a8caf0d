// The URL of the page: what was chosen in the browser stands there, so that a reload or a link reopens it.

/**
 * A page is one entry of the history, with all that is chosen on it: the back button goes to the page before, as it was left, and
 * not through every choice. (Streamlit makes an entry each time the server writes the URL.)
 */
export function oneEntryAPage() {
  if (Object.hasOwn(history, "pushState")) return;
  history.pushState = function (state, unused, link) {
    const same = new URL(link ?? location.href, location.href).pathname === location.pathname;
    History.prototype[same ? "replaceState" : "pushState"].call(history, state, unused, link);
  };
}

/** Makes this the URL, without a new entry in the history. */
export function replaceAddress(link) {
  if (link !== location.href) history.replaceState(history.state, "", link);
}

/** Whether the address is a link that somebody was sent: what this tab remembers is then not what the sender saw. */
export const isShared = () => new URLSearchParams(location.search).has("shared");

/**
 * Calls `write` whenever the server wrote the URL of this page: it does not know what was chosen here since, and puts back what
 * was before. Returns a function that ends it.
 */
export function afterServer(write) {
  const page = location.pathname, onEntry = () => { if (location.pathname === page) write(); };
  globalThis.navigation?.addEventListener("currententrychange", onEntry);
  return () => globalThis.navigation?.removeEventListener("currententrychange", onEntry);
}
