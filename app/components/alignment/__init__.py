"""One pair of sentences and its alignment: linked text, ribbon and matrix, gold beside it, links edited by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components.alignment.payload import LABELS, Backward, Gold, Joint, Pieces, Sentence, identity, pack, unpack
from app.components.modules import component, nothing

__all__ = ["LABELS", "Backward", "Gold", "Joint", "Pieces", "Sentence", "alignment", "identity", "pack", "unpack"]

_component = component(Path(__file__).parent)


def alignment(
    payload: bytes,
    *,
    key: str,
    on_open_change: Callable[[], None] | None = None,
    on_gold: Callable[[], None] | None = None,
    on_go: Callable[[], None] | None = None,
) -> Any:
    """Draws a payload made by `pack`.

    Layer, head and all switches live in the browser and in the URL. The server hears of three things, none of which it may
    trust: `.gold`, for one run, is what was linked by hand: {"pair", "index", "sure", "possible"}; `.go`, for one run, the index
    of the pair that the visitor goes to; `.open` the {"pair", "measure", "layer"} of a large pair that is to be sent.
    """
    return _component(
        key=key,
        data=payload,
        on_open_change=on_open_change or nothing,
        on_gold_change=on_gold or nothing,
        on_go_change=on_go or nothing,
    )
