// Where a tooltip stands: beside the pointer, inside the component, above the pointer where there is no room below.
import { zoomOf } from "./surface.js";

export function placeTip(root, tooltip, { clientX, clientY }) {
  const box = root.getBoundingClientRect(), zoom = zoomOf(root), { offsetWidth: w, offsetHeight: h } = tooltip;
  const [left, top] = [(clientX - box.left) / zoom, (clientY - box.top) / zoom];
  const x = Math.max(0, Math.min(left + 16, box.width / zoom - w));
  const y = clientY + (24 + h) * zoom > window.innerHeight ? top - h - 14 : top + 20;
  tooltip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}
