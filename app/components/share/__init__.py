"""Share: a button that opens the link to what is on the screen, what it holds and what it leaves out."""

from pathlib import Path

from app.components.modules import component
from app.components.share.payload import LABELS, Kind, Name, pack

__all__ = ["LABELS", "Kind", "Name", "pack", "share"]

_component = component(Path(__file__).parent)


def share(payload: bytes, *, key: str) -> None:
    """Draws a payload made by `pack`. The link is the address as the browser has it; nothing is sent to the server."""
    _component(key=key, data=payload, width="content")
