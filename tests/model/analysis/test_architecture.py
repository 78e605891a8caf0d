"""The diagram of a model: every parameter in one box, every arrow with the shape of the tensor that it stands for."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model import Translator, attention_mask, cost
from model.analysis.architecture import drawn, of_translator
from model.analysis.diagram import Architecture
from model.analysis.sketch import sketched
from model.config import ModelConfig, paper_base, paper_big
from model.embedding import InputEmbedding, count_positions
from model.layers import EncoderLayer
from model.trace import Recording, Traced, name_modules, tracing
from model.transformer import Stack
from tests.model import tiny

SOURCE, TARGET = 7, 5


def pictured(**changes: Any) -> tuple[Architecture, Recording, nn.Module]:
    made = tiny.model(**changes)
    with tracing() as recording:
        made(tiny.ids(SOURCE, made.config.source_vocab_size), tiny.ids(TARGET, made.config.target_vocab_size))
    return drawn(made, recording.activations), recording, made


def kinds(found: Architecture, stack: str, layer: int | None) -> list[str]:
    return [box.kind for box in found.boxes if (box.stack, box.layer) == (stack, layer)]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tie": "none", "norm": "pre", "attention_bias": True},
        {"tie": "all", "source_vocab_size": 19, "positions": "rotary"},
        {"encoder_layers": 0, "decoder_layers": 1, "norm": "pre"},
    ],
)
def test_every_parameter_is_counted_in_one_box_and_the_parts_are_those_of_cost(changes: dict[str, Any]) -> None:
    found, _, made = pictured(**changes)
    expected = cost.parameters_by_part(made.config)  # type: ignore[arg-type]
    assert found.parameters == expected["total"] == sum(parameter.numel() for parameter in made.parameters())

    def new(*kinds: str, stack: str = "") -> int:
        return sum(box.new_parameters for box in found.boxes if box.kind in kinds and stack in ("", box.stack))

    inside = {"norm", "add_norm", "self_attention", "masked_self_attention", "cross_attention", "feed_forward"}
    assert new("embedding") == expected["embeddings"]
    assert new("linear") == expected["output"]
    for column in found.columns:
        assert new(*inside, stack=column.path) == expected[column.path] == column.parameters
        per_layer = [sum(b.new_parameters for b in found.boxes if (b.stack, b.layer) == (column.path, at)) for at in range(9)]
        assert tuple(per_layer[: len(column.layers)]) == column.layer_parameters
        assert not any(per_layer[len(column.layers) :])


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_shapes_are_those_of_the_recorded_tensors(norm: str) -> None:
    found, recording, made = pictured(norm=norm)
    flows = [arrow.flow for arrow in found.arrows] + [flow for box in found.boxes for flow in (*box.inputs, box.output)]
    flows += [box.inside for box in found.boxes if box.inside]
    lengths = {"L_s": SOURCE, "L_t": TARGET, "V": 19, "d_model": 24, "h": 4, "d_ff": 40}
    for flow in flows:
        assert flow.sizes == tuple(lengths[symbol] for symbol in flow.symbols)
        if flow.path:
            assert flow.sizes == recording[flow.path].tensor.shape[1:], flow.path
    assert {flow.path for flow in flows} >= {"source.embedding", "encoder.output", "decoder.output", "logits"}
    assert all(dict(made.named_modules()).keys() >= {box.path} for box in found.boxes if box.module)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_arrows_carry_what_one_module_hands_to_the_next(norm: str) -> None:
    """Followed on the tensors: what a residual adds is what its sublayer made, and what it leaves enters the next one."""
    found, recording, _ = pictured(norm=norm)
    for stack, count in (("encoder", 2), ("decoder", 3)):
        before, came_from = None, ""
        for layer in range(count):
            path = f"{stack}.layers.{layer}"
            for at, sublayer in enumerate(
                ("self_attention", "cross_attention", "feed_forward")[:: 2 if stack == "encoder" else 1]
            ):
                around = f"{path}.residual.{at}"
                into = [arrow for arrow in found.arrows if arrow.end == around]
                assert {(arrow.start, arrow.role) for arrow in into} >= {(f"{path}.{sublayer}", "flow")}
                if sublayer != "feed_forward":
                    assert recording[f"{around}.sublayer"].tensor is recording[f"{path}.{sublayer}.output"].tensor
                if before is not None:
                    assert recording[f"{around}.input"].tensor is before
                    assert [arrow.start for arrow in into if arrow.role == "residual"] == [came_from]
                before, came_from = recording[f"{around}.{'sum' if norm == 'pre' else 'normed'}"].tensor, around
        if norm == "post":
            assert recording[f"{stack}.output"].tensor is before


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_every_box_of_a_layer_knows_its_sublayer(norm: str) -> None:
    found, *_ = pictured(norm=norm)
    for box in found.boxes:
        sublayer = found.sublayer(box)
        assert (sublayer is None) == (box.layer is None)
        if sublayer and box.kind in {"norm", "add", "add_norm"}:
            number = ["self_attention", "cross_attention", "feed_forward"].index(sublayer.path.rsplit(".", 1)[1])
            number -= box.stack == "encoder" and number == 2
            assert box.path.startswith(f"{box.stack}.layers.{box.layer}.residual.{number}")


def test_the_memory_goes_from_the_end_of_the_encoder_to_every_decoder_layer() -> None:
    for norm, end in (("post", "encoder.layers.1.residual.1"), ("pre", "encoder.norm")):
        found, *_ = pictured(norm=norm)
        memory = [arrow for arrow in found.arrows if arrow.role == "memory"]
        assert [(arrow.start, arrow.end) for arrow in memory] == [(end, f"decoder.layers.{n}.cross_attention") for n in range(3)]
        assert {arrow.flow.path for arrow in memory} == {"encoder.output"}
        assert {arrow.flow.sizes for arrow in memory} == {(SOURCE, 24)}


def test_norms_stand_where_the_model_has_them() -> None:
    post, *_ = pictured()
    pre, *_ = pictured(norm="pre")
    assert kinds(post, "encoder", 0) == ["self_attention", "add_norm", "feed_forward", "add_norm"]
    assert kinds(pre, "encoder", 1) == ["norm", "self_attention", "add", "norm", "feed_forward", "add"]
    sublayers = ["mask", "masked_self_attention", "add_norm", "cross_attention", "add_norm", "feed_forward", "add_norm"]
    assert kinds(post, "decoder", 2) == sublayers
    assert kinds(post, "encoder", None) == ["tokens", "embedding", "position", "plus"]
    assert kinds(pre, "encoder", None) == ["tokens", "embedding", "position", "plus", "norm"]
    assert kinds(post, "decoder", None)[-3:] == ["linear", "softmax", "produced"]
    assert kinds(pre, "decoder", None)[-4:] == ["norm", "linear", "softmax", "produced"]


def test_positions_are_added_or_turned_or_absent_as_in_the_model() -> None:
    rotary, *_ = pictured(positions="rotary", activation="gelu")
    none, *_ = pictured(positions="none")
    assert kinds(rotary, "decoder", None)[:2] == kinds(none, "decoder", None)[:2] == ["tokens", "embedding"]
    assert not {"position", "plus"} & {box.kind for box in (*rotary.boxes, *none.boxes)}
    turned = {box.path.split(".")[-1] for box in rotary.boxes if "rotary" in box.notes}
    assert turned == {"self_attention"}
    assert not any("rotary" in box.notes for box in none.boxes)
    assert {box.notes for box in rotary.boxes if box.kind == "feed_forward"} == {("gelu",)}


def test_shared_matrices_are_named_on_each_box_that_uses_them() -> None:
    for tie, shared in (
        ("all", {"source": ("target", "to_logits"), "target": ("source", "to_logits"), "to_logits": ("source", "target")}),
        ("target", {"target": ("to_logits",), "to_logits": ("target",)}),
        ("none", {}),
    ):
        found, *_ = pictured(tie=tie, source_vocab_size=19)
        assert {box.id: box.shared_with for box in found.boxes if box.shared_with} == shared


def test_one_token_has_no_later_key_to_hide() -> None:
    made = tiny.model()
    with tracing() as recording:
        made(tiny.ids(3, 23), tiny.ids(1, 19))
    found = drawn(made, recording.activations)
    assert "mask" not in kinds(found, "decoder", 0)


class OnlyDecoder(Traced):
    """A language model of the same parts: one stack, no memory."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.target = InputEmbedding(config, config.target_vocab_size)
        self.decoder = Stack(config, (EncoderLayer(config) for _ in range(config.decoder_layers)))
        self.to_logits = nn.Linear(config.d_model, config.target_vocab_size, bias=False)
        self.to_logits.weight = self.target.table.weight
        name_modules(self, lambda path: dict.fromkeys(("query", "key", "token"), "target"))

    def forward(self, ids: Tensor) -> Tensor:
        positions = count_positions(ids, None)
        x = self.decoder(self.target(ids, positions), attention_mask.causal(ids.shape[1])[None], positions)
        logits: Tensor = self.to_logits(x)
        self.record("batch token vocab", logits=logits)
        return logits


def test_a_model_without_encoder_is_one_column_without_memory() -> None:
    made = OnlyDecoder(tiny.config(norm="pre", positions="rotary")).eval()
    with tracing() as recording:
        made(tiny.ids(TARGET, 19))
    found = drawn(made, recording.activations)
    assert [column.path for column in found.columns] == ["decoder"]
    layer = ["norm", "mask", "masked_self_attention", "add", "norm", "feed_forward", "add"]
    assert kinds(found, "decoder", 0) == layer
    assert not [arrow for arrow in found.arrows if arrow.role == "memory"]
    assert kinds(found, "decoder", None) == ["tokens", "embedding", "norm", "linear", "softmax", "produced"]
    assert found.parameters == sum(parameter.numel() for parameter in made.parameters())
    assert found.box("target").shared_with == ("to_logits",)


def test_boxes_come_in_the_order_in_which_data_flows() -> None:
    for norm in ("post", "pre"):
        found, *_ = pictured(norm=norm)
        place = {box.id: at for at, box in enumerate(found.boxes)}
        assert len(place) == len(found.boxes)
        assert all(place[arrow.start] < place[arrow.end] for arrow in found.arrows)
        reached = {arrow.end for arrow in found.arrows} | {
            box.id for box in found.boxes if box.kind in {"tokens", "position", "mask"}
        }
        assert reached == set(place)


@pytest.mark.parametrize("changes", [{}, {"norm": "pre", "positions": "rotary", "tie": "none"}])
def test_a_sketch_is_the_diagram_of_the_same_settings_with_numbers(changes: dict[str, Any]) -> None:
    found, _, made = pictured(**changes)
    assert sketched(made.config, SOURCE, TARGET) == found  # type: ignore[arg-type]


def test_the_sketch_of_the_papers_models_has_their_parameters() -> None:
    base = sketched(paper_base(), 4, 3)
    assert base.parameters == cost.parameters(paper_base())
    assert [len(column.layers) for column in base.columns] == [6, 6]
    assert (
        round(base.parameters / 1e6) == 63
    )  # the paper says 65 million, with 37,000 tokens and biases that it does not count out
    assert sketched(replace(paper_big(), encoder_layers=1, decoder_layers=1), 4, 3).box("to_logits").output.sizes == (3, 37_000)


def test_a_loaded_model_is_drawn_with_its_trace(translator: Translator) -> None:
    trace = translator.trace("I love you.", "Je t'aime." if translator.name == "shared" else "我爱你。")
    found = of_translator(translator, trace)
    assert found.box("encoder:tokens").output.sizes == (len(trace.source),)
    assert found.box("decoder:produced").output.sizes == (len(trace.produced),)
    assert found.parameters == cost.parameters(translator.config)
    assert torch.equal(trace["encoder.output"].tensor, trace[found.box("decoder.layers.0.cross_attention").inputs[1].path].tensor)
