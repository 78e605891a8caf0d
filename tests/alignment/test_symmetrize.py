"""Joining two directions of links."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import model.alignment
from model.alignment.symmetrize import METHODS

LINKS = st.frozensets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14)
FORWARD, BACKWARD = {(0, 0), (1, 1), (2, 2), (4, 4), (5, 0)}, {(0, 0), (1, 2), (3, 3), (4, 4)}


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("intersection", {(0, 0), (4, 4)}),
        ("union", FORWARD | BACKWARD),
        ("grow-diag", {(0, 0), (1, 1), (1, 2), (2, 2), (3, 3), (4, 4)}),
        ("grow-diag-final-and", {(0, 0), (1, 1), (1, 2), (2, 2), (3, 3), (4, 4)}),
    ],
)
def test_a_case_by_hand(method: str, expected: set[tuple[int, int]]) -> None:
    assert model.alignment.symmetrize(FORWARD, BACKWARD, method) == expected


def test_final_and_needs_both_words_free() -> None:
    forward, backward = {(0, 0), (3, 5), (0, 4)}, {(0, 0), (5, 2), (3, 6)}
    assert model.alignment.symmetrize(forward, backward, "grow-diag") == {(0, 0)}
    assert model.alignment.symmetrize(forward, backward, "grow-diag-final-and") == {(0, 0), (3, 5), (5, 2)}


def test_an_unknown_method_lists_the_choices() -> None:
    with pytest.raises(ValueError, match="'grow' is unknown; choose one of intersection, union"):
        model.alignment.symmetrize(set(), set(), "grow")


@settings(max_examples=50)
@given(LINKS, LINKS)
def test_methods_stand_between_intersection_and_union(
    forward: frozenset[tuple[int, int]], backward: frozenset[tuple[int, int]]
) -> None:
    results = [model.alignment.symmetrize(forward, backward, method) for method in METHODS]
    both, either, grown, final = results
    assert both == forward & backward
    assert either == forward | backward
    assert both <= grown <= final <= either


@settings(max_examples=50)
@given(LINKS, LINKS)
def test_what_final_and_leaves_out_touches_a_linked_word(
    forward: frozenset[tuple[int, int]], backward: frozenset[tuple[int, int]]
) -> None:
    final = model.alignment.symmetrize(forward, backward, "grow-diag-final-and")
    sources, targets = {i for i, _ in final}, {j for _, j in final}
    assert all(i in sources or j in targets for i, j in (forward | backward) - final)
