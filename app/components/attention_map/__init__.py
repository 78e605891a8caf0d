"""The attention map: every layer and head of a trace on one canvas, opened, compared and read in the browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components.modules import component, nothing
from model.page.attention import LABELS, pack, pack_detail

__all__ = ["LABELS", "attention_map", "pack", "pack_detail"]

_component = component(Path(__file__).parent)


def attention_map(
    payload: bytes,
    *,
    key: str,
    detail: bytes | None = None,
    on_open_change: Callable[[], None] | None = None,
    on_into: Callable[[], None] | None = None,
) -> Any:
    """Draws a payload made by `pack`.

    Layer, head and the switches live in the browser and in the URL; nothing is sent to the server, except for maps above
    `payload.LARGEST` tokens: opening a head then sets `.open` of the result to {"attention", "layer", "head"}, and the next
    run passes `pack_detail` of it as `detail`. `.into` is the head that the visitor wants to step through, for one run.
    """
    return _component(
        key=key, data=payload + (detail or b""), on_open_change=on_open_change or nothing, on_into_change=on_into or nothing
    )
