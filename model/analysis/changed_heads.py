"""The same weights with heads of one attention changed: switched off, made even, or replaced by their mean.

A change is named "even" (all heads of `attention` in every layer read alike all that they may), "mean" (every head of a layer
reads with the mean of all), or "off:<layer>:<head>" (that head reads nothing).
"""

from collections.abc import Mapping

from model.analysis import what_if
from model.analysis.forced import freely, repeated
from model.trace import Edit, Trace
from model.translator import Atlas


def scores(atlas: Atlas, trace: Trace, attention: str, change: str) -> tuple[float, ...]:
    """The log-probabilities of the same target in the changed model."""
    return repeated(atlas, trace, edits(atlas, attention, change), only=frozenset()).log_probabilities


def written(atlas: Atlas, trace: Trace, attention: str, change: str) -> str:
    """What the changed model writes when it is left to itself, greedily."""
    return atlas.said(trace.source_text, freely(atlas, trace, edits(atlas, attention, change)).ids)


def edits(atlas: Atlas, attention: str, change: str) -> Mapping[str, Edit]:
    """What makes the change, by path."""
    stack, _, name = attention.partition(".")
    paths = what_if.weight_paths(attention, atlas.config.encoder_layers if stack == "encoder" else atlas.config.decoder_layers)
    kind, *place = change.split(":")
    if kind == "even":
        return {
            path: edit for one in paths for path, edit in what_if.even_head(one, *range(atlas.config.heads_of(attention))).items()
        }
    if kind == "mean":
        return what_if.average_heads(paths)
    layer, head = map(int, place)
    return what_if.without_head(f"{stack}.layers.{layer}.{name}.weights", head)
