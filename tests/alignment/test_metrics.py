"""Precision, recall and alignment error rate, against figures computed by hand and against NLTK's."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.metrics import alignment_error_rate as nltk_error_rate  # type: ignore[import-untyped]

from model.alignment.metrics import alignment_error_rate, interval, precision, recall

FIRST = {(0, 0), (1, 1), (2, 0)}, {(0, 0)}, {(0, 0), (1, 1)}
SECOND = {(0, 0), (1, 2), (2, 1)}, {(0, 0), (1, 1)}, {(0, 0), (1, 1), (1, 2), (2, 2)}


def test_one_sentence() -> None:
    assert alignment_error_rate(*FIRST) == pytest.approx(0.25)
    assert precision(*FIRST) == pytest.approx(2 / 3)
    assert recall(*FIRST) == 1


def test_the_published_case() -> None:
    """Case 92 of the public record."""
    assert alignment_error_rate(*SECOND) == pytest.approx(0.4)
    assert precision(*SECOND) == pytest.approx(2 / 3)
    assert recall(*SECOND) == pytest.approx(1 / 2)


def test_possible_links_cost_nothing_when_found() -> None:
    """Case 123: sure 0-0 1-2, possible 2-1 2-2 as well."""
    sure = {(0, 0), (1, 2)}
    assert alignment_error_rate({(0, 0), (1, 2), (2, 1)}, sure, sure | {(2, 1), (2, 2)}) == 0
    assert alignment_error_rate({(0, 0), (1, 2), (2, 1)}, sure, {(2, 1), (2, 2)}) == 0


LINKS = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


@settings(max_examples=60)
@given(LINKS, LINKS, LINKS)
def test_as_nltk_has_it(
    links: frozenset[tuple[int, int]], sure: frozenset[tuple[int, int]], more: frozenset[tuple[int, int]]
) -> None:
    if links or sure:  # where NLTK divides by zero, we say 0
        assert alignment_error_rate(links, sure, more) == pytest.approx(nltk_error_rate(sure, links, sure | more))


def test_a_corpus_sums_its_counts() -> None:
    links, sure, possible = (list(side) for side in zip(FIRST, SECOND, strict=True))
    assert alignment_error_rate(links, sure, possible) == pytest.approx(1 - (2 + 4) / (6 + 3))
    assert precision(links, sure, possible) == pytest.approx(4 / 6)
    assert recall(links, sure, possible) == pytest.approx(2 / 3)


def test_nothing_to_find_and_nothing_found() -> None:
    assert alignment_error_rate(set(), set(), set()) == 0
    assert alignment_error_rate([], [], []) == 0
    assert (precision(set(), set(), set()), recall(set(), set(), set())) == (1, 1)
    assert alignment_error_rate(set(), {(0, 0)}, {(0, 0)}) == 1


def test_unequal_lists_are_refused() -> None:
    with pytest.raises(ValueError, match="are of 1, 2 and 1 sentences"):
        alignment_error_rate([set()], [set(), set()], [set()])


def test_the_interval_holds_the_rate_and_can_be_repeated() -> None:
    links, sure, possible = (list(side) * 10 for side in zip(FIRST, SECOND, strict=True))
    low, high = interval(links, sure, possible, seed=3)
    assert 0.25 < low < alignment_error_rate(links, sure, possible) < high < 0.4
    assert (low, high) == interval(links, sure, possible, seed=3)
    assert interval([], [], []) == (0, 0)
