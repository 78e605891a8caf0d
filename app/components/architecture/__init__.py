"""The architecture diagram: a model's boxes and arrows, walked by pointer and keyboard, drawn in the browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components.architecture.payload import LABELS, pack
from app.components.modules import component, nothing

__all__ = ["LABELS", "architecture_diagram", "pack"]

_component = component(Path(__file__).parent)


def architecture_diagram(
    payload: bytes,
    *,
    key: str,
    on_open_change: Callable[[], None] | None = None,
    on_layer_change: Callable[[], None] | None = None,
) -> Any:
    """Draws a payload made by `pack`.

    Choosing a box sets `.open` of the result to its id, for one run. A little after another layer was opened, `.layer` says
    which, counted from 0.
    """
    return _component(
        key=key,
        data=payload,
        on_open_change=on_open_change or nothing,
        on_layer_change=on_layer_change or nothing,
    )
