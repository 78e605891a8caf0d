"""Attention as written out against `scaled_dot_product_attention`, head by head; masks of every kind; the cache."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from model import attention_mask
from model.attention import KeyValueCache, MultiHeadAttention, softmax_or_zero
from model.position import rotate
from model.trace import name_modules, tracing
from tests.model import tiny

BATCH, QUERIES, KEYS, WIDTH = 3, 5, 7, 24


def attention(rotary: bool = False, seed: int = 1, path: str = "decoder.cross_attention", **changes: Any) -> MultiHeadAttention:
    torch.manual_seed(seed)
    made = MultiHeadAttention(tiny.config(**changes), rotary)
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.5)
    made.path = path
    made.spans = {"query": "target", "key": "source" if "cross" in path else "target"}
    return made.double().eval().requires_grad_(False)


def tensors(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def by_fused_kernel(module: MultiHeadAttention, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
    """One head after the other: rows of W_Q, W_K, W_V cut out, PyTorch's kernel, then all heads through W_O."""
    width, contexts = module.head_dim, []
    for head in range(module.num_heads):
        rows = slice(head * width, (head + 1) * width)
        query, key, value = (
            functional.linear(side, layer.weight[rows], None if layer.bias is None else layer.bias[rows])
            for side, layer in ((x, module.to_query), (memory, module.to_key), (memory, module.to_value))
        )
        contexts.append(functional.scaled_dot_product_attention(query, key, value, attn_mask=mask))
    return module.to_output(torch.cat(contexts, dim=-1))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("heads", [1, 4])
class TestEqualsScaledDotProductAttention:
    def test_looking_at_itself(self, bias: bool, heads: int) -> None:
        module, x = attention(attention_bias=bias, num_heads=heads), tensors(BATCH, QUERIES, WIDTH)
        torch.testing.assert_close(module(x, x), by_fused_kernel(module, x, x, None))

    def test_causal(self, bias: bool, heads: int) -> None:
        module, x = attention(attention_bias=bias, num_heads=heads), tensors(BATCH, QUERIES, WIDTH)
        mask = attention_mask.causal(QUERIES)[None]
        torch.testing.assert_close(module(x, x, mask), by_fused_kernel(module, x, x, mask))

    def test_crossing_over_with_padding(self, bias: bool, heads: int) -> None:
        module = attention(attention_bias=bias, num_heads=heads)
        x, memory = tensors(BATCH, QUERIES, WIDTH), tensors(BATCH, KEYS, WIDTH)
        ids = torch.tensor([[5, 5, 5, 5, 5, 5, 5], [5, 5, 5, 0, 0, 0, 0], [0, 0, 5, 5, 5, 5, 5]])
        mask = attention_mask.padding(ids, 0)
        torch.testing.assert_close(module(x, memory, mask), by_fused_kernel(module, x, memory, mask))


@settings(max_examples=50)
@given(st.integers(0, 2**30), st.integers(1, 6), st.integers(1, 6), st.floats(0, 1), st.floats(0.01, 30))
def test_any_mask_gives_no_nan_and_rows_of_1_or_of_0(seed: int, queries: int, keys: int, share: float, size: float) -> None:
    module = attention(seed=seed, attention_bias=True)
    x, memory = tensors(2, queries, WIDTH) * size, tensors(2, keys, WIDTH)
    mask = torch.rand(2, queries, keys) < share
    with tracing() as recording:
        output = module(x, memory, mask)
    torch.testing.assert_close(output, by_fused_kernel(module, x, memory, mask))
    weights, masked, scores = (recording[f"{module.path}.{name}"].tensor for name in ("weights", "masked", "scores"))
    assert not any(activation.tensor.isnan().any() for activation in recording.activations.values())
    torch.testing.assert_close(weights.sum(dim=-1), mask.any(dim=-1)[:, None].expand(2, 4, queries).double())
    allowed = mask[:, None].expand_as(weights)
    assert torch.equal(masked.isneginf(), ~allowed)
    assert torch.equal(masked[allowed], scores[allowed])
    assert not weights[~allowed].any()


def test_a_query_that_may_look_nowhere_reads_nothing() -> None:
    module = attention(attention_bias=True)
    mask = torch.ones(1, 2, 3, dtype=torch.bool)
    mask[0, 1] = False
    with tracing() as recording:
        output = module(tensors(1, 2, WIDTH), tensors(1, 3, WIDTH), mask)
    assert not recording[f"{module.path}.weights"].tensor[0, :, 1].any()
    assert not recording[f"{module.path}.context"].tensor[0, :, 1].any()
    assert torch.equal(output[0, 1], module.to_output.bias)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_a_fully_masked_row_is_0_at_every_precision(dtype: torch.dtype) -> None:
    masked = torch.tensor([[[[3.0, -torch.inf], [-torch.inf, -torch.inf]]]], dtype=dtype)
    mask = torch.tensor([[[True, False], [False, False]]])
    assert softmax_or_zero(masked, mask).tolist() == [[[[1, 0], [0, 0]]]]


def test_a_query_that_may_look_nowhere_spoils_no_gradient() -> None:
    module, x = attention().requires_grad_(True), tensors(1, 3, WIDTH).requires_grad_(True)
    module(x, x, torch.tensor([[[False] * 3, [True, False, False], [True] * 3]])).sum().backward()
    assert x.grad is not None
    assert all(tensor.grad.isfinite().all() for tensor in (x, *module.parameters()) if tensor.grad is not None)


def test_nothing_to_look_at_at_all() -> None:
    module = attention()
    output = module(tensors(1, 2, WIDTH), tensors(1, 0, WIDTH), torch.ones(1, 1, 0, dtype=torch.bool))
    assert output.abs().sum() == 0


def test_true_may_attend() -> None:
    module, x = attention(path="decoder.self_attention"), tensors(1, 2, WIDTH)
    with tracing() as recording:
        module(x, x, torch.tensor([[[True, False], [True, True]]]))
    rows = recording["decoder.self_attention.weights"].tensor[0]
    assert rows[:, 0].tolist() == [[1.0, 0.0]] * 4
    assert (rows[:, 1] > 0).all()


def test_recorded_values_are_those_of_the_equation() -> None:
    module, x, memory = attention(attention_bias=True), tensors(1, QUERIES, WIDTH), tensors(1, KEYS, WIDTH)
    with tracing() as recording:
        output = module(x, memory)
    value = {
        name: recording[f"{module.path}.{name}"].tensor[0] for name in ("query", "key", "value", "scores", "weights", "context")
    }
    for head in range(4):
        columns = slice(head * 6, head * 6 + 6)
        torch.testing.assert_close(value["query"][head], module.to_query(x)[0, :, columns])
        torch.testing.assert_close(value["key"][head], module.to_key(memory)[0, :, columns])
        torch.testing.assert_close(value["value"][head], module.to_value(memory)[0, :, columns])
        scores = value["query"][head] @ value["key"][head].T / math.sqrt(6)  # of head_dim, not of d_model
        torch.testing.assert_close(value["scores"][head], scores)
        exponentials = scores.exp()
        torch.testing.assert_close(value["weights"][head], exponentials / exponentials.sum(dim=1, keepdim=True))
        torch.testing.assert_close(value["context"][head], value["weights"][head] @ value["value"][head])
    torch.testing.assert_close(output[0], module.to_output(torch.cat(list(value["context"]), dim=-1)))
    assert torch.equal(recording[f"{module.path}.output"].tensor, output)


def test_heads_differ_and_their_mean_is_what_nn_multihead_attention_returns() -> None:
    module, x = attention(attention_bias=True, path="encoder.self_attention"), tensors(1, 3, WIDTH)
    theirs = nn.MultiheadAttention(WIDTH, 4, batch_first=True, dtype=torch.float64)
    copy_attention(module, theirs)
    with tracing() as recording:
        output = module(x, x)
    weights = recording["encoder.self_attention.weights"].tensor
    expected, mean = theirs(x, x, x)
    torch.testing.assert_close(output, expected)
    assert weights.shape == (1, 4, 3, 3)
    torch.testing.assert_close(weights.mean(dim=1), mean)
    assert all((weights[0, a] - weights[0, b]).abs().max() > 1e-3 for a in range(4) for b in range(a))


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    projections = (ours.to_query, ours.to_key, ours.to_value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in projections]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in projections]))
        theirs.out_proj.weight.copy_(ours.to_output.weight)
        theirs.out_proj.bias.copy_(ours.to_output.bias)


def test_recorded_weights_are_those_before_dropout() -> None:
    module, x = attention(dropout=0.2, path="encoder.self_attention"), tensors(64, 1, WIDTH)
    module.train()
    with tracing() as recording:
        module(x, x)
    weights, value, context = (recording[f"encoder.self_attention.{name}"].tensor for name in ("weights", "value", "context"))
    assert (weights == 1).all()
    factors = context / value
    kept = factors.abs() > 0.5
    assert 0 < kept.double().mean() < 1
    torch.testing.assert_close(factors[kept], torch.full_like(factors[kept], 1.25))  # 1 / (1 - 0.2)


def test_split_and_merge_are_opposites_and_a_reshape_would_mix_heads() -> None:
    module, x = attention(), tensors(2, QUERIES, WIDTH)
    heads = module.split(x)
    assert torch.equal(module.merge(heads), x)
    assert torch.equal(heads[:, 1], x[:, :, 6:12])
    assert not torch.equal(heads, x.reshape(heads.shape))


class TestRotary:
    def test_turns_queries_and_keys_and_never_values(self) -> None:
        module, x, positions = attention(rotary=True, path="encoder.self_attention"), tensors(1, 5, WIDTH), torch.arange(5)[None]
        with tracing() as recording:
            module(x, x, None, positions)
        value = {name.rsplit(".", 1)[1]: activation.tensor for name, activation in recording.activations.items()}
        for name in ("query", "key"):
            torch.testing.assert_close(value[f"{name}_rotated"], rotate(value[name], torch.arange(5)))
        assert torch.equal(value["value"], module.split(module.to_value(x)))
        torch.testing.assert_close(value["scores"], value["query_rotated"] @ value["key_rotated"].mT / math.sqrt(6))

    def test_where_positions_begin_changes_nothing(self) -> None:
        module, x = attention(rotary=True), tensors(1, 5, WIDTH)
        torch.testing.assert_close(module(x, x, None, torch.arange(5)[None]), module(x, x, None, torch.arange(100, 105)[None]))

    def test_positions_are_asked_for(self) -> None:
        module = attention(rotary=True, path="encoder.layers.0.self_attention")
        with pytest.raises(ValueError, match=r"encoder\.layers\.0\.self_attention turns queries and keys .* give positions"):
            module(tensors(1, 2, WIDTH), tensors(1, 2, WIDTH))


class TestCache:
    @pytest.mark.parametrize("rotary", [False, True])
    @pytest.mark.parametrize("parts", [(1, 1, 1, 1, 1), (3, 2), (5,)])
    def test_rows_computed_piece_by_piece_are_those_computed_at_once(self, rotary: bool, parts: tuple[int, ...]) -> None:
        module, x = attention(rotary=rotary, path="decoder.self_attention"), tensors(2, 5, WIDTH)
        positions = torch.arange(5)[None]
        whole = module(x, x, attention_mask.causal(5)[None], positions)
        cache, rows, done = KeyValueCache(), [], 0
        for length in parts:
            part, done = slice(done, done + length), done + length
            rows.append(module(x[:, part], x[:, part], attention_mask.causal(length, done)[None], positions[:, part], cache))
        torch.testing.assert_close(torch.cat(rows, dim=1), whole)
        assert cache.bytes() == 2 * 2 * 5 * WIDTH * 8  # keys and values, sentences, tokens, width, float64

    def test_cross_attention_projects_the_source_once(self) -> None:
        module, memory, cache = attention(), tensors(2, KEYS, WIDTH), KeyValueCache()
        with tracing() as recording:
            first = module(tensors(2, 1, WIDTH), memory, cache=cache)
        assert f"{module.path}.key" in recording.activations
        key = cache.kept[module.path][0]
        x = tensors(2, 1, WIDTH)
        with tracing() as recording:
            second = module(x, memory, cache=cache)
        assert f"{module.path}.key" not in recording.activations
        assert cache.kept[module.path][0] is key
        torch.testing.assert_close(second, module(x, memory))
        assert first.shape == second.shape

    def test_select_follows_the_beams(self) -> None:
        module, x, cache = attention(path="decoder.self_attention"), tensors(3, 4, WIDTH), KeyValueCache()
        module(x[:, :3], x[:, :3], attention_mask.causal(3)[None], cache=cache)
        cache.select(torch.tensor([2, 0, 0]))
        x = x[[2, 0, 0]]
        row = module(x[:, 3:], x[:, 3:], cache=cache)
        torch.testing.assert_close(row, module(x, x, attention_mask.causal(4)[None])[:, 3:])


def test_modules_learn_their_names() -> None:
    stack = nn.ModuleList([attention(path=""), attention(path="")])
    name_modules(stack, lambda path: {"query": path})
    assert [module.path for module in stack] == ["0", "1"]
    assert [module.spans for module in stack] == [{"query": "0"}, {"query": "1"}]
