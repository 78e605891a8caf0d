"""Moments of a training: loss and cross-attention at several steps, scrubbed through in the browser."""

from pathlib import Path
from typing import Any

from app.components.modules import component
from app.components.moments.payload import LABELS, Shown, pack, unpack

__all__ = ["LABELS", "Shown", "moments", "pack", "unpack"]

_component = component(Path(__file__).parent)


def moments(payload: bytes, *, key: str) -> Any:
    """Draws a payload made by `pack`. Moment, layer, head and row live in the browser and in the URL (`<name>.moment` ...)."""
    return _component(key=key, data=payload)
