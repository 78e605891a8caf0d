"""The attention view of a large trace, in the app and as one HTML file, beside BertViz's of the same weights if it is installed.

A model of 6 + 6 layers and 8 heads over 512 tokens, random weights: its decoder's self-attention, as a decoder-only model has it.
BertViz is asked for its model view (`pip install --no-deps bertviz`); its file loads three libraries from the network, ours none.
In the app the same weights are brought as a file on the page Your own model: what the server makes of them (the message with all
maps, above 128 tokens pooled, and a head exactly), then in a real Chromium from the click to the painted picture.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import torch

import model
from benchmarks.heads import repeat, seconds_to_paint
from benchmarks.timing import Figure, alone, median_and_spread, run
from model.page.attention import pack, pack_detail
from model.page.labels import labels
from model.page.view import words_of
from model.tokenizer import Token
from model.trace import Activation, Trace
from tests.browser import application

LAYERS, HEADS, LENGTHS, RUNS = 6, 8, (64, 128, 512), 3
Made = TypeVar("Made")
AXES = ("batch", "head", "query", "key")


def figures() -> Iterator[Figure]:
    for length in LENGTHS:
        yield from of_length(length)
    yield from painted()


def of_length(length: int) -> Iterator[Figure]:
    """Our file and our messages, each beside the rival's file."""
    trace = causal(length)
    message, head = in_app(trace)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.html"
        made = {f"save_html, {LAYERS} x {HEADS} heads, L = {length}": lambda: model.save_html(trace, file).read_bytes()}
        made |= {f"in the app, all maps, L = {length}": message, f"in the app, one head exactly, L = {length}": head}
        ours = {what: measured(call) for what, call in made.items()}
    theirs = None
    if rival := bertviz():
        attention = [trace[path].tensor for path in trace if path.endswith("weights")]
        theirs = measured(viewer(rival, attention, [token.text for token in trace.target]))
    for what, (milliseconds, spread, content) in ours.items():
        told = f"{what}: {len(content) / 1e6:.1f} MB"
        if theirs is None:
            yield Figure(told, milliseconds, spread)
        else:
            name = f"BertViz, {len(theirs[2].encode()) / 1e6:.1f} MB"
            yield Figure(told, milliseconds, spread, name, theirs[0], theirs[1], milliseconds / theirs[0], goal=1.0)


def in_app(trace: Trace) -> tuple[Callable[[], bytes], Callable[[], bytes]]:
    """What makes the message with every map, and the one with a head that is opened."""
    text, attention = labels("attention_map", "en"), "decoder.self_attention"

    def message() -> bytes:
        caption = {"model": "", "source": "", "target": ""}
        return pack(trace, view="heads", attentions=[attention], words=words_of(trace), text=text, caption=caption, steps=False)

    return message, lambda: pack_detail(trace, attention, LAYERS - 1, 0)


def painted() -> Iterator[Figure]:
    """The same weights as a file in the app, in a browser: brought, opened by the link of the page, another head clicked."""
    length = LENGTHS[-1]
    trace = causal(length)
    arrays = {path: trace[path].tensor[0].numpy().astype(np.float16) for path in trace if path.endswith("weights")}
    with (
        tempfile.TemporaryDirectory() as folder,
        application.serve(Path(folder, "server.log"), program="benchmarks.long_files") as address,
        application.launch() as browser,
    ):
        file = Path(folder, "matrices.npz")
        np.savez_compressed(file, **arrays, **{"tokens.target": np.array([token.text for token in trace.target])})  # type: ignore[arg-type]
        visit = application.Visit(browser, address)
        page = visit.open("own", lang="en")
        shown = "map.querySelector('[data-testid=overview]')"
        box = page.locator(".st-key-own_matrices_title input[type=file]")
        began = time.perf_counter()
        box.set_input_files(file)
        page.locator('[data-testid="overview"]').wait_for()
        yield alone(
            f"file of {file.stat().st_size / 1e6:.0f} MB chosen to painted, L = {length}", [time.perf_counter() - began] * 2
        )
        links = page.locator('[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]')

        def opened() -> float:
            links.and_(page.locator('[href^="architecture"]')).click()
            page.locator('[data-testid="overview"]').wait_for(state="detached")
            application.settle(page)
            return seconds_to_paint(page, links.and_(page.locator('[href^="own"]')).click, shown)

        yield alone(f"in the app, its link clicked, L = {length}", repeat(opened))
        application.settle(page)
        heads = cycle([(layer, head) for layer in range(LAYERS) for head in range(HEADS)])

        def switched() -> float:
            layer, head = next(heads)
            button = page.locator(f'[data-testid="map-decoder.self_attention-{layer}-{head}"]')
            there = "map.querySelector('[data-testid=opened]') && map.querySelector('[data-testid=loading]')?.hidden !== false"
            return seconds_to_paint(page, button.click, there)

        yield alone(f"in the app, another head clicked and fetched, L = {length}", repeat(switched), 150)
        visit.close()


def measured(call: Callable[[], Made]) -> tuple[float, float, Made]:
    """Median and spread of a few runs, and what they made: one of the rival's takes half a minute."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        made = call()
        times.append(time.perf_counter() - start)
    return (*median_and_spread(times), made)


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
