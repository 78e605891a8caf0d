"""Curves: lines, bars and dots over one axis, read point by point in the browser."""

from pathlib import Path
from typing import Any

from app.components.curves.payload import LABELS, Chart, Series, pack, unpack
from app.components.modules import component

__all__ = ["LABELS", "Chart", "Series", "curves", "pack", "unpack"]

_component = component(Path(__file__).parent)


def curves(payload: bytes, *, key: str) -> Any:
    """Draws a payload made by `pack`. The chosen point lives in the browser and in the URL (`<name>.point`)."""
    return _component(key=key, data=payload)
