"""Links from both directions at once: their weights are averaged before any link is taken.

Symmetrising joins links that each direction has chosen for itself; a weight that nearly won is lost by then. Here a link is
where the mean weight of the two directions is above `ABOVE`, or where it is the largest both of its source word and of its
target word. The first rule gives a word several partners (an English word and its Chinese characters), the second keeps a pair
that both directions prefer, though neither is sure. Both numbers were chosen on the even gold lines of two language pairs
(benchmarks/alignment_quality.py).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from model.alignment.extract import Choice
from model.alignment.pharaoh import Link

ABOVE, MUTUAL = 0.45, 0.1

Map = Float[np.ndarray, "target source"]


def guided(card: Mapping[str, Any], choice: Choice) -> tuple[Choice, ...]:
    """The heads whose mean stands for a direction: all that were guided where `choice` is one of them, else `choice` alone."""
    heads = heads_of(card)
    return heads if choice in heads else (choice,)


def heads_of(card: Mapping[str, Any]) -> tuple[Choice, ...]:
    """The guided heads that a card names."""
    return tuple(Choice(int(entry["layer"]), int(entry["head"]), entry["row"]) for entry in card.get("guided", ()))


def mean(forward: Map, backward: Float[np.ndarray, "source target"]) -> Map:
    """The mean weight of both directions, between words, without special tokens."""
    joined: Map = (forward + backward.T) / 2
    return joined


def links(weights: Map, above: float = ABOVE, mutual: float = MUTUAL) -> set[Link]:
    """The links (source, target) of the mean weights of both directions."""
    if weights.size == 0:
        return set()
    largest = (weights >= weights.max(axis=1, keepdims=True)) & (weights >= weights.max(axis=0, keepdims=True))
    rows, columns = ((weights > above) | (largest & (weights > mutual))).nonzero()
    return {(int(i), int(j)) for j, i in zip(rows, columns, strict=True)}
