"""Teacher forcing: one pass gives the loss of every position, and step by step decoding of the same tokens gives the same."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from model.attention import KeyValueCache
from model.decoding import begin
from model.trace import Trace
from model.translator import Atlas

Way = Literal["forced", "uncached", "cached"]
WAYS: tuple[Way, ...] = ("forced", "uncached", "cached")
ROUNDS, SECONDS = 7, 2.0
TOLERANCE = 1e-3  # nats a token, in float32: what sums in another order may differ by


@dataclass(frozen=True)
class Losses:
    """- log of the probability of each token that is to be produced, in nats, as each way to the same logits gives it."""

    forced: tuple[float, ...]
    uncached: tuple[float, ...]
    cached: tuple[float, ...]

    @property
    def apart(self) -> float:
        """The largest difference between one pass and one of the other ways, in nats a token."""
        return max(abs(one - other) for way in (self.uncached, self.cached) for one, other in zip(self.forced, way, strict=True))


def losses(atlas: Atlas, trace: Trace) -> Losses:
    """All positions of a trace in each of `WAYS`."""
    return Losses(*(_nats(_logits(atlas, trace, way)(), trace) for way in WAYS))


@dataclass(frozen=True)
class Timed:
    """How long each way took for the logits of all positions, in seconds: the median of `rounds`, after one round that is not
    counted. `losses` are those that these very passes gave; `passes` and `rows` are the decoder's forward passes and the rows
    that it computed in all of them.
    """

    seconds: dict[Way, float]
    rounds: int
    passes: dict[Way, int]
    rows: dict[Way, int]
    losses: Losses

    def times(self, way: Way) -> float:
        """How many times as long as one forced pass it took."""
        return self.seconds[way] / self.seconds["forced"]


def timed(atlas: Atlas, trace: Trace, attempt: int = 1, clock: Callable[[], float] = time.perf_counter) -> Timed:
    """Measured on this machine, now; `attempt` is there so that the same may be asked for again.

    The three take turns, so that whatever else the machine does hits all of them; after `SECONDS` no further round begins.
    """
    del attempt
    ways = {way: _logits(atlas, trace, way) for way in WAYS}
    logits = {way: compute() for way, compute in ways.items()}  # warm-up
    seconds: dict[Way, list[float]] = {way: [] for way in WAYS}
    begun = clock()
    for done in range(ROUNDS):
        if done and clock() - begun > SECONDS:
            break
        for way, compute in ways.items():
            before = clock()
            compute()
            _wait(atlas)
            seconds[way].append(clock() - before)
    count = len(trace.target)
    return Timed(
        seconds={way: statistics.median(found) for way, found in seconds.items()},
        rounds=len(seconds["forced"]),
        passes={"forced": 1, "uncached": count, "cached": count},
        rows={"forced": count, "uncached": count * (count + 1) // 2, "cached": count},
        losses=Losses(*(_nats(logits[way], trace) for way in WAYS)),
    )


def _logits(atlas: Atlas, trace: Trace, way: Way) -> Callable[[], Tensor]:
    """What computes the logits (row, vocab) of all positions in this way, the encoder's pass included."""
    source = torch.tensor([[token.id for token in trace.source]], dtype=torch.long, device=atlas.device)
    target = torch.tensor([[token.id for token in trace.target]], device=atlas.device)

    @torch.inference_mode()
    def forced() -> Tensor:
        return atlas.forced(source, target)[0]

    @torch.inference_mode()
    def stepwise() -> Tensor:
        read, _ = begin(atlas.model, source, None)
        cache, rows = KeyValueCache() if way == "cached" else None, []
        for at in range(target.shape[1]):
            rows.append(read(target[:, at if cache is not None else 0 : at + 1], cache)[0, -1])
        return torch.stack(rows)

    return forced if way == "forced" else stepwise


def _nats(logits: Tensor, trace: Trace) -> tuple[float, ...]:
    ids = torch.tensor([[token.id] for token in trace.produced], device=logits.device)
    return tuple((-logits.double().log_softmax(dim=-1).gather(1, ids)[:, 0]).tolist())


def _wait(atlas: Atlas) -> None:
    """Until a GPU has done what it was asked for."""
    if atlas.device.type == "cuda":
        torch.cuda.synchronize(atlas.device)
