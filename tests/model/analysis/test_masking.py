"""Masks by name and in links; what each way to apply one lets through; what stands for "hidden"."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from model.analysis import masking
from model.attention_mask import causal

LENGTHS = st.integers(1, masking.LARGEST)
steady = settings(deadline=None, derandomize=True, max_examples=20)


@st.composite
def squares(draw: st.DrawFn) -> torch.Tensor:
    length = draw(LENGTHS)
    return torch.from_numpy(draw(arrays(np.bool_, (length, length))))


@st.composite
def scores_and_masks(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    queries, keys = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    values = st.floats(-80, 80)
    scores = torch.from_numpy(draw(arrays(np.float64, (2, queries, keys), elements=values)))
    return scores, torch.from_numpy(draw(arrays(np.bool_, (queries, keys))))


# ----- by name and in a link


@steady
@given(squares())
def test_a_mask_comes_back_from_its_link(mask: torch.Tensor) -> None:
    assert torch.equal(masking.from_link(masking.to_link(mask)), mask)


@steady
@given(st.text(max_size=40) | st.from_regex(r"[0-9]{1,3}\.[A-Za-z0-9_=-]*", fullmatch=True))
def test_any_other_text_is_refused_with_a_reason(text: str) -> None:
    try:
        mask = masking.from_link(text)
    except ValueError as error:
        assert "mask" in str(error) or "cells" in str(error)  # noqa: PT017
    else:
        assert mask.shape == (int(text.split(".")[0]),) * 2


def test_the_longest_link_is_short_enough_and_longer_masks_are_refused() -> None:
    assert len(masking.to_link(torch.ones(32, 32, dtype=torch.bool))) == 174
    with pytest.raises(ValueError, match="33 positions does not fit"):
        masking.to_link(torch.ones(33, 33, dtype=torch.bool))


def test_presets_are_what_they_are_called() -> None:
    made = {name: masking.preset(name, 5).int().tolist() for name in masking.PRESETS}
    assert made["causal"] == [[int(key <= query) for key in range(5)] for query in range(5)]
    assert made["none"] == [[1] * 5] * 5
    assert made["itself"] == torch.eye(5).int().tolist()
    assert made["window"][4] == [0, 0, 1, 1, 1]
    assert made["prefix"][0] == [1, 1, 0, 0, 0]
    assert made["block"] == [[1, 1, 1, 0, 0]] * 3 + [[0, 0, 0, 1, 1]] * 2
    with pytest.raises(ValueError, match="mask 'diagonal' is not known; choose one of causal, none"):
        masking.preset("diagonal", 5)


@steady
@given(squares(), LENGTHS)
def test_outside_of_what_was_painted_the_own_mask_holds(painted: torch.Tensor, length: int) -> None:
    whole = masking.fitted(painted, causal(length))
    for query in range(length):
        for key in range(length):
            inside = query < len(painted) and key < len(painted)
            assert whole[query, key] == (painted[query, key] if inside else key <= query)


def test_who_sees_ahead() -> None:
    ahead = {name: masking.furthest_ahead(masking.preset(name, 7)) for name in masking.PRESETS}
    assert ahead == {"causal": None, "window": None, "itself": None, "none": 6, "prefix": 1, "block": 5}


def test_a_mask_is_chosen_by_its_name_or_by_its_cells_or_is_the_own_one() -> None:
    own = causal(4)
    assert torch.equal(masking.chosen("", own), own)
    assert torch.equal(masking.chosen("itself", own), torch.eye(4).bool())
    assert torch.equal(
        masking.chosen(masking.to_link(torch.zeros(2, 2).bool()), own), masking.fitted(torch.zeros(2, 2).bool(), own)
    )
    with pytest.raises(ValueError, match="is not a mask"):
        masking.chosen("<b>", own)


# ----- what gets through


@steady
@given(scores_and_masks())
def test_no_weight_is_nan_and_rows_add_up_to_one_or_to_zero(drawn: tuple[torch.Tensor, torch.Tensor]) -> None:
    scores, mask = drawn
    right = masking.leaks(scores, mask)["minus_infinity"]
    assert not right.weights.isnan().any()
    assert not right.forbidden.any()
    torch.testing.assert_close(right.sums, mask.any(-1).to(torch.float64).expand_as(right.sums))


@steady
@given(scores_and_masks())
def test_leaks_are_those_of_the_formulas(drawn: tuple[torch.Tensor, torch.Tensor]) -> None:
    """Times 0 before leaks n / (n + sum of exp of the allowed scores); times 0 after is short of what was forbidden."""
    scores, mask = drawn
    found = masking.leaks(scores, mask)
    exponentials = np.exp(scores.numpy())
    allowed = (exponentials * mask.numpy()).sum(-1)
    hidden = (~mask.numpy()).sum(-1)
    np.testing.assert_allclose(found["zero_before"].forbidden, hidden / (hidden + allowed), atol=1e-12)
    np.testing.assert_allclose(found["zero_before"].sums, np.ones(scores.shape[:2]))
    np.testing.assert_allclose(found["zero_after"].sums, allowed / exponentials.sum(-1), atol=1e-12)
    assert not found["zero_after"].forbidden.any()


@steady
@given(scores_and_masks())
def test_renormalised_is_minus_infinity_wherever_something_is_left(drawn: tuple[torch.Tensor, torch.Tensor]) -> None:
    scores, mask = drawn
    found = masking.leaks(scores.clamp(-20, 20), mask)
    rows = mask.any(-1)
    torch.testing.assert_close(
        found["zero_after_renormalised"].weights[:, rows], found["minus_infinity"].weights[:, rows], rtol=1e-9, atol=1e-12
    )
    assert found["zero_after_renormalised"].weights[:, ~rows].isnan().all()


def test_the_textbook_example() -> None:
    found = {name: leak.weights[0].tolist() for name, leak in masking.of_row((1, 2, 900), (True, True, False)).items()}
    assert found["minus_infinity"] == pytest.approx([0.2689, 0.7311, 0], abs=1e-4)
    assert found["zero_before"] == pytest.approx([0.2447, 0.6652, 0.0900], abs=1e-4)
    assert found["zero_after"] == [0, 0, 0]
    assert all(math.isnan(weight) for weight in found["zero_after_renormalised"])


# ----- what stands for "hidden"


def outcomes(allowed: tuple[bool, ...]) -> dict[tuple[str, str, str], str]:
    return {(row.value, row.way, row.dtype): row.outcome for row in masking.filled((1, 2, 3), allowed)}


def test_one_hidden_key_is_hidden_by_all_but_the_number_that_does_not_exist() -> None:
    found = outcomes((True, True, False))
    assert found.pop(("-1e9", "fill", "float16")) == "raises"
    assert set(found.values()) == {"right"}


def test_a_row_without_a_key_comes_out_wrong_in_every_way() -> None:
    found = outcomes((False, False, False))
    assert "right" not in found.values()
    assert {found["-inf", way, dtype] for way in masking.WAYS for dtype in masking.DTYPES} == {"nan"}
    assert found["-1e9", "fill", "float16"] == "raises"
    assert found["-1e9", "add", "float16"] == "nan"  # it became minus infinity
    assert found["-1e9", "fill", "float32"] == found["-1e9", "add", "float32"] == found["-1e9", "fill", "float64"] == "uniform"
    assert found["-1e9", "add", "float64"] == "unmasked"
    assert {found["finfo.min", "twice", dtype] for dtype in masking.DTYPES} == {"nan"}
    (overflow,) = {row.error for row in masking.filled((1, 2, 3), (True, True, False)) if row.error}
    assert "overflow" in overflow
    assert [row.outcome for row in masking.models_own((1, 2, 3), (False, False, False))] == ["zero"] * len(masking.DTYPES)
    assert {row.outcome for row in masking.models_own((1, 2, 3), (True, True, False))} == {"right"}


@pytest.mark.parametrize(
    ("weights", "allowed", "word"),
    [
        ([0.25, 0.75, 0], (True, True, False), "right"),
        ([0.0, 0, 0], (False, False, False), "zero"),
        ([math.nan] * 3, (False, False, False), "nan"),
        ([1 / 3] * 3, (False, False, False), "uniform"),
        ([0.6, 0.3, 0.1], (True, True, False), "leaks"),
    ],
)
def test_outcomes_in_one_word(weights: list[float], allowed: tuple[bool, ...], word: str) -> None:
    assert masking.outcome(torch.tensor(weights), torch.tensor([1.0, 2, 3]), torch.tensor(allowed)) == word


def test_seen_counts_the_keys_of_each_query() -> None:
    assert masking.seen(causal(4)) == (1, 2, 3, 4)
