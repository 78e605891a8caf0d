"""Pairs with links and scores that no model made, for tests of what is done with them."""

import numpy as np

from model.alignment.confidence import NO_SCORES, scores
from model.alignment.corpus import Aligned, WeightedLink
from model.alignment.formats import GoldLinks, Message
from model.alignment.pharaoh import Link

HOSTILE = '<script>alert("x")</script>'


def aligned(index: int, source: str, target: str, links: dict[Link, float], problem: Message | None = None) -> Aligned:
    """A pair whose map has these weights and nothing else; words are what spaces part."""
    source_words, target_words = tuple(source.split()), tuple(target.split())
    map_ = np.zeros((len(target_words), len(source_words)))
    for (i, j), weight in links.items():
        map_[j, i] = weight
    best = np.full((1, 2, 2, len(target_words)), -1, dtype=np.int16)
    weighted = tuple(WeightedLink(i, j, weight) for (i, j), weight in sorted(links.items()))
    found = NO_SCORES if problem else scores(map_)
    return Aligned(index, source, target, source_words, target_words, weighted, found, -0.5, best, problem)


def gold(sure: set[Link], possible: set[Link] = frozenset()) -> GoldLinks:  # type: ignore[assignment]  # an empty one
    return GoldLinks(frozenset(sure), frozenset(sure | possible))


CAR = aligned(0, "the red car", "la voiture rouge", {(0, 0): 0.9, (1, 2): 0.8, (2, 1): 0.7, (2, 0): 0.25})
CAR_GOLD = gold({(0, 0), (1, 2)}, {(2, 1), (2, 2)})
ATTACK = aligned(1, f"{HOSTILE} &lt; a_b", "**bold** $x$ \u202eabc", {(0, 1): 1.0})
ATTACK_GOLD = gold({(1, 2)})
LONG = aligned(2, "far too long", "trop long", {}, Message("The source has 900 tokens.", "too_long", {}))
