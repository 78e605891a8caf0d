"""Two families side by side: what an encoder-decoder and a decoder-only model read when each writes word t."""

from pathlib import Path
from typing import Any

from app.components.modules import component
from app.components.two_families.payload import LABELS, pack

__all__ = ["LABELS", "pack", "two_families"]

_component = component(Path(__file__).parent)


def two_families(payload: bytes, *, key: str) -> Any:
    """Draws a payload made by `pack`. The word, layer and head live in the browser and in the URL; nothing is sent."""
    return _component(key=key, data=payload)
