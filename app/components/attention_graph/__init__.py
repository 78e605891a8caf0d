"""The three attentions side by side: matrices of one layer and head, and the encoder's also as a complete directed graph."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components.attention_graph.payload import LABELS, pack
from app.components.modules import component, nothing

__all__ = ["LABELS", "attention_graph", "pack"]

_component = component(Path(__file__).parent)


def attention_graph(payload: bytes, *, key: str, on_place_change: Callable[[], None]) -> Any:
    """Draws a payload made by `pack`.

    Layer, head and the switches live in the browser and in the URL. `.place` of the result is where the visitor looks,
    {"attention", "layer", "head"}, told a moment after it changed; `.open` the place to open in the step-by-step page, for
    one run.
    """
    return _component(key=key, data=payload, on_place_change=on_place_change, on_open_change=nothing)
