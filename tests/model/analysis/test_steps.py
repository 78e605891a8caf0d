"""Each step's operands, multiplied, give its recorded result; the tables' shapes are those of the trace."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from model import Trace, Translator
from model.analysis import steps as analysis
from model.analysis.steps import HeadSteps, Projection
from model.config import ConfigError, paper_base, paper_big
from tests.model.agreement import in_double

ATTENTIONS = ("encoder.self_attention", "decoder.self_attention", "decoder.cross_attention")
SOURCE, TARGET = "I love you, and you love 12 things.", "Je t'aime."

close = torch.testing.assert_close


@pytest.fixture(params=["shared", "characters"], scope="module")
def exact(request: pytest.FixtureRequest) -> tuple[Translator, Trace]:
    """The tiny translators in float64, and one pair read by each: post-norm with sinusoids, pre-norm with rotary positions."""
    atlas: Translator = request.getfixturevalue(request.param)
    atlas = in_double(atlas)
    return atlas, atlas.trace(SOURCE, TARGET if request.param == "shared" else "我爱你。")


@pytest.fixture(params=[(attention, layer) for attention in ATTENTIONS for layer in (0, -1)], ids=str)
def steps(request: pytest.FixtureRequest, exact: tuple[Translator, Trace]) -> HeadSteps:
    atlas, trace = exact
    attention, layer = request.param
    layers = atlas.config.encoder_layers if attention.startswith("encoder") else atlas.config.decoder_layers
    return analysis.head_steps(atlas, trace, attention, layer % layers, 2)


def projected(x: Tensor, projection: Projection) -> Tensor:
    return x @ projection.weight + (0 if projection.bias is None else projection.bias)


def test_projections_give_the_recorded_query_key_and_value(steps: HeadSteps) -> None:
    close(projected(steps.x, steps.to_query), steps.query)
    close(projected(steps.memory, steps.to_key), steps.key)
    close(projected(steps.memory, steps.to_value), steps.value)


def test_the_split_takes_this_heads_columns(steps: HeadSteps) -> None:
    first, last = steps.columns
    assert torch.equal(steps.all_queries[:, first : last + 1], steps.query)


def test_score_scale_mask_softmax_and_sum_follow_from_one_another(steps: HeadSteps) -> None:
    query, key = steps.compared
    close(steps.products, query @ key.T)
    close(steps.products / math.sqrt(query.shape[1]), steps.scores)
    assert steps.scale == math.sqrt(query.shape[1])
    close(steps.scores.masked_fill(~steps.allowed, -math.inf), steps.masked)
    exponentials = steps.masked.exp()
    close(exponentials / exponentials.sum(1, keepdim=True), steps.weights)
    close(steps.weights @ steps.value, steps.context)
    numbers = steps.context[1].tolist()
    assert abs(numbers[steps.largest_dimension(1)]) == max(map(abs, numbers))


def test_heads_side_by_side_through_w_o_give_the_recorded_output(steps: HeadSteps) -> None:
    close(torch.cat(steps.contexts, dim=1), steps.concat)
    output = steps.concat @ steps.weight_output
    close(output if steps.bias_output is None else output + steps.bias_output, steps.output)


def test_masks_and_spans_are_those_of_the_attention(steps: HeadSteps, exact: tuple[Translator, Trace]) -> None:
    _, trace = exact
    rows, columns = (len(trace.tokens(steps.spans[axis])) for axis in ("query", "key"))
    assert steps.weights.shape == (rows, columns)
    assert steps.hidden == (rows * (rows - 1) // 2 if steps.attention == "decoder.self_attention" else 0)
    causal = steps.attention == "decoder.self_attention"
    assert torch.equal(steps.allowed, torch.ones(rows, columns).tril().bool() if causal else torch.ones(rows, columns).bool())


def test_rotary_turns_queries_and_keys_of_self_attention_only(steps: HeadSteps, exact: tuple[Translator, Trace]) -> None:
    atlas, _ = exact
    turned = atlas.config.positions == "rotary" and steps.attention != analysis.CROSS
    assert (steps.query_rotated is not None) == turned
    if turned:
        close(steps.query_rotated.norm(dim=1), steps.query.norm(dim=1))
        assert torch.equal(steps.query_rotated[0], steps.query[0])  # position 0 is not turned
        assert not torch.allclose(steps.key_rotated[1], steps.key[1])


def test_cross_attention_reads_the_encoders_output_and_pre_norm_reads_normed_vectors(exact: tuple[Translator, Trace]) -> None:
    atlas, trace = exact
    cross = analysis.head_steps(atlas, trace, analysis.CROSS, 1, 0)
    assert torch.equal(cross.memory, trace["encoder.output"].tensor[0])
    name = "normed" if atlas.config.norm == "pre" else "input"
    assert torch.equal(cross.x, trace[f"decoder.layers.1.residual.1.{name}"].tensor[0])


def test_scaling_is_measured_on_the_cells_that_may_be_read(steps: HeadSteps) -> None:
    measured = analysis.scaling(steps, 1)
    assert measured.before == pytest.approx(measured.after * steps.scale)
    rows = [steps.products[1, key] for key in range(steps.products.shape[1]) if steps.allowed[1, key]]
    assert measured.undivided == pytest.approx(float(torch.stack(rows).softmax(0).max()))
    assert measured.divided == float(steps.weights[1].max()) <= measured.undivided + 1e-12


def test_shapes_of_the_tables_are_those_of_the_trace(steps: HeadSteps, exact: tuple[Translator, Trace]) -> None:
    atlas, trace = exact
    sizes = analysis.sizes_of(atlas.config, *steps.weights.shape)
    lines = {line.name: sizes.along(line.axes) for line in analysis.dimension_flow(atlas.config, steps.attention)}
    recorded = {"split_query": "query", "split_key": "key", "split_value": "value"}
    for name in ("scores", "weights", "context", "query_rotated", "key_rotated", *recorded):
        path = f"{steps.path}.{recorded.get(name, name)}"
        assert (name in lines) == (path in trace)
        if path in trace:
            assert lines[name] == tuple(trace[path].tensor.shape[1:])
    held = {"x": steps.x, "query": steps.all_queries, "concat": steps.concat, "output": steps.output}
    for name, tensor in {**held, "matrix_output": steps.weight_output, "residual": steps.x}.items():
        assert lines[name] == tuple(tensor.shape)
    assert lines["matrices"] == tuple(analysis.module_of(atlas, steps.attention, steps.layer).to_key.weight.shape)
    assert lines["key"] == lines["value"] == tuple(steps.memory.shape)
    assert lines["key_transposed"] == trace[f"{steps.path}.key"].tensor[0].mT.shape
    assert ("memory" in lines) == (steps.attention == analysis.CROSS)
    stack = steps.path.rsplit(".", 1)[0]
    assert lines["hidden"] == tuple(trace[f"{stack}.feed_forward.hidden"].tensor.shape[1:])
    for line in analysis.SCALED_DOT_PRODUCT:
        tensor = trace[f"{steps.path}.{'context' if line.name == 'weighted_sum' else 'masked'}"].tensor
        assert sizes.along(line.axes) == tuple(tensor.shape[1:])


def test_the_output_is_added_to_the_stream_which_in_pre_norm_is_not_what_was_read(exact: tuple[Translator, Trace]) -> None:
    atlas, trace = exact
    formulas = {line.name: line.formula for line in analysis.dimension_flow(atlas.config, "encoder.self_attention")}
    steps = analysis.head_steps(atlas, trace, "encoder.self_attention", 0, 0)
    if atlas.config.norm == "pre":
        normed = atlas.model.encoder.layers[0].residual[0].norm
        stream = trace["encoder.layers.0.residual.0.input"].tensor[0]
        assert (formulas["x"], formulas["residual"]) == ("X = LN(U)", "U + O")
        close(steps.x, normed(stream))
    else:
        stream = steps.x
        assert (formulas["x"], formulas["residual"]) == ("X", "X + O")
    close(stream + steps.output, trace["encoder.layers.0.residual.0.sum"].tensor[0])


def test_shapes_of_the_papers_models() -> None:
    base, big = (analysis.sizes_of(config, 7, 5) for config in (paper_base(), paper_big()))
    assert (base.d_model, base.num_heads, base.d_ff, base.layers, base.head_dim, base.scale) == (512, 8, 2048, 6, 64, 8.0)
    assert (big.d_model, big.num_heads, big.d_ff, big.layers, big.head_dim, big.scale) == (1024, 16, 4096, 6, 64, 8.0)
    assert base.along("head query key") == (8, 7, 5)
    assert big.along("key d_model") == (5, 1024)


def test_own_sizes_are_checked() -> None:
    assert analysis.own_sizes(10, 66, 3, 5).along("head query head_dim") == (3, 10, 22)
    with pytest.raises(ConfigError, match="d_model=66 cannot be split evenly into num_heads=4"):
        analysis.own_sizes(10, 66, 4, 100)
    for sizes in ((0, 8, 2, 8), (10, 8, 0, 8), (10, 8, 2, analysis.LARGEST_SIZE + 1)):
        with pytest.raises(ConfigError, match="outside 1 to"):
            analysis.own_sizes(*sizes)


@given(length=st.integers(1, 9), heads=st.integers(1, 5), width=st.integers(1, 3))
def test_a_plain_reshape_reads_where_the_sizes_say(length: int, heads: int, width: int) -> None:
    x = torch.arange(length * heads * width).view(length, heads * width)
    for head, rows in enumerate(x.view(heads, length, width)):
        for row, numbers in enumerate(rows):
            position, taken = analysis.reshape_reads(heads, length, head, row)
            assert torch.equal(numbers, x[position, taken * width : (taken + 1) * width])
