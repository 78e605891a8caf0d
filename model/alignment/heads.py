"""Which head aligns? Every layer, head and row scored at once, from the best source words that `corpus.align` kept.

With gold links: alignment error rate, precision and recall. Without: how far the two directions agree, as the F-measure of the
links of this model and those of the reverse model, which is what most likely goes with a low error rate. Nothing is assumed
about layer, head or row: in small models another row wins than in large ones (Chen et al. 2020).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from model.alignment import baseline
from model.alignment.extract import ROWS, Choice, Row
from model.alignment.metrics import Counts
from model.alignment.pharaoh import Link, Links

Measure = Literal["aer", "agreement"]


@runtime_checkable
class Best(Protocol):
    """What is needed of a pair that was aligned (`corpus.Aligned`).

    `best` is the best source word of each target word for every choice, int16 (layer, head with the mean last, row, target
    word), -1 for none.
    """

    @property
    def source_words(self) -> tuple[str, ...]: ...
    @property
    def target_words(self) -> tuple[str, ...]: ...
    @property
    def best(self) -> np.ndarray: ...
    @property
    def problem(self) -> object | None: ...


@runtime_checkable
class Gold(Protocol):
    """Sure and possible links of a pair (`formats.GoldLinks`)."""

    @property
    def sure(self) -> Links: ...
    @property
    def possible(self) -> Links: ...


@dataclass(frozen=True)
class Scoreboard:
    """The scores of every choice over the pairs that could be scored.

    `counts` is int64 (layer, head with the mean last, row, 4). With gold the four are links, sure, links in sure, links in
    possible; without, links, links of the reverse model, and twice the links that both have. `diagonal` is what knowing
    nothing costs, in the same counts.
    """

    measure: Measure
    counts: np.ndarray
    diagonal: Counts
    pairs: int

    def of(self, choice: Choice) -> Counts:
        """What precision, recall and error rate of a choice are made of; without gold, the reverse links stand for gold."""
        return Counts(*(int(count) for count in self.counts[place(choice, self.counts.shape[1])]))

    def rates(self) -> np.ndarray:
        """Alignment error rate, or agreement (F-measure), of each layer, head and row: float64 (layer, head, row)."""
        links, sure, in_sure, in_possible = np.moveaxis(self.counts, -1, 0)
        size = links + sure
        share = np.where(size > 0, (in_sure + in_possible) / np.maximum(size, 1), 1.0)
        return 1.0 - share if self.measure == "aer" else share

    def rate(self, choice: Choice) -> float:
        return float(self.rates()[place(choice, self.counts.shape[1])])

    def table(self) -> tuple[list[tuple[int, Row]], np.ndarray]:
        """`rates` as one table: a line for each layer and row (named beside), a column for each head and the mean."""
        rates = self.rates()
        lines = [(layer, row) for layer in range(rates.shape[0]) for row in ROWS]
        return lines, rates.transpose(0, 2, 1).reshape(len(lines), rates.shape[1])

    @property
    def baseline(self) -> float:
        """The rate of the diagonal."""
        error = self.diagonal.alignment_error_rate
        return error if self.measure == "aer" else 1.0 - error

    @property
    def best(self) -> Choice | None:
        """The lowest error rate or highest agreement; None if no pair was scored. Of equals the first, heads before the mean."""
        if self.pairs == 0:
            return None
        rates = self.rates() if self.measure == "aer" else -self.rates()
        layer, head, row = (int(index) for index in np.unravel_index(int(rates.argmin()), rates.shape))
        return Choice(layer, None if head == rates.shape[1] - 1 else head, ROWS[row])


def place(choice: Choice, heads: int) -> tuple[int, int, int]:
    """Where a choice stands in arrays over layer, head (the mean last) and row; `heads` counts the mean."""
    return choice.layer, heads - 1 if choice.head is None else choice.head, ROWS.index(choice.row)


def links(aligned: Best, choice: Choice) -> set[Link]:
    """For each target word the source word with the largest weight, as `extract.links` finds it."""
    row = aligned.best[place(choice, aligned.best.shape[1])]
    return {(int(i), j) for j, i in enumerate(row) if i >= 0}


def scoreboard(
    aligned: Iterable[Best], gold: Sequence[Gold | None] | None = None, reverse: Iterable[Best] | None = None
) -> Scoreboard:
    """Score every choice, one pair at a time.

    `gold` has an entry for each pair, None where there is none. Without gold, `reverse` are the same pairs with their sides
    exchanged, aligned by a model of the other direction with as many layers and heads; a choice is compared with the same
    choice there. Pairs that could not be aligned are left out.
    """
    if gold is None and reverse is None:
        raise ValueError("neither gold nor a reverse model is there; a scoreboard needs one of them to compare with")
    tally = Tally("agreement" if gold is None else "aer")
    for index, (one, other) in enumerate(zip_longest(aligned, reverse or ())):
        truth = gold[index] if gold is not None and index < len(gold) else None
        if one is not None:
            tally.add(one, other if gold is None else truth)
    return tally.scoreboard()


class Tally:
    """A scoreboard to which pairs are added one by one, and from which they can be taken back."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.total: np.ndarray | None = None
        self.diagonal, self.pairs = np.zeros(4, dtype=np.int64), 0

    def add(self, one: Best, truth: Gold | Best | None, times: int = 1) -> None:
        """Count a pair against its gold, or against the same pair in the other direction; -1 times takes it back.

        One that could not be aligned, or that nothing is known of, counts nothing.
        """
        if one.problem is not None or truth is None:
            return
        sizes = len(one.source_words), len(one.target_words)
        straight = _matrix(baseline.diagonal(*sizes), sizes)
        if isinstance(truth, Gold):
            sure, possible = _matrix(truth.sure, sizes), _matrix(truth.sure | truth.possible, sizes)
            counts, nothing = _against(one.best, sure, possible), _of_matrix(straight, sure, possible)
        elif truth.problem is not None:
            return
        else:
            counts = _agreement(one.best, truth.best, sizes)
            nothing = _of_matrix(straight, turned := _matrix({(j, i) for i, j in baseline.diagonal(*sizes[::-1])}, sizes), turned)
        self.total = times * counts if self.total is None else self.total + times * counts
        self.diagonal, self.pairs = self.diagonal + times * nothing, self.pairs + times

    def scoreboard(self) -> Scoreboard:
        """The scores of what was counted."""
        total = np.zeros((0, 0, len(ROWS), 4), dtype=np.int64) if self.total is None else self.total
        return Scoreboard(self.measure, total, Counts(*map(int, self.diagonal)), self.pairs)


def _matrix(found: Iterable[Link], sizes: tuple[int, int]) -> np.ndarray:
    """Links as bool (source, target), with a last source row for "none" that holds nothing. Links out of range are dropped."""
    cells = np.zeros((sizes[0] + 1, sizes[1]), dtype=bool)
    for i, j in found:
        if 0 <= i < sizes[0] and 0 <= j < sizes[1]:
            cells[i, j] = True
    return cells


def _against(best: np.ndarray, sure: np.ndarray, possible: np.ndarray) -> np.ndarray:
    targets = np.arange(best.shape[-1])  # -1 takes the last row, which is empty
    counts = [
        (best >= 0).sum(axis=-1),
        np.full(best.shape[:-1], sure.sum()),
        sure[best, targets].sum(axis=-1),
        possible[best, targets].sum(axis=-1),
    ]
    return np.stack(counts, axis=-1).astype(np.int64)


def _of_matrix(found: np.ndarray, sure: np.ndarray, possible: np.ndarray) -> np.ndarray:
    return np.array([found.sum(), sure.sum(), (found & sure).sum(), (found & possible).sum()], dtype=np.int64)


def _agreement(best: np.ndarray, reverse: np.ndarray, sizes: tuple[int, int]) -> np.ndarray:
    """Links of both directions counted, for each choice: target word j takes source word i, and i takes j."""
    if best.shape[:3] != reverse.shape[:3]:
        shapes = tuple(f"{shape[0]} layers of {shape[1] - 1} heads" for shape in (best.shape, reverse.shape))
        raise ValueError("the models have {} and {}; only heads of like models can be compared".format(*shapes))
    back = np.concatenate([reverse, np.full((*reverse.shape[:3], 1), -1, dtype=reverse.dtype)], axis=-1)
    taken = np.take_along_axis(back, np.where(best >= 0, best, sizes[0]).astype(np.int64), axis=-1)
    both = ((taken == np.arange(sizes[1])) & (best >= 0)).sum(axis=-1)
    return np.stack([(best >= 0).sum(axis=-1), (reverse >= 0).sum(axis=-1), both, both], axis=-1).astype(np.int64)
