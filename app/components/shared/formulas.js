// A formula that is wider than its place scrolls by itself: then a keyboard reaches it, and the arrow keys move it.

const FORMULAS = ".katex-display", PAUSE = 100; // ms: a page that is drawn again changes many times

/** Keeps all formulas of the page so, whenever it changes. Returns a function that ends it. */
export function reachFormulas() {
  let timer = null;
  const look = () => {
    timer = null;
    for (const formula of document.querySelectorAll(FORMULAS)) {
      if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
      else formula.removeAttribute("tabindex");
    }
  };
  const soon = () => { timer ??= setTimeout(look, PAUSE); };
  const changes = new MutationObserver(soon);
  changes.observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", soon);
  soon();
  return () => {
    changes.disconnect();
    removeEventListener("resize", soon);
    clearTimeout(timer);
  };
}
