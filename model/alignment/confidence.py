"""How sharply a sentence was aligned, to sort sentences by (Rikters et al. 2017): a weak proxy of how well it was translated.

Rows are target words i of I, columns source words j of J. A model that translates what stands there spreads little, and gives
each source word about one target word's share of weight. Both may be so in a wrong translation, and not so in a good one.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Scores:
    """Triage scores of one pair, none above 0: the nearer to 0, the sharper. NaN where nothing could be aligned.

    `coverage` = -(1/J) sum_j log(1 + (1 - sum_i alpha_ij)^2): columns that got more or less than one row's weight.
    `absentmindedness_rows`: minus the mean entropy (nats) of the rows, how far each target word spreads over the source.
    `absentmindedness_columns`: the same of the columns, how far each source word spreads over the target. Rows and columns are
    renormalised to 1 first; one without any weight counts as 0. `length_ratio`: target words for each source word.
    """

    coverage: float
    absentmindedness_rows: float
    absentmindedness_columns: float
    length_ratio: float

    @property
    def confidence(self) -> float:
        """The sum of the three."""
        return self.coverage + self.absentmindedness_rows + self.absentmindedness_columns

    @property
    def entropy(self) -> float:
        """The mean entropy of the rows, in nats."""
        return 0.0 - self.absentmindedness_rows

    @property
    def coverage_percent(self) -> float:
        """100 exp(-x^2)."""
        return 100.0 * math.exp(-(self.coverage**2))

    @property
    def rows_percent(self) -> float:
        """100 exp(-0.05 x^2) of the rows' absentmindedness."""
        return _percent(self.absentmindedness_rows)

    @property
    def columns_percent(self) -> float:
        """100 exp(-0.05 x^2) of the columns' absentmindedness."""
        return _percent(self.absentmindedness_columns)

    @property
    def confidence_percent(self) -> float:
        """100 exp(-0.05 x^2) of the sum."""
        return _percent(self.confidence)


NO_SCORES = Scores(math.nan, math.nan, math.nan, math.nan)
"""Of a pair that could not be aligned."""


def scores(weights: Float[np.ndarray, "target source"]) -> Scores:
    """The scores of one map between words: `weights[i, j]` is the share of target word i that fell on source word j.

    Special tokens have no column: a row that looked at `</s>` sums to less than 1, which the coverage notices.
    """
    targets, sources = weights.shape
    if not targets or not sources:
        return NO_SCORES
    map_ = weights.astype(np.float64)
    rows, columns = map_.sum(axis=1), map_.sum(axis=0)
    coverage = -float(np.log1p((1.0 - columns) ** 2).mean())
    logarithms = map_ * np.log(np.where(map_ > 0.0, map_, 1.0))
    return Scores(
        coverage,
        -_mean_entropy(rows, logarithms.sum(axis=1)),
        -_mean_entropy(columns, logarithms.sum(axis=0)),
        targets / sources,
    )


def _mean_entropy(sums: Float[np.ndarray, " line"], logarithms: Float[np.ndarray, " line"]) -> float:
    """The mean entropy of lines that sum to s: log s - (1/s) sum a log a, which renormalises each; 0 where s is 0."""
    some = sums > 0.0
    safe = np.where(some, sums, 1.0)
    return max(0.0, float(np.where(some, np.log(safe) - logarithms / safe, 0.0).mean()))


def _percent(score: float) -> float:
    return 100.0 * math.exp(-0.05 * score**2)
