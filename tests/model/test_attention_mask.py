"""True = may attend; fewer queries than keys are the last ones; padding hides keys."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from model import attention_mask


def test_causal_looks_at_itself_and_back() -> None:
    assert attention_mask.causal(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_causal_is_the_opposite_of_what_nn_multihead_attention_takes() -> None:
    hidden = nn.Transformer.generate_square_subsequent_mask(5) == -torch.inf
    assert torch.equal(attention_mask.causal(5), ~hidden)


@given(st.integers(0, 9), st.integers(0, 9))
def test_with_earlier_keys_cached_the_queries_are_the_last_positions(queries: int, earlier: int) -> None:
    keys = queries + earlier
    assert torch.equal(attention_mask.causal(queries, keys), attention_mask.causal(keys)[earlier:])


@pytest.mark.parametrize(("queries", "keys"), [(3, 2), (-1, 4)])
def test_more_queries_than_keys_are_refused(queries: int, keys: int) -> None:
    with pytest.raises(ValueError, match=rf"causal\({queries}, {keys}\): there must be at least as many keys as queries"):
        attention_mask.causal(queries, keys)


def test_padding_hides_keys_for_every_query() -> None:
    mask = attention_mask.padding(torch.tensor([[5, 6, 0], [0, 7, 8]]), 0)
    assert mask.tolist() == [[[True, True, False]], [[False, True, True]]]


def test_both_must_allow() -> None:
    padded = attention_mask.padding(torch.tensor([[0, 7, 8]]), 0)
    both = attention_mask.both(attention_mask.causal(3), padded)
    assert both.tolist() == [[[False, False, False], [False, True, False], [False, True, True]]]
