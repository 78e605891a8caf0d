"""Bars: a few numbers for each of a list of things, side by side, drawn and read in the browser."""

from pathlib import Path
from typing import Any

from app.components.bars.payload import LABELS, Series, pack
from app.components.modules import component

__all__ = ["LABELS", "Series", "bars", "pack"]

_component = component(Path(__file__).parent)


def bars(payload: bytes, *, key: str) -> Any:
    """Draws a payload made by `pack`. Nothing is sent to the server."""
    return _component(key=key, data=payload)
