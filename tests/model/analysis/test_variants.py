"""The wrong variants compute what an independent wrong model computes, only where they should, and the right model stays."""

import copy
import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from model import Trace
from model.analysis import variants, what_if
from model.analysis.forced import leak, repeated
from model.attention import MultiHeadAttention
from model.translator import Translator, load
from tests.model.agreement import in_double

PLACE = ("decoder.self_attention", 1, 2)
PATH = "decoder.layers.1.self_attention"


@pytest.fixture(scope="module")
def atlas() -> Translator:
    return in_double(load("en-fr"))


@pytest.fixture(scope="module")
def trace(atlas: Translator) -> Trace:
    return atlas.trace("The old man reads.", "Le vieil homme lit.")


@pytest.fixture(scope="module")
def found(atlas: Translator, trace: Trace) -> dict[str, variants.Measured]:
    return {variant: variants.measure(atlas, trace, *PLACE, variant) for variant in variants.VARIANTS}


class Wrong(MultiHeadAttention):
    """Attention computed another way, wrong as `variant` says."""

    variant: str

    def forward(self, x: Tensor, memory: Tensor, attention_mask: Tensor | None = None, *_: object, **__: object) -> Tensor:
        query, key, value = (self.cut(project(y)) for project, y in self.projected(x, memory))
        if self.variant == "queries":
            scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(self.head_dim)
            allowed = torch.ones_like(scores, dtype=torch.bool) if attention_mask is None else attention_mask[:, None]
            powers = torch.where(allowed, scores.exp(), 0.0)
            context = (powers / powers.sum(dim=-2, keepdim=True)) @ value
        else:
            scale = {"unscaled": 1.0, "d_model": (self.head_dim * self.num_heads) ** -0.5}.get(self.variant)
            mask = None if attention_mask is None else attention_mask[:, None]
            context = functional.scaled_dot_product_attention(query, key, value, mask, scale=scale)
        return self.to_output(torch.cat(list(context.unbind(dim=1)), dim=-1))

    def projected(self, x: Tensor, memory: Tensor) -> tuple[tuple[torch.nn.Module, Tensor], ...]:
        return (self.to_query, x), (self.to_key, memory), (self.to_value, memory)

    def cut(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        if self.variant == "reshape":
            return x.contiguous().view(batch, self.num_heads, length, self.head_dim)
        return torch.stack(x.split(self.head_dim, dim=-1), dim=1)


def wrong_model(atlas: Translator, variant: str, only: str | None = None) -> Translator:
    made = copy.deepcopy(atlas.model)
    for name, module in made.named_modules():
        if isinstance(module, MultiHeadAttention) and only in (None, name):
            module.__class__, module.variant = Wrong, variant
    return replace(atlas, model=made)


@pytest.mark.parametrize("variant", variants.VARIANTS)
def test_each_variant_costs_what_an_independent_wrong_model_costs(
    atlas: Translator, trace: Trace, found: dict[str, variants.Measured], variant: str
) -> None:
    for damage, only in zip(found[variant].damages[1:], (PATH, None), strict=True):
        wrong = wrong_model(atlas, variant, only)
        assert damage.log_probability == pytest.approx(sum(repeated(wrong, trace).log_probabilities), abs=1e-8)
        assert damage.change == damage.log_probability - sum(trace.log_probabilities)
    assert [damage.scope for damage in found[variant].damages] == list(variants.SCOPES)
    again = repeated(atlas, trace)
    assert again.log_probabilities == trace.log_probabilities
    assert all(torch.equal(again[path].tensor, trace[path].tensor) for path in trace)


@pytest.mark.parametrize("variant", variants.VARIANTS)
def test_in_one_head_the_other_heads_of_the_layer_are_as_before(
    atlas: Translator, trace: Trace, found: dict[str, variants.Measured], variant: str
) -> None:
    changed = repeated(atlas, trace, variants.edits(atlas.config, variant, "head", *PLACE))
    measured = found[variant]
    weights, before = changed[f"{PATH}.weights"].tensor[0], trace[f"{PATH}.weights"].tensor[0]
    assert torch.equal(weights[[0, 1, 3]], before[[0, 1, 3]])
    assert torch.equal(weights[2], measured.after)
    assert torch.equal(before[2], measured.before)
    assert not torch.equal(weights[2], before[2])


def test_scaling_otherwise_is_softmax_of_other_scores(
    atlas: Translator, trace: Trace, found: dict[str, variants.Measured]
) -> None:
    masked = trace[f"{PATH}.masked"].tensor[0, 2]
    config = atlas.config
    for variant, factor in (("unscaled", config.head_dim**0.5), ("d_model", config.num_heads**-0.5)):
        measured = found[variant]
        torch.testing.assert_close(measured.after, (masked * factor).softmax(-1))
        assert measured.spread_after == pytest.approx(measured.spread_before * factor)
        torch.testing.assert_close(measured.row_sums, torch.ones_like(measured.row_sums))
    sharp, flat = found["unscaled"], found["d_model"]
    assert sharp.means("entropy")[1] < sharp.means("entropy")[0] < flat.means("entropy")[1]
    assert sharp.means("slope") == (float(sharp.slope_before.mean()), float(sharp.slope_after.mean()))
    assert sharp.largest[1] > sharp.largest[0] > flat.largest[1]


def test_softmax_over_queries_makes_columns_of_one_and_keeps_the_mask(found: dict[str, variants.Measured]) -> None:
    measured = found["queries"]
    torch.testing.assert_close(measured.column_sums, torch.ones_like(measured.column_sums))
    assert not torch.allclose(measured.row_sums, torch.ones_like(measured.row_sums))
    assert not measured.after.triu(1).any()


@pytest.mark.parametrize("attention", ["decoder.self_attention", "decoder.cross_attention"])
@pytest.mark.parametrize("variant", variants.VARIANTS)
def test_the_future_leaks_where_positions_are_mixed(atlas: Translator, trace: Trace, attention: str, variant: str) -> None:
    edits = variants.edits(atlas.config, variant, "layer", attention, 0, 0)
    leaked = leak(atlas, repeated(atlas, trace, edits), edits)
    assert (leaked > 1e-3) == (variant in ("queries", "reshape"))
    assert leak(atlas, trace) < 1e-12


def test_a_variant_of_the_encoder_leaks_nothing(atlas: Translator, trace: Trace) -> None:
    edits = variants.edits(atlas.config, "queries", "layer", "encoder.self_attention", 0, 0)
    assert leak(atlas, repeated(atlas, trace, edits), edits) < 1e-12
    assert leak(atlas, atlas.trace("Yes.", "")) == 0


def test_reshape_keeps_every_number_and_moves_it(atlas: Translator, trace: Trace, found: dict[str, variants.Measured]) -> None:
    changed = repeated(atlas, trace, variants.edits(atlas.config, "reshape", "layer", *PLACE))
    query, before = changed[f"{PATH}.query"].tensor[0], trace[f"{PATH}.query"].tensor[0]
    assert query.shape == before.shape
    torch.testing.assert_close(query.flatten().sort().values, before.flatten().sort().values)
    positions, heads = what_if.reshape_origin(atlas.config.num_heads, before.shape[1])
    for head in range(before.shape[0]):
        for row in range(before.shape[1]):
            assert torch.equal(query[head, row], before[heads[head, row], positions[head, row]])
    of_head, _ = variants.origin(atlas, trace, "decoder.self_attention", 1)
    assert torch.equal(of_head, positions[1])
    measured = found["reshape"]
    assert measured.differing == pytest.approx(float((query[2] != before[2]).double().mean()))
    assert measured.keys_differing > 0.5


def test_the_slope_of_softmax_is_the_norm_of_its_jacobian() -> None:
    scores = torch.randn(7, 5, dtype=torch.float64) * 3
    slopes = variants.softmax_slope(scores.softmax(-1))
    for row, slope in zip(scores, slopes, strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda values: values.softmax(-1), row)
        assert float(slope) == pytest.approx(float(jacobian.norm()))
    known = variants.softmax_slope(torch.tensor([[0.5, 0.5, 0, 0], [1, 0, 0, 0], [0.25] * 4], dtype=torch.float64))
    assert known.tolist() == pytest.approx([0.5, 0, 3**0.5 / 4])


def test_the_pull_on_a_dot_product_is_the_slope_times_its_factor(atlas: Translator, found: dict[str, variants.Measured]) -> None:
    measured = found["unscaled"]
    torch.testing.assert_close(measured.pull_after, measured.slope_after)
    torch.testing.assert_close(measured.pull_before, measured.slope_before / atlas.config.head_dim**0.5)


def test_dot_products_of_drawn_vectors_have_the_variance_of_their_width() -> None:
    for width in (4, 64, 512):
        scores = variants.drawn(width)
        assert scores.variance_raw == pytest.approx(width, rel=0.15)
        assert scores.variance_scaled == pytest.approx(1, rel=0.15)
        assert scores.largest_scaled < scores.largest_raw


@pytest.mark.parametrize("variant", variants.VARIANTS)
def test_what_a_variant_writes_is_what_the_wrong_model_writes(atlas: Translator, trace: Trace, variant: str) -> None:
    wrong = wrong_model(atlas, variant)
    read, memory = [atlas.config.start], wrong.model.encode(torch.tensor([[token.id for token in trace.source]]))
    while len(read) <= 2 * len(trace.source) + 20 and read[-1] != atlas.config.end:
        read.append(int(wrong.model.decode(torch.tensor([read]), memory)[0, -1].argmax()))
    assert variants.written(atlas, trace, *PLACE, variant, "model") == atlas.tokenizers.target.decode(read[1:])
