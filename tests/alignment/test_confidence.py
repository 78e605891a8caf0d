"""Triage scores: the published formulas, by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from model.alignment.confidence import NO_SCORES, scores


def test_all_weight_on_one_column_of_four() -> None:
    found = scores(np.eye(4, dtype=np.float32)[[0, 0, 0, 0]])
    assert found.coverage == pytest.approx(-1.0955, abs=5e-5)
    assert found.absentmindedness_rows == 0.0
    assert found.absentmindedness_columns == pytest.approx(-0.3466, abs=5e-5)
    assert found.confidence == pytest.approx(-1.442, abs=5e-4)
    assert found.confidence_percent == pytest.approx(90.1, abs=0.05)
    assert found.coverage_percent == pytest.approx(100 * math.exp(-(1.0955**2)), abs=0.05)
    assert (found.rows_percent, found.length_ratio) == (100.0, 1.0)


def test_one_word_for_each_word_is_perfect() -> None:
    found = scores(np.eye(3)[[2, 0, 1]])
    assert (found.coverage, found.confidence, found.entropy, found.confidence_percent) == (0.0, 0.0, 0.0, 100.0)


def test_rows_and_columns_are_told_apart_by_their_names() -> None:
    """Two target words spread over three source words: rows of entropy log 3, columns of log 2 each."""
    found = scores(np.full((2, 3), 1 / 3))
    assert found.absentmindedness_rows == pytest.approx(-math.log(3))
    assert found.entropy == pytest.approx(math.log(3))
    assert found.absentmindedness_columns == pytest.approx(-math.log(2))
    assert found.length_ratio == pytest.approx(2 / 3)
    assert found.rows_percent == pytest.approx(100 * math.exp(-0.05 * math.log(3) ** 2))
    assert found.columns_percent == pytest.approx(100 * math.exp(-0.05 * math.log(2) ** 2))


def test_weight_on_the_end_of_the_sentence_is_missed_by_the_coverage_only() -> None:
    whole, half = scores(np.eye(2)), scores(np.diag([1.0, 0.5]))
    assert half.coverage == pytest.approx(-math.log(1.25) / 2)
    assert half.absentmindedness_rows == whole.absentmindedness_rows == 0.0


@given(arrays.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(0, 1, width=32)))
@settings(max_examples=60)
def test_no_score_is_above_nothing(weights: np.ndarray) -> None:
    found = scores(weights)
    parts = (found.coverage, found.absentmindedness_rows, found.absentmindedness_columns)
    assert all(math.isfinite(part) and part <= 0.0 for part in parts)
    assert found.entropy <= math.log(weights.shape[1]) + 1e-9
    assert 0.0 <= found.confidence_percent <= 100.0


def test_a_side_without_words_has_no_scores() -> None:
    assert math.isnan(scores(np.zeros((0, 3))).confidence)
    assert math.isnan(NO_SCORES.confidence_percent)
