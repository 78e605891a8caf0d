"""The list of sentence pairs: one page of a long table, sorted and turned by the server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components.modules import component, nothing
from app.components.pair_list.payload import LABELS, Column, Row, pack, unpack

__all__ = ["LABELS", "Column", "Row", "pack", "pair_list", "unpack"]

_component = component(Path(__file__).parent)


def pair_list(payload: bytes, *, key: str, on_ask: Callable[[], None] | None = None) -> Any:
    """Draws a payload made by `pack`.

    For one run after the visitor asked for something, `.ask` of the result is {"open": index}, {"page": number} or
    {"sort": column}; it comes from a browser and is not to be trusted.
    """
    return _component(key=key, data=payload, on_ask_change=on_ask or nothing)
