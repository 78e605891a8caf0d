// Formulas and code that are wider than their place scroll by themselves: then a keyboard reaches them, and the arrow keys move them.

const WIDE = ".stMain .katex-display, .stMain pre";

/** Keeps all of the page so, whenever it changes. Returns a function that ends it. */
export function reachWide() {
  let frame = null;
  const look = () => {
    frame = null;
    for (const part of document.querySelectorAll(WIDE)) {
      if (part.scrollWidth > part.clientWidth || (part.tagName === "PRE" && part.scrollHeight > part.clientHeight)) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  };
  const soon = () => { frame ??= requestAnimationFrame(look); };
  const changes = new MutationObserver(soon);
  changes.observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", soon);
  document.fonts.addEventListener("loadingdone", soon); // signs become wider
  soon();
  return () => {
    changes.disconnect();
    removeEventListener("resize", soon);
    document.fonts.removeEventListener("loadingdone", soon);
    cancelAnimationFrame(frame);
  };
}
