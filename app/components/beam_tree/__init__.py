"""Beam search as a tree: every candidate that was kept, cut or finished, with what it looked at."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components.beam_tree.payload import LABELS, Node, Search, pack, unpack
from app.components.modules import component, nothing

__all__ = ["LABELS", "Node", "Search", "beam_tree", "pack", "unpack"]

_component = component(Path(__file__).parent)


def beam_tree(payload: bytes, *, key: str, on_branch: Callable[[], None] | None = None) -> Any:
    """Draws a payload made by `pack`. The chosen node lives in the browser and in the URL (`node`).

    For one run after the visitor wants to go on from a node, `.branch` of the result is {"ids"}: the tokens on the way to it, not
    to be trusted.
    """
    return _component(key=key, data=payload, on_branch_change=on_branch or nothing)
