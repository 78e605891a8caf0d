"""Altered attention does what its name says, and only there."""

import math

import pytest
import torch

from model import Trace
from model.analysis import what_if
from model.translator import load


@pytest.fixture(scope="module")
def trace() -> Trace:
    return load("en-fr").trace("I love you.", "Je t'aime.")


def traced(edits: dict[str, what_if.Edit]) -> Trace:
    return load("en-fr").trace("I love you.", "Je t'aime.", edits)


def test_paths_are_those_of_the_trace(trace: Trace) -> None:
    for attention in ("encoder.self_attention", "decoder.self_attention", "decoder.cross_attention"):
        paths = what_if.weight_paths(attention, 3)
        assert len(paths) == 3
        assert set(paths) <= set(trace)


def test_averaged_heads_are_equal_and_rows_still_add_up_to_one() -> None:
    paths = what_if.weight_paths("decoder.self_attention", 3)
    altered = traced(what_if.average_heads(paths))
    for path in paths:
        weights = altered[path].tensor
        torch.testing.assert_close(weights, weights[:, :1].expand_as(weights))
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))


def test_a_head_that_is_off_adds_nothing_and_the_others_are_as_before(trace: Trace) -> None:
    path = "decoder.layers.1.cross_attention.weights"
    altered = traced(what_if.without_head(path, 2))
    assert not altered[path].tensor[:, 2].any()
    assert not altered[path.replace("weights", "context")].tensor[:, 2].any()
    torch.testing.assert_close(altered[path].tensor[:, [0, 1, 3]], trace[path].tensor[:, [0, 1, 3]])


def test_entropy_is_in_bits() -> None:
    rows = torch.tensor([[1.0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0, 0]], dtype=torch.float64)
    assert what_if.entropy(rows).tolist() == pytest.approx([0, 2, 1])


def test_spread_compares_heads_with_their_mean(trace: Trace) -> None:
    measured = what_if.spread(trace, "decoder.cross_attention")
    assert 0 <= measured.heads <= measured.mean <= math.log2(len(trace.source))  # entropy is concave
    assert 0 < measured.distance < 1
