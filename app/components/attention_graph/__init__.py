"""The three attentions side by side: matrices of one layer and head, and the encoder's also as a complete directed graph."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components.attention_graph.payload import LABELS, pack
from app.components.modules import component, nothing

__all__ = ["LABELS", "attention_graph", "pack"]

MODULES = ("scale", "payload", "axes", "reduce", "state", "keys", "matrix", "opened", "table", "graph", "panel", "main")

_FOLDER = Path(__file__).parent
OTHERS = (_FOLDER.parent / "attention_map",)  # the same heads, drawn and read by the same modules

_component = component(_FOLDER, MODULES, *OTHERS)


def attention_graph(payload: bytes, *, key: str, on_place_change: Callable[[], None]) -> Any:
    """Draws a payload made by `pack`.

    Layer, head and the switches live in the browser and in the URL. `.place` of the result is where the visitor looks,
    {"attention", "layer", "head"}, told a moment after it changed; `.open` the place to open in the step-by-step page, for
    one run.
    """
    return _component(key=key, data=payload, on_place_change=on_place_change, on_open_change=nothing)
