"""Presenter mode's bar and keys: which slide this is, the way to the others, and type that fills the screen."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components.modules import component
from app.components.presenter.payload import LABELS, pack, unpack

__all__ = ["LABELS", "pack", "presenter", "unpack"]

_component = component(Path(__file__).parent)


def presenter(payload: bytes, *, key: str, on_to: Callable[[], None]) -> Any:
    """Draws a payload made by `pack`.

    For one run after the visitor stepped, `.to` of the result is {"slide": number}, {"page": "next" or "previous"},
    {"leave": true}, or {} where the page found its server again; it comes from a browser and is not to be trusted.
    """
    return _component(key=key, data=payload, on_to_change=on_to)
