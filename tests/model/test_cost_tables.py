"""Layers, machines, published models and the paper's tables: each figure against a count, a simulation or a printed number."""

from math import inf, nan
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from model import cost
from model.analysis import cost_curves
from model.config import ModelConfig, paper_base
from model.layers import EncoderLayer
from tests.model import tiny


@st.composite
def shapes(draw: st.DrawFn) -> ModelConfig:
    """Any small model of either family."""
    heads = draw(st.integers(1, 4))
    alone = draw(st.booleans())
    vocabulary = draw(st.integers(5, 30))
    return ModelConfig(
        source_vocab_size=vocabulary,
        target_vocab_size=vocabulary,
        family="decoder-only" if alone else "encoder-decoder",
        d_model=heads * 2 * draw(st.integers(1, 5)),
        num_heads=heads,
        d_ff=draw(st.integers(1, 50)),
        encoder_layers=0 if alone else draw(st.integers(0, 2)),
        decoder_layers=draw(st.integers(0, 2)),
        norm=draw(st.sampled_from(["post", "pre"])),
        tie=draw(st.sampled_from(["none", "target"] if alone else ["none", "target", "all"])),
        positions=draw(st.sampled_from(["sinusoidal", "rotary", "none"])),
        attention_bias=draw(st.booleans()),
    )


@settings(max_examples=12, deadline=None)
@given(shapes(), st.integers(1, 9), st.integers(1, 9))
def test_parameters_and_operations_of_any_model_are_those_of_its_modules(config: ModelConfig, source: int, target: int) -> None:
    if config.family == "decoder-only":
        model: Any = tiny.DecoderOnly(config)
        inputs = [tiny.ids(source + target, config.target_vocab_size)]
    else:
        model = tiny.EncoderDecoder(config)
        inputs = [tiny.ids(source, config.source_vocab_size), tiny.ids(target, config.target_vocab_size)]
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model.eval()(*inputs)
    assert cost.flops(config, source, target) == counter.get_total_flops()
    assert cost.parameters(config) == sum(parameter.numel() for parameter in model.parameters())
    held = cost.memory_by_part(config, source, target, batch=3, bytes_per_number=2)
    assert held["parameters"] == 2 * cost.parameters(config)
    assert held["training"] == 16 * cost.parameters(config)


@settings(max_examples=12, deadline=None)
@given(shapes(), st.integers(1, 60))
def test_one_layer_counts_what_torch_counts_and_the_square_overtakes_at_the_crossing(config: ModelConfig, length: int) -> None:
    layer = EncoderLayer(config).eval()
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        layer(torch.zeros(1, length, config.d_model), None, torch.arange(length)[None])
    linear, square = cost.layer_flops(config, length)
    assert linear + square == counter.get_total_flops()
    assert cost.square_share(config, length) == pytest.approx(square / (linear + square))
    assert cost_curves.square_percent(config, length) == pytest.approx(100 * square / (linear + square))
    assert cost.of_layer(config) == sum(parameter.numel() for parameter in layer.parameters())
    at = cost.crossing(config)
    assert cost.layer_flops(config, at)[0] == cost.layer_flops(config, at)[1]
    assert cost.layer_flops(config, at + 1)[0] < cost.layer_flops(config, at + 1)[1]


def test_the_paper_s_width_crosses_at_six_times_it() -> None:
    assert cost.crossing(paper_base()) == 6 * 512
    assert cost.square_share(paper_base(), 3072) == 0.5
    assert cost.square_share(paper_base(), 12) < 0.004  # in a classroom the square is not to be seen
    assert cost.square_share(paper_base(), 0) == 0
    with pytest.raises(ValueError, match="length=-1"):
        cost.layer_flops(paper_base(), -1)


@pytest.mark.parametrize("stored", [False, True])
def test_bytes_of_a_layer_are_those_of_its_operands(stored: bool) -> None:
    config, n, batch = tiny.config(), 7, 3
    d, ff, h = config.d_model, config.d_ff, config.num_heads
    held = sum(parameter.numel() for parameter in EncoderLayer(config).parameters())
    products = [(d, 3 * d), (3 * d, d), (d, d), (d, ff), (ff, d)]  # read and written for each token
    numbers = n * sum(read + written for read, written in products) + (4 * h * n * n if stored else 0)
    work = cost.prefill(config, n, batch, 2, stored)
    assert work.bytes == 2 * (held + batch * numbers)
    assert work.flops == batch * sum(cost.layer_flops(config, n))
    assert work.intensity == work.flops / work.bytes


def test_a_step_reads_the_cache_and_does_what_the_last_row_needs() -> None:
    config = paper_base()
    one, two = cost.step(config, 100), cost.step(config, 101)
    assert two.bytes - one.bytes == 2 * 2 * config.d_model  # one more key and value, two bytes a number
    assert two.flops - one.flops == 4 * config.d_model
    alone = ModelConfig(
        source_vocab_size=9, target_vocab_size=9, family="decoder-only", encoder_layers=0, decoder_layers=1, d_model=64, d_ff=96
    )
    assert cost.step(alone, 30).flops == cost.flops_of_token(alone, 10, 20) - 2 * 64 * 9
    many = cost.step(config, 100, batch=64)
    assert many.flops == 64 * one.flops
    assert many.bytes < 64 * one.bytes  # the parameters are read once for all
    assert one.intensity < 1.01 < many.intensity


def test_table_3_row_by_row() -> None:
    counted = {row.name: row.counted for row in cost.table_3()}
    assert counted == {
        "base": 63_045_632, "d_k = 16": 55_967_744, "d_k = 32": 58_327_040, "N = 2": 33_644_544, "N = 4": 48_345_088,
        "N = 8": 77_746_176, "d_model = 256": 26_816_512, "d_model = 1024": 163_815_424, "d_ff = 1024": 50_450_432,
        "d_ff = 4096": 88_236_032, "big": 214_171_648,
    }  # fmt: skip
    rows = {row.name: row for row in cost.table_3()}
    for name in ("d_k = 16", "d_k = 32", "N = 2", "N = 4", "N = 8", "d_ff = 1024", "d_ff = 4096"):
        ours = rows[name].counted - rows["base"].counted
        assert abs(ours / 1e6 - (rows[name].millions - rows["base"].millions)) <= 1  # printed figures are rounded


def test_training_by_the_paper_s_clock_is_what_it_prints() -> None:
    base, big = cost.training()
    assert float(f"{base.by_clock:.1e}") == base.printed == 3.3e18
    assert float(f"{big.by_clock:.1e}") == big.printed == 2.3e19
    assert base.by_rule == 6 * 63_045_632 * 50_000 * 100_000
    assert base.by_count(25) == pytest.approx(3 * cost.flops(paper_base(), 25, 25) * 1000 * 100_000)
    assert 0.4 < base.by_count(25) / base.by_rule < 0.6  # each token passes through about half of the parameters


@pytest.mark.parametrize(
    ("name", "of_token", "length", "bytes_of_it"),
    [
        ("LLaMA 2 7B", 524_288, 2048, 1_073_741_824),
        ("LLaMA 3 8B", 131_072, 4096, 536_870_912),
        ("Mistral 7B", 131_072, 4096, 536_870_912),
        ("LLaMA 2 70B", 327_680, 4096, 1_342_177_280),
        ("LLaMA 3 70B", 327_680, 131_072, 42_949_672_960),
        ("GPT-3 175B", 4_718_592, 1, 4_718_592),
        ("DeepSeek-V2", 69_120, 2, 138_240),
        ("Qwen2 7B", 57_344, 1, 57_344),
        ("Mistral 7B", 131_072, 32_768, 536_870_912),  # no more than its window
    ],
)
def test_caches_of_published_models(name: str, of_token: int, length: int, bytes_of_it: int) -> None:
    found = next(entry for entry in cost.public_models() if entry.name == name)
    assert found.cache_bytes(1) == of_token
    assert found.cache_bytes(length) == bytes_of_it
    assert found.cache_bytes(length, 1, batch=4) == 2 * bytes_of_it
    assert found.ungrouped >= found.numbers
    assert found.saving == found.ungrouped / found.numbers
    assert found.source


def test_gpt_2_small() -> None:
    small = next(entry for entry in cost.public_models() if entry.name == "GPT-2 small")
    assert small.cache_bytes(1, 4) == 73_728
    config = ModelConfig(
        source_vocab_size=50_257, target_vocab_size=50_257, family="decoder-only", encoder_layers=0, decoder_layers=12,
        norm="pre", d_model=768, num_heads=12, d_ff=3072, attention_bias=True, activation="gelu",
    )  # fmt: skip
    assert cost.parameters(config) + 1024 * 768 == 124_439_808  # its learned positions
    assert cost.cache_bytes(config, 0, 1) == 73_728


def test_machines_are_dense_and_in_order() -> None:
    found = {machine.name: machine for machine in cost.machines()}
    assert {"RTX 5070", "H100 SXM", "RTX 4060 Laptop", "T4", "B200 (HGX)"} <= found.keys()
    assert (found["H100 SXM"].bf16, found["H100 SXM"].fp8, found["H100 SXM"].bandwidth) == (989.5, 1979, 3350)
    for machine in found.values():
        assert machine.source
        assert 5 <= machine.fp32 <= 200
        assert 200 <= machine.bandwidth <= 10_000
        assert machine.bf16 is None or machine.fp32 < machine.bf16
        assert machine.fp8 is None or machine.fp8 == pytest.approx(2 * (machine.bf16 or 0), rel=0.01)
        assert machine.half == (machine.name in {"T4", "P100 SXM2"})


@pytest.mark.parametrize("given", [0, -1, nan, inf, 1e7, "many"])
def test_figures_that_no_machine_has_are_refused(given: object) -> None:
    with pytest.raises(cost.RefusedMachineError, match="bandwidth"):
        cost.checked_machine("mine", {"fp32": 1, "bandwidth": given})


def test_the_roof_is_the_lower_of_two() -> None:
    machine = cost.checked_machine("mine", {"fp32": 10, "bf16": 0, "bandwidth": 100})
    assert machine.bf16 is None
    for flops, moved in ((1e9, 1e9), (1e12, 1e9), (1e11, 1e9)):
        found = cost.roof(machine, "fp32", flops, moved)
        assert found.ridge == 100
        assert found.reached == pytest.approx(min(1e13, flops / moved * 1e11))
        assert found.seconds == pytest.approx(flops / found.reached)
        assert found.bound == ("compute" if flops / moved >= 100 else "memory")
    with pytest.raises(ValueError, match="no bf16"):
        cost.roof(machine, "bf16", 1, 1)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 200), st.integers(2, 6), st.integers(1, 9))
def test_paths_are_those_of_networks_that_are_walked(length: int, kernel: int, neighbourhood: int) -> None:
    kinds = {kind.name: kind for kind in cost.complexity(length, 16, kernel, neighbourhood)}
    assert kinds["attention"].path == 1
    assert kinds["recurrent"].path == length
    seen, layers = 1, 0  # positions that the last output sees through dilated kernels: k, k^2, ...
    while seen < length or not layers:
        seen += (kernel - 1) * kernel**layers
        layers += 1
    assert kinds["dilated"].path == layers
    for name, reach in (("convolution", kernel), ("restricted", min(neighbourhood, length))):
        assert (kinds[name].path - 1) * reach < length <= kinds[name].path * reach
    assert kinds["attention"].operations == 16 * length**2
    assert kinds["convolution"].operations == kernel * kinds["recurrent"].operations


def test_layers_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="k=1 is too small"):
        cost.complexity(5, 16, 1, 2)
