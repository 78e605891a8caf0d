"""This machine measured: how long one attention and one encoder layer take on n tokens, and how much memory.

`python -m model.analysis.machine '{"d_model": 512, ...}'` measures in a process of its own, at a low priority and on one
thread, and writes one line of JSON for each measurement. The parameters are at random: they change no time.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import accumulate

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd import profiler
from torch.nn.functional import scaled_dot_product_attention

from model import cost
from model.attention import MultiHeadAttention
from model.config import ModelConfig
from model.layers import EncoderLayer

KINDS = ("attention", "fused", "layer")
SHORTEST, LONGEST = 32, 2048
MOST_BYTES = 2**26  # of the weights of one attention: two such tensors are there at once
MOST_FLOPS = 10**10  # of one layer
MOST_WIDTH = 1024
PATIENCE = 0.05  # seconds for the repetitions of one measurement
REPETITIONS = (3, 9)
PRIORITY = 10  # behind all visitors, but not starved where the machine is busy


@dataclass(frozen=True)
class Timed:
    """One measurement: the median of several runs after a warm-up, in milliseconds of processor time, and bytes at the peak.

    `bytes` are those that PyTorch allocates during one run, at their most; parameters and input are there already.
    """

    kind: str
    length: int
    milliseconds: float
    bytes: int
    flops: int

    @property
    def rate(self) -> float:
        """Reached: 10^9 operations a second."""
        return self.flops / self.milliseconds / 1e6 if self.milliseconds else 0.0


class FusedAttention(MultiHeadAttention):
    """The same attention by PyTorch's fused kernel, which never holds all weights: nothing is there to be looked at."""

    def forward(  # type: ignore[override]
        self, x: Float[Tensor, "batch query d_model"], memory: Float[Tensor, "batch key d_model"]
    ) -> Float[Tensor, "batch query d_model"]:
        key, value = self.keys_and_values(memory, None)
        context = scaled_dot_product_attention(self.split(self.to_query(x)), key, value)
        output: Tensor = self.to_output(self.merge(context))
        return output


def lengths(config: ModelConfig) -> tuple[int, ...]:
    """Powers of 2 from 32 on, as far as a run stays short and small; none for a model that is too wide."""
    if config.d_model > MOST_WIDTH:
        return ()
    found, length = list[int](), SHORTEST
    while (
        length <= LONGEST
        and cost.attention_bytes(config, length, length) <= MOST_BYTES
        and sum(cost.layer_flops(config, length)) <= MOST_FLOPS
    ):
        found.append(length)
        length *= 2
    return tuple(found)


def measured(config: ModelConfig, wanted: tuple[int, ...] | None = None, patience: float = PATIENCE) -> Iterator[Timed]:
    """Every kind at every length, the short ones first. Attention alone takes 8 n d^2 + 4 n^2 d operations."""
    torch.manual_seed(0)
    layer = EncoderLayer(config).eval()
    attention, fused = layer.self_attention, FusedAttention(config).eval()
    attention.rotary = fused.rotary = False  # turning queries and keys is not what is measured here
    for length in wanted or lengths(config):
        x, positions = torch.randn(1, length, config.d_model), torch.arange(length)[None]
        linear, square = cost.layer_flops(config, length)
        flops = {"layer": linear + square, "attention": 8 * length * config.d_model**2 + square}
        runs: dict[str, Callable[[], Tensor]] = {
            "attention": lambda x=x: attention(x, x),  # type: ignore[misc]
            "fused": lambda x=x: fused(x, x),  # type: ignore[misc]
            "layer": lambda x=x, positions=positions: layer(x, None, positions),  # type: ignore[misc]
        }
        for kind in KINDS:
            with torch.inference_mode():
                seconds, peak = median_seconds(runs[kind], patience), peak_bytes(runs[kind])
            yield Timed(kind, length, 1000 * seconds, peak, flops["layer" if kind == "layer" else "attention"])


def median_seconds(run: Callable[[], Tensor], patience: float = PATIENCE) -> float:
    """Processor time of one run: warmed up once, then repeated as long as patience lasts, 3 to 9 times."""
    run()
    least, most = REPETITIONS
    taken: list[float] = []
    while len(taken) < least or (len(taken) < most and sum(taken) < patience):
        before = time.process_time()
        run()
        taken.append(time.process_time() - before)
    return statistics.median(taken)


def peak_bytes(run: Callable[[], Tensor]) -> int:
    """The most that PyTorch's allocator held of what a run asked for, from its own record."""
    with profiler.profile(profile_memory=True) as watched:
        run()
    events = [event for event in watched.kineto_results.events() if event.name() == "[memory]"]
    changes = [int(event.nbytes()) for event in sorted(events, key=lambda event: event.start_ns())]
    return max(accumulate(changes, initial=0))


def main() -> None:
    if hasattr(os, "nice"):
        os.nice(PRIORITY)
    torch.set_num_threads(1)
    for found in measured(ModelConfig.from_dict(json.loads(sys.argv[1]))):
        sys.stdout.write(json.dumps(asdict(found)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
