"""Decoding step by step: what the decoder read, the best next tokens, the choice, and a way to take another."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components.decoding_steps.payload import LABELS, Cut, Moment, Settings, pack, unpack
from app.components.modules import component, nothing

__all__ = ["LABELS", "Cut", "Moment", "Settings", "decoding_steps", "pack", "unpack"]

_component = component(Path(__file__).parent)


def decoding_steps(
    payload: bytes,
    *,
    key: str,
    on_branch: Callable[[], None] | None = None,
    on_typed: Callable[[], None] | None = None,
) -> Any:
    """Draws a payload made by `pack`. The step lives in the browser and in the URL (`step`, from 0).

    For one run after the visitor took another token, `.branch` of the result is the list of ids to begin with; after they typed
    a text, `.typed` is {"ids", "text"}: the ids that stand before it, and the text. Neither is to be trusted.
    """
    return _component(key=key, data=payload, on_branch_change=on_branch or nothing, on_typed_change=on_typed or nothing)
