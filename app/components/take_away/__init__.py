"""Take away: what a page shows as one file, a pack of its pictures and numbers or a page that opens from disk."""

from collections.abc import Callable
from pathlib import Path

from app.components.modules import component
from app.components.take_away.payload import LABELS, Answer, pack, unpack

__all__ = ["LABELS", "Answer", "pack", "take_away", "unpack"]

_component = component(Path(__file__).parent)


def take_away(payload: bytes, *, key: str, on_ask: Callable[[], None]) -> None:
    """Draws a payload made by `pack`.

    `.ask` of the component's state is, for one run, {"number", "kind", "components"}: kind "zip" asks for the page's numbers,
    "html" for the code of these components. The next payload carries the `Answer`. The browser makes the file; the server keeps
    none.
    """
    _component(key=key, data=payload, on_ask_change=on_ask)
