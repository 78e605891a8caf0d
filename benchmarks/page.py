"""The attention view of a large trace as one HTML file, beside BertViz's of the same weights where that is installed.

A model of 6 + 6 layers and 8 heads over 512 tokens, random weights: its decoder's self-attention, as a decoder-only model has it.
BertViz is asked for its model view (`pip install --no-deps bertviz`); its file loads three libraries from the network, ours none.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

import model
from benchmarks.timing import Figure, median_and_spread, run
from model.tokenizer import Token
from model.trace import Activation, Trace

LAYERS, HEADS, LENGTHS, RUNS = 6, 8, (64, 128, 512), 3
AXES = ("batch", "head", "query", "key")


def figures() -> Iterator[Figure]:
    for length in LENGTHS:
        trace = causal(length)
        tokens = [token.text for token in trace.target]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "a.html"
            ours = saver(trace, file)
            ours_ms, spread = measured(ours)
            what = f"save_html, {LAYERS} x {HEADS} heads, L = {length}: {file.stat().st_size / 1e6:.1f} MB"
            if rival := bertviz():
                attention = [trace[path].tensor for path in trace if path.endswith("weights")]
                theirs = viewer(rival, attention, tokens)
                theirs_ms, theirs_spread = measured(theirs)
                name = f"BertViz, {len(theirs().encode()) / 1e6:.1f} MB"
                ratio = ours_ms / theirs_ms
                yield Figure(what, ours_ms, spread, name, theirs_ms, theirs_spread, ratio, goal=1.0)
            else:
                yield Figure(what, ours_ms, spread)


def measured(call: Callable[[], object]) -> tuple[float, float]:
    """Median and spread of a few runs: one of the rival's takes half a minute."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return median_and_spread(times)


def causal(length: int) -> Trace:
    """Causal self-attention with random scores, as spread out as attention mostly is not: the worst case for packing."""
    chance = torch.Generator().manual_seed(0)
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
    activations: dict[str, Activation] = {}
    spans = {"query": "target", "key": "target"}
    for layer in range(LAYERS):
        scores = 2 * torch.randn(1, HEADS, length, length, generator=chance)
        masked = scores.masked_fill(hidden, -torch.inf)
        for name, tensor in (("masked", masked), ("weights", masked.softmax(-1))):
            path = f"decoder.layers.{layer}.self_attention.{name}"
            activations[path] = Activation(path, tensor, AXES, spans)
    tokens = tuple(Token(f"w{at}", at, (0, 0)) for at in range(length))
    return Trace(activations, (), tokens, tokens, (0.0,) * length, "", "")


def saver(trace: Trace, file: Path) -> Callable[[], object]:
    return lambda: model.save_html(trace, file)


def viewer(rival: Callable[..., Any], attention: list[torch.Tensor], tokens: list[str]) -> Callable[[], str]:
    return lambda: str(rival(attention, tokens, html_action="return").data)


def bertviz() -> Callable[..., Any] | None:
    """Its model view, if it is here. What it takes from IPython is a holder of text."""
    if find_spec("bertviz") is None:
        return None
    if find_spec("IPython") is None:
        holder = ModuleType("IPython.display")
        holder.display = print  # type: ignore[attr-defined]
        holder.HTML = holder.Javascript = type("Text", (), {"__init__": lambda self, data: setattr(self, "data", data)})  # type: ignore[attr-defined]
        sys.modules["IPython"], sys.modules["IPython.display"] = ModuleType("IPython"), holder
    from bertviz import model_view  # type: ignore[import-not-found]

    return model_view  # type: ignore[no-any-return]


if __name__ == "__main__":
    run(__doc__, figures)
