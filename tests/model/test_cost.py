"""The formulas against counts: of the modules' parameters, of the operations that torch counts, of recorded bytes."""

from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from model import cost
from model.config import ModelConfig, paper_base, paper_big
from model.trace import tracing
from model.transformer import EncoderDecoder
from tests.model import tiny


def counted(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def on_paper(config: ModelConfig) -> EncoderDecoder:
    """The modules without their memory. (Drawing normal numbers for nobody loads half of torch's compiler.)"""
    with torch.device("meta"), patch.object(nn.init, "normal_"):
        return EncoderDecoder(config)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("tie", ["none", "target", "all"])
@pytest.mark.parametrize("bias", [False, True])
def test_parameters_are_those_of_the_modules(norm: Any, tie: Any, bias: bool) -> None:
    config = tiny.config(norm=norm, tie=tie, attention_bias=bias, source_vocab_size=19 if tie == "all" else 23)
    model, parts = on_paper(config), cost.parameters_by_part(config)
    assert parts["total"] == cost.parameters(config) == counted(model)
    assert parts["encoder"] == counted(model.encoder)
    assert parts["decoder"] == counted(model.decoder)
    assert parts["embeddings"] == counted(nn.ModuleList([model.source, model.target]))
    assert parts["output"] == (0 if tie != "none" else counted(model.to_logits))
    assert sum(value for name, value in parts.items() if name != "total") == parts["total"]


@pytest.mark.parametrize("changes", [{"positions": "rotary"}, {"positions": "none"}, {"encoder_layers": 0, "norm": "pre"}])
def test_parameters_of_odder_models(changes: dict[str, Any]) -> None:
    config = tiny.config(**changes)
    assert cost.parameters(config) == counted(on_paper(config))


PAPER = ModelConfig(source_vocab_size=37_000, target_vocab_size=37_000, tie="all")


@pytest.mark.parametrize(
    ("config", "total"),
    [
        (paper_base(), 63_045_632),
        (paper_big(), 214_171_648),
        (ModelConfig(**{**PAPER.to_dict(), "encoder_layers": 2, "decoder_layers": 2}), 33_644_544),
        (ModelConfig(**{**PAPER.to_dict(), "encoder_layers": 4, "decoder_layers": 4}), 48_345_088),
        (ModelConfig(**{**PAPER.to_dict(), "encoder_layers": 8, "decoder_layers": 8}), 77_746_176),
        (ModelConfig(**{**PAPER.to_dict(), "d_ff": 1024}), 50_450_432),
        (ModelConfig(**{**PAPER.to_dict(), "d_ff": 4096}), 88_236_032),
        (ModelConfig(**{**PAPER.to_dict(), "attention_bias": True}), 63_082_496),
        (ModelConfig(**{**paper_big().to_dict(), "attention_bias": True}), 214_245_376),
    ],
)
def test_table_3_of_the_paper(config: ModelConfig, total: int) -> None:
    assert cost.parameters(config) == total
    assert counted(on_paper(config)) == total


def test_the_base_model_by_part() -> None:
    parts = cost.parameters_by_part(paper_base())
    assert (parts["encoder"], parts["decoder"], parts["embeddings"], parts["output"]) == (18_902_016, 25_199_616, 18_944_000, 0)


@pytest.mark.parametrize("heads", [1, 8, 16])
def test_an_attention_block_counts_the_same_with_any_number_of_heads(heads: int) -> None:
    config = ModelConfig(**{**PAPER.to_dict(), "num_heads": heads})
    assert cost.of_attention(config) == 1_048_576
    with_bias = ModelConfig(**{**config.to_dict(), "attention_bias": True})
    assert cost.of_attention(with_bias) == 1_050_624 == counted(nn.MultiheadAttention(512, heads, device="meta"))


def test_the_stacks_count_what_torch_counts() -> None:
    config = ModelConfig(**{**PAPER.to_dict(), "attention_bias": True, "norm": "pre"})
    parts = cost.parameters_by_part(config)
    assert parts["encoder"] + parts["decoder"] == 44_140_544 == counted(nn.Transformer(device="meta", batch_first=True))


@pytest.mark.parametrize(
    ("changes", "source", "target"),
    [({}, 7, 5), ({"norm": "pre", "tie": "none", "attention_bias": True, "d_ff": 96}, 3, 9), ({"positions": "rotary"}, 1, 1)],
)
def test_flops_are_those_that_torch_counts(changes: dict[str, Any], source: int, target: int) -> None:
    model = tiny.model(**changes)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(tiny.ids(source, 23), tiny.ids(target, 19))
    parts = cost.flops_by_part(model.config, source, target)
    assert parts["total"] == cost.flops(model.config, source, target) == counter.get_total_flops()
    assert sum(value for name, value in parts.items() if name != "total") == parts["total"]


def test_attention_overtakes_only_at_six_times_the_width() -> None:
    config = ModelConfig(source_vocab_size=1, target_vocab_size=1, encoder_layers=1, decoder_layers=0)
    n, d = 3072, 512
    parts = cost.flops_by_part(config, n, 0)
    assert (
        parts["encoder.projections"] + parts["encoder.feed_forward"]
        == 24 * n * d**2
        == parts["encoder.attention"]
        == 4 * n**2 * d
    )


def test_lengths_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="source=-1 and target=3 are lengths in tokens"):
        cost.flops(paper_base(), -1, 3)


def test_bytes_of_stored_weights() -> None:
    mebi = 2**20
    assert [cost.attention_bytes(paper_base(), n, n) for n in (512, 4096, 32768)] == [8 * mebi, 512 * mebi, 32 * 1024 * mebi]
    assert cost.attention_bytes(paper_base(), 512, 512, batch=3, bytes_per_number=2) == 12 * mebi


def test_bytes_are_those_of_the_recorded_tensors() -> None:
    model = tiny.model(torch.float32)
    with torch.no_grad(), tracing() as recording:
        model(tiny.ids(7, 23, batch=2), tiny.ids(5, 19, batch=2))
    for path, queries, keys in (("encoder.layers.0.self_attention", 7, 7), ("decoder.layers.2.cross_attention", 5, 7)):
        assert recording[f"{path}.weights"].tensor.nbytes == cost.attention_bytes(model.config, queries, keys, batch=2)
