"""Words and positions inside a model, taken apart: what the page shows, once more with plain numpy."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from model import Trace, Translator, cost
from model.analysis import position_parts
from tests.model import tiny

SENTENCE = "the dog sees the dog"


@pytest.fixture(scope="module")
def trace(shared: Translator) -> Trace:
    return shared.trace(SENTENCE, "le chien")


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


def test_scores_are_four_sums_and_products_are_those_of_the_input(shared: Translator, trace: Trace) -> None:
    attention = shared.model.get_submodule(position_parts.PATH)
    width = shared.config.head_dim
    x, p = _numpy(trace["source.embedding"].tensor[0]), _numpy(trace["source.position"].tensor[0])
    np.testing.assert_allclose(position_parts.products_with_words(shared, trace), (x + p) @ (x + p).T)
    for head in range(shared.config.num_heads):
        rows = slice(head * width, (head + 1) * width)
        query, key = (_numpy(projection.weight)[rows] for projection in (attention.to_query, attention.to_key))
        found = position_parts.score_parts(shared, trace, head)
        np.testing.assert_allclose(found.positions, p @ query.T @ key @ p.T / np.sqrt(width), atol=1e-12)
        np.testing.assert_allclose(found.scores, trace[f"{position_parts.PATH}.scores"].tensor[0, head])
        assert found.error < 1e-5
        assert found.top == max(float(part.abs().max()) for part in (*found.all, found.scores))


def test_adding_is_concatenating_with_tied_projections(shared: Translator, trace: Trace) -> None:
    for head in range(shared.config.num_heads):
        found = position_parts.query_parts(shared, trace, head)
        assert found.error_sum < 1e-5
        assert found.error_concatenated < 1e-5
        np.testing.assert_allclose(found.word + found.position + found.bias, found.query, atol=1e-5)
        assert found.top >= float(found.query.abs().max())


def test_what_does_not_read_the_sum_is_refused(characters: Translator) -> None:
    trace = characters.trace("the dog", "le chien")
    assert not position_parts.reads_the_sum(characters.config)
    assert not position_parts.reads_the_sum(tiny.language_model(positions="sinusoidal", norm="post").config)
    with pytest.raises(ValueError, match="positions='rotary', norm='pre'"):
        position_parts.score_parts(characters, trace, 0)


def test_concatenating_is_a_model_of_twice_the_width() -> None:
    config = tiny.config()
    found = position_parts.combining(config, 5, 4)
    assert found["added"] == position_parts.Combining(config.d_model, cost.parameters(config), cost.flops(config, 5, 4))
    wide = replace(config, d_model=2 * config.d_model, d_ff=2 * config.d_ff)
    assert found["concatenated"].width == wide.d_model
    assert found["concatenated"].parameters == cost.parameters(wide) > 2 * cost.parameters(config)
