"""This machine measured: what is run, what memory is seen, and the limits. (No test asserts a time.)"""

import json
import sys
from dataclasses import replace

import pytest
import torch

from model import cost
from model.analysis import machine
from model.attention import MultiHeadAttention
from model.config import paper_base
from tests.model import tiny


def test_the_fused_kernel_gives_what_attention_gives() -> None:
    torch.manual_seed(3)
    config = tiny.config()
    attention, fused = MultiHeadAttention(config), machine.FusedAttention(config)
    fused.load_state_dict(attention.state_dict())
    x = torch.randn(2, 9, config.d_model)
    torch.testing.assert_close(fused.eval()(x, x), attention.eval()(x, x))


def test_the_allocator_s_record_holds_the_weights() -> None:
    x = torch.ones(1000)
    assert machine.peak_bytes(x.exp) == 4000
    assert machine.peak_bytes(lambda: x.exp() + x.sin()) == 12000
    config = replace(tiny.config(), d_ff=24)
    found = {(entry.kind, entry.length): entry for entry in machine.measured(config, (64, 256), patience=0.0)}
    assert len(found) == 6
    for length in (64, 256):
        weights = cost.attention_bytes(config, length, length)
        assert found["attention", length].bytes >= 2 * weights  # scores and weights at once
        assert found["layer", length].flops == sum(cost.layer_flops(config, length))
        assert found["attention", length].milliseconds > 0
    assert found["fused", 256].bytes < found["attention", 256].bytes / 2


def test_lengths_end_before_memory_or_time_do() -> None:
    assert machine.lengths(paper_base()) == (32, 64, 128, 256, 512, 1024)
    for config in (paper_base(), replace(paper_base(), num_heads=64), replace(paper_base(), d_ff=65_536), tiny.config()):
        for length in machine.lengths(config):
            assert cost.attention_bytes(config, length, length) <= machine.MOST_BYTES
            assert sum(cost.layer_flops(config, length)) <= machine.MOST_FLOPS
    assert machine.lengths(replace(paper_base(), d_model=4096)) == ()


def test_the_process_writes_a_line_for_each_measurement(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config, calls = tiny.config(), list[int]()
    monkeypatch.setattr(machine, "LONGEST", machine.SHORTEST)
    monkeypatch.setattr(sys, "argv", ["machine", json.dumps(config.to_dict())])
    monkeypatch.setattr("os.nice", calls.append)
    monkeypatch.setattr(torch, "set_num_threads", calls.append)
    monkeypatch.setattr(machine, "REPETITIONS", (1, 1))
    machine.main()
    lines = [machine.Timed(**json.loads(line)) for line in capsys.readouterr().out.splitlines()]
    assert [line.kind for line in lines] == list(machine.KINDS)
    assert calls == [machine.PRIORITY, 1]
