"""The mask painter: who may read whom, as a matrix to paint and as lines between tokens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components.mask_painter.payload import LABELS, pack, unpack
from app.components.modules import component, nothing

__all__ = ["LABELS", "mask_painter", "pack", "unpack"]

_component = component(Path(__file__).parent)


def mask_painter(payload: bytes, *, key: str, on_mask_change: Callable[[], None] | None = None) -> Any:
    """Draws a payload made by `pack`.

    The painted mask lives in the browser and in the URL (`mask`). A moment after a change `.mask` of the result is what the URL
    says: a preset's name, cells as in a link, or "" for the model's own mask.
    """
    return _component(key=key, data=payload, on_mask_change=on_mask_change or nothing)
