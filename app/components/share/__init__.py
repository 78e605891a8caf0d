"""Share: a button that opens the link to what is on the screen, what it holds and what it leaves out."""

from pathlib import Path

from app.components.modules import component
from app.components.share.payload import LABELS, Kind, Name, pack

__all__ = ["LABELS", "Kind", "Name", "pack", "share"]

_component = component(Path(__file__).parent)


def share(payload: bytes, *, key: str) -> None:
    """Draws a payload made by `pack`. The link is the address as the browser has it.

    The server is told only that the page was without it for a moment, which runs the page: a process that is new to the page
    would take the visitor's next click for the first of a visit, and lose it.
    """
    _component(key=key, data=payload, width="content", on_again_change=lambda: None)
