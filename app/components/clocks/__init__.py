"""Rotary positions as hands of clocks, one clock a pair, and the score over the offset as the sum of the pairs' cosines."""

from pathlib import Path
from typing import Any

from app.components.clocks.payload import LABELS, Head, pack, unpack
from app.components.modules import component

__all__ = ["LABELS", "Head", "clocks", "pack", "unpack"]

_component = component(Path(__file__).parent)


def clocks(payload: bytes, *, key: str) -> Any:
    """Draws a payload made by `pack`. What is chosen lives in the browser and in the URL; no message is sent."""
    return _component(key=key, data=payload)
