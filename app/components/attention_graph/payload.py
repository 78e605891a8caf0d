"""A recorded trace as the bytes of three panels: the block of the attention map, and what stands above each panel."""

from collections.abc import Mapping, Sequence
from typing import Any

from model.page.attention import LARGEST, pack_detail
from model.page.attention import pack as pack_maps
from model.trace import Trace

LABELS: tuple[str, ...] = (
    "name", "graph", "hint", "asymmetry", "back", "said", "live_hint", "open", "row",
    "encoder", "encoder_matrix", "encoder_graph",
)  # fmt: skip

ATTENTIONS = ("encoder.self_attention", "decoder.self_attention", "decoder.cross_attention")


def pack(
    trace: Trace,
    *,
    text: Mapping[str, str],
    labels: Mapping[str, str],
    caption: Mapping[str, str],
    about: Mapping[str, Mapping[str, Any]],
    asymmetry: Mapping[str, Sequence[Sequence[float]]],
    place: Mapping[str, Any],
) -> bytes:
    """Every layer and head of the three attentions, and what is said of each.

    `text` holds the labels of the attention map, `labels` those of `LABELS`. `about` says of each attention its "purpose",
    "mask", the formulas "query", "key", "value", and by layer its "origins" ("query" and "memory", each "meaning" and
    "path"). `asymmetry` has a number for each layer and head of the attentions that have one. `place` is what a first visit
    shows: attention, layer, head. Above `LARGEST` tokens the heads of `place` follow exactly, the others when they are asked for.
    """
    extra = {
        "text": {name: labels[name] for name in LABELS},
        "about": {name: dict(about[name]) for name in ATTENTIONS},
        "asymmetry": {name: [list(row) for row in rows] for name, rows in asymmetry.items()},
    }
    message = pack_maps(
        trace, view="heads", attentions=ATTENTIONS, words={}, text=text, caption=caption, defaults=dict(place), extra=extra
    )
    if max(len(trace.source), len(trace.target)) <= LARGEST:
        return message
    return message + b"".join(_exact(trace, name, int(place["layer"]), int(place["head"])) for name in ATTENTIONS)


def _exact(trace: Trace, attention: str, layer: int, head: int) -> bytes:
    """The head itself; an attention with fewer layers shows its last, as in the browser."""
    stack, name = attention.split(".")
    while layer and f"{stack}.layers.{layer}.{name}.weights" not in trace:
        layer -= 1
    return pack_detail(trace, attention, layer, head)
