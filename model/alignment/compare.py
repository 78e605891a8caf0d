"""Links of the same pairs from several hands, side by side: against gold, against each other, and where they differ most."""

import heapq
from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from model.alignment.metrics import Counts, interval_of
from model.alignment.pharaoh import Link

Side = Sequence[Set[Link] | None]
"""The links of each pair in order; None where this hand has linked nothing yet, or could not."""

_DRAWN = 500_000  # sentences that a bootstrap draws in all: fewer samples of a large corpus, whose interval is narrow anyway


@dataclass(frozen=True)
class Measured:
    """The links of one side against gold: counts over `pairs` sentences, and the 95 % interval of the error rate."""

    counts: Counts
    interval: tuple[float, float]
    pairs: int


@dataclass(frozen=True)
class Difference:
    """A pair on which two sides differ: the links of only one of them, and how far they agree (F-measure)."""

    index: int
    only_first: frozenset[Link]
    only_second: frozenset[Link]
    agreement: float

    @property
    def size(self) -> int:
        """How many links one of the two has alone."""
        return len(self.only_first) + len(self.only_second)


def measured(counts: np.ndarray) -> Measured | None:
    """How well a side agrees with gold, from the counts of each pair that has both (`metrics.per_sentence`); None without any."""
    if len(counts) == 0:
        return None
    samples = max(200, min(2000, _DRAWN // len(counts)))
    total = Counts(*(int(count) for count in counts.sum(axis=0)))
    return Measured(total, interval_of(counts, samples=samples), len(counts))


def agreement(first: Side, second: Side) -> float | None:
    """The F-measure of two sides over the pairs that both have linked; None without any, 1 where neither has a link."""
    both = [(one, other) for one, other in zip(first, second, strict=False) if one is not None and other is not None]
    if not both:
        return None
    return _f_measure(sum(len(one & other) for one, other in both), sum(len(one) + len(other) for one, other in both))


def differing(first: Side, second: Side, most: int = 10) -> list[Difference]:
    """The pairs on which two sides differ most, by the number of links that only one has, the most first."""
    found = (
        Difference(index, frozenset(one - other), frozenset(other - one), _f_measure(len(one & other), len(one) + len(other)))
        for index, (one, other) in enumerate(zip(first, second, strict=False))
        if one is not None and other is not None and one != other
    )
    return heapq.nsmallest(most, found, key=lambda one: (-one.size, one.agreement, one.index))


def _f_measure(both: int, size: int) -> float:
    return 2 * both / size if size else 1.0
