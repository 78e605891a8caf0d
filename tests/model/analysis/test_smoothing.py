"""Losses against smoothed targets: PyTorch's, by hand in all three conventions, and never below the entropy."""

import math
from dataclasses import astuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from model.analysis import smoothing
from model.trace import Trace
from model.training.loss import Convention
from model.translator import Translator

SENTENCE = "The dog saw the dog ."


@pytest.fixture(scope="module")
def trace(atlas: Translator) -> Trace:
    return atlas.trace(SENTENCE)


def by_hand(right: int, size: int, eps: float, convention: str) -> np.ndarray:
    """The target of one row from the definitions."""
    wrong = {"uniform": size, "others": size - 1, "without_padding": size - 2}[convention]
    row = np.full(size, eps / wrong)
    row[right] = 1 - eps + (eps / size if convention == "uniform" else 0)
    if convention == "without_padding":
        row[0] = 0
    return row


@pytest.mark.parametrize("convention", smoothing.CONVENTIONS)
@pytest.mark.parametrize("eps", [0.0, 0.1, 0.3])
def test_every_row_by_hand(atlas: Translator, trace: Trace, convention: Convention, eps: float) -> None:
    found = smoothing.losses(atlas, trace, eps, convention)
    logits = trace["logits"].tensor[0].double().numpy()
    logarithms = (
        logits - np.log(np.exp(logits - logits.max(1, keepdims=True)).sum(1, keepdims=True)) - logits.max(1, keepdims=True)
    )
    for at, token in enumerate(trace.produced):
        target = by_hand(token.id, logits.shape[1], eps, convention)
        asked = target > 0
        assert found.smoothed[at] == pytest.approx(-(target[asked] * logarithms[at, asked]).sum(), rel=1e-6)
        assert found.plain[at] == pytest.approx(-logarithms[at, token.id], rel=1e-6)
        assert found.floor == pytest.approx(-(target[asked] * np.log(target[asked])).sum(), rel=1e-5, abs=1e-9)
        row = smoothing.row(atlas, trace, at, eps, convention)
        assert (row.smoothed, row.plain, row.floor) == pytest.approx((found.smoothed[at], found.plain[at], found.floor), rel=1e-6)
        assert row.from_right == pytest.approx(-target[token.id] * logarithms[at, token.id], rel=1e-6)
        assert row.from_right + row.from_others == pytest.approx(row.smoothed)
    assert found.mean_plain == pytest.approx(-sum(trace.log_probabilities) / len(trace.produced))
    assert found.perplexity == pytest.approx(math.exp(found.mean_plain))
    assert (found.trained is None) == (convention != "uniform")
    assert all(loss > found.floor for loss in found.smoothed)


def test_uniform_is_pytorchs_label_smoothing(atlas: Translator, trace: Trace) -> None:
    ids = torch.tensor([token.id for token in trace.produced])
    for eps in (0.0, 0.1):
        expected = functional.cross_entropy(trace["logits"].tensor[0].double(), ids, label_smoothing=eps, reduction="none")
        found = smoothing.losses(atlas, trace, eps, "uniform")
        assert found.smoothed == pytest.approx(expected.tolist(), rel=1e-6)
        assert found.trained == pytest.approx(found.mean_smoothed, rel=1e-6)
        assert found.wrong_perplexity == pytest.approx(math.exp(expected.mean()), rel=1e-6)


def test_a_row_shows_the_likeliest_the_right_one_and_the_rest(atlas: Translator) -> None:
    trace = atlas.trace(SENTENCE, "Le chat 12 .")
    probabilities = trace["logits"].tensor[0].double().softmax(dim=-1)
    ranks = []
    for at, token in enumerate(trace.produced):
        row = smoothing.row(atlas, trace, at, 0.1, "uniform")
        best = probabilities[at].argsort(descending=True).tolist()
        ranks.append(row.rank)
        assert row.rank == best.index(token.id) + 1
        assert list(row.ids) == best[:20] + ([token.id] if row.rank > 20 else [])
        assert row.predicted == pytest.approx(probabilities[at, list(row.ids)].tolist())
        assert sum(row.predicted) + row.rest_predicted == pytest.approx(1)
        assert sum(row.target) + row.rest_target == pytest.approx(1)
        assert row.others == len(probabilities[at]) - len(row.ids)
    assert max(ranks) > 20


@settings(max_examples=25)
@given(st.sampled_from(smoothing.CONVENTIONS), st.integers(4, 40), st.floats(0.01, 0.6), st.integers(0, 2**30), st.floats(0, 1))
def test_the_floor_is_the_entropy_and_the_least_of_all_predictions(
    convention: Convention, size: int, eps: float, seed: int, mixed: float
) -> None:
    torch.manual_seed(seed)
    target = smoothing.targets(torch.randint(1, size, ()), size, eps, convention)
    floor = smoothing.floor(size, eps, convention)
    assert floor == pytest.approx(float(smoothing.entropy(target)), rel=1e-9)
    prediction = mixed * target + (1 - mixed) * torch.rand(size, dtype=torch.float64).softmax(dim=-1)
    assert float(smoothing.cross_entropy(target, prediction.clamp(min=1e-300).log())) >= floor - 1e-6
    assert float(smoothing.cross_entropy(target, target.clamp(min=1e-300).log())) == pytest.approx(floor)


def test_published_floors_and_shares(atlas: Translator) -> None:
    assert smoothing.floor(37_000, 0.1) == pytest.approx(1.377, abs=5e-4)
    assert smoothing.floor(10, 0.1) == pytest.approx(0.50, abs=5e-3)
    assert smoothing.floor(32_000, 0.1) == pytest.approx(1.36, abs=5e-3)
    assert smoothing.floor(10, 0.0) == 0
    assert smoothing.targets(torch.tensor(2), 5, 0.1, "uniform").tolist() == pytest.approx([0.02, 0.02, 0.92, 0.02, 0.02])
    size = atlas.config.target_vocab_size
    found = smoothing.shares(size, 0.1, "without_padding")
    assert (found.right, found.padding) == (pytest.approx(0.9), 0)
    assert found.end == found.word == pytest.approx(0.1 / (size - 2))  # the end is a class like any other
    assert smoothing.shares(size, 0.1, "uniform").padding == pytest.approx(0.1 / size)
    assert astuple(smoothing.shares(5, 0.1, "uniform")) == pytest.approx((0.92, 0.02, 0.02, 0.02))
    with pytest.raises(ValueError, match="size=4 leaves no two words"):
        smoothing.shares(4, 0.1, "uniform")


def test_published_penalty_of_overconfidence() -> None:
    published = [0.951350, 0.550661, 0.196003, 0.057679, 0.004391, 0.000000, 0.014527, 0.054421]
    assert smoothing.overconfidence(smoothing.PUBLISHED)[1] == pytest.approx(published, abs=2e-6)
    certain, penalties = smoothing.overconfidence(range(1, smoothing.MOST_CERTAIN + 1))
    assert penalties.index(min(penalties)) + 1 == 27
    assert certain[26] == pytest.approx(0.9)
    with pytest.raises(ValueError, match="x=0 is no share"):
        smoothing.overconfidence([3, 0])


def test_padding_has_no_say(atlas: Translator, trace: Trace) -> None:
    found = smoothing.padded(atlas, trace, 5)
    mean = -sum(trace.log_probabilities) / len(trace.produced)
    assert found.left_out == pytest.approx(mean, rel=1e-5)
    assert found.diluted == pytest.approx(mean * len(trace.produced) / (len(trace.produced) + 5), rel=1e-5)
    assert found.counted > 2 * mean
    assert smoothing.padded(atlas, trace, 0).counted == pytest.approx(mean, rel=1e-5)
