"""How well links agree with gold ones: precision, recall, alignment error rate (Och and Ney 2003), with an interval."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from model.alignment.pharaoh import Link

Corpus = Set[Link] | Sequence[Set[Link]]


@dataclass(frozen=True)
class Counts:
    """What all measures are made of, summed over sentences."""

    links: int
    sure: int
    links_in_sure: int
    links_in_possible: int

    @classmethod
    def of(cls, links: Corpus, sure: Corpus, possible: Corpus) -> "Counts":
        """Count one sentence (sets of (source, target)) or a corpus (equally long lists of sets)."""
        total = per_sentence(links, sure, possible).sum(axis=0)
        return cls(*(int(count) for count in total))

    @property
    def precision(self) -> float:
        """|A & P| / |A|; 1 when there are no links."""
        return self.links_in_possible / self.links if self.links else 1.0

    @property
    def recall(self) -> float:
        """|A & S| / |S|; 1 when nothing is sure."""
        return self.links_in_sure / self.sure if self.sure else 1.0

    @property
    def alignment_error_rate(self) -> float:
        """1 - (|A & S| + |A & P|) / (|A| + |S|); 0 when both are empty."""
        size = self.links + self.sure
        return 1.0 - (self.links_in_sure + self.links_in_possible) / size if size else 0.0


def alignment_error_rate(links: Corpus, sure: Corpus, possible: Corpus) -> float:
    """1 - (|A & S| + |A & P|) / (|A| + |S|) for links A, sure gold S and possible gold P.

    Sets of (source, target) from 0, or equally long lists of such sets: counts are then summed over the corpus. Sure
    links count as possible too, whether `possible` repeats them or not.
    """
    return Counts.of(links, sure, possible).alignment_error_rate


def precision(links: Corpus, sure: Corpus, possible: Corpus) -> float:
    """The share of the links that are possible (or sure) in the gold; 1 when there are no links."""
    return Counts.of(links, sure, possible).precision


def recall(links: Corpus, sure: Corpus, possible: Corpus) -> float:
    """The share of the sure gold links that were found; 1 when nothing is sure."""
    return Counts.of(links, sure, possible).recall


def per_sentence(links: Corpus, sure: Corpus, possible: Corpus) -> np.ndarray:
    """A row of counts for each sentence: links, sure, links in sure, links in possible."""
    given = [_as_corpus(side) for side in (links, sure, possible)]
    sizes = [len(side) for side in given]
    if len(set(sizes)) > 1:
        raise ValueError("links, sure and possible are of {}, {} and {} sentences; they must be equally long".format(*sizes))
    rows = [(len(a), len(s), len(a & s), len(a & (s | p))) for a, s, p in zip(*given, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def interval(
    links: Corpus, sure: Corpus, possible: Corpus, *, level: float = 0.95, samples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """A bootstrap interval of the alignment error rate: sentences are drawn with replacement, from one seed."""
    return interval_of(per_sentence(links, sure, possible), level=level, samples=samples, seed=seed)


def interval_of(counts: np.ndarray, *, level: float = 0.95, samples: int = 2000, seed: int = 0) -> tuple[float, float]:
    """`interval` from the counts of each sentence."""
    if (size_of := len(counts)) == 0:
        return 0.0, 0.0
    drawn = np.random.default_rng(seed).integers(size_of, size=(samples, size_of))
    drawn += size_of * np.arange(samples)[:, None]
    times = np.bincount(drawn.ravel(), minlength=samples * size_of).reshape(samples, size_of)  # each sentence in each sample
    total = times.astype(np.float64) @ counts  # whole numbers, exact; quicker than to gather the sentences
    size = total[:, 0] + total[:, 1]
    rates = np.where(size > 0, 1.0 - (total[:, 2] + total[:, 3]) / np.maximum(size, 1), 0.0)
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(rates, (tail, 1.0 - tail))
    return float(low), float(high)


def _as_corpus(side: Corpus) -> list[frozenset[Link]]:
    return [frozenset(side)] if isinstance(side, Set) else [frozenset(links) for links in side]
