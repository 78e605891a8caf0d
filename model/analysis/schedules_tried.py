"""What schedules, and a shift left out, do to a training: a tiny decoder taught to repeat what it reads.

The task is that of `cheating`: six random symbols, the same again, the end. The decoder has one layer, with the norm after each
sum as in the paper, and always its causal mask.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from model.analysis.cheating import BATCH, EXAMINED, HALF, WIDTH, Repeater, halves, sequences, write
from model.analysis.schedules import Setting, by_epoch, without_warmup
from model.attention_mask import causal
from model.training.schedule import constant, cosine
from model.translator import Atlas

SHIPPED = Path(__file__).resolve().parents[2] / "assets" / "measured" / "schedules_tried.json"
STEPS, SEED = 160, 1
SETTING = Setting(d_model=WIDTH, warmup=40)
UPDATES = 40  # in an epoch of this training
RATES: dict[str, Callable[[int], float]] = {
    "noam": SETTING.rate,
    "constant": lambda step: constant(step, SETTING.peak, SETTING.warmup),
    "cosine": lambda step: cosine(step, SETTING.peak, SETTING.warmup, STEPS),
    "by_epoch": lambda step: by_epoch(step, SETTING, UPDATES),
    "without_warmup": lambda step: without_warmup(step, SETTING),
}


@dataclass(frozen=True)
class Trial:
    """One training: the rate and the loss of every step, in nats a row; then, on sequences never seen, of those rows that can
    be foretold, the `loss`, and `right`, the share of symbols that the decoder writes rightly by itself.
    """

    rates: tuple[float, ...]
    losses: tuple[float, ...]
    loss: float
    right: float
    given: tuple[int, ...]
    written: tuple[int, ...]


def trained(rate: Callable[[int], float], *, shift: int = 1, steps: int = STEPS, seed: int = SEED) -> Trial:
    """Train a `Repeater` at these rates, with the paper's Adam.

    With `shift` 1 row r reads symbol r and is to foretell symbol r + 1; with 0, the mistake, it is asked for what it reads.
    """
    generator = torch.Generator().manual_seed(seed)
    learner = Repeater(generator, norm="post")
    optimizer = torch.optim.Adam(learner.parameters(), betas=(0.9, 0.98), eps=1e-9)
    rates, losses = [], []
    for step in range(1, steps + 1):
        rates.append(rate(step))
        for group in optimizer.param_groups:
            group["lr"] = rates[-1]
        loss = _losses(learner, sequences(BATCH, generator), shift).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
    with torch.inference_mode():
        unseen = sequences(EXAMINED, generator)
        _, foretold = halves(_losses(learner, unseen, shift))
        written = write(learner, unseen[:, :HALF], masked=True)
    return Trial(
        rates=tuple(rates),
        losses=tuple(losses),
        loss=foretold,
        right=float((written == unseen[:, :HALF]).float().mean()),
        given=tuple(unseen[0, :HALF].tolist()),
        written=tuple(written[0].tolist()),
    )


def all_trained() -> dict[str, Trial]:
    """The same training at each of `RATES`; it takes seconds, so that what it found is shipped: `shipped`."""
    return {name: trained(rate) for name, rate in RATES.items()}


@lru_cache(maxsize=1)
def shipped() -> dict[str, Trial]:
    """What `all_trained` found: `python -m benchmarks.schedules_tried` writes it down."""
    entries: dict[str, dict[str, Any]] = json.loads(SHIPPED.read_text(encoding="utf-8"))
    return {name: _trial(entry) for name, entry in entries.items()}


def _trial(entry: dict[str, Any]) -> Trial:
    """As written down: JSON knows no tuples."""
    kept: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Trial(**kept)


def shifts(atlas: Atlas) -> tuple[Trial, Trial]:
    """Shifted by one as it should be, and not shifted, whichever model is looked at."""
    del atlas
    return shipped()["noam"], trained(RATES["noam"], shift=0)


def _losses(learner: Repeater, whole: Tensor, shift: int) -> Float[Tensor, " row"]:
    read = whole[:, :-1]
    wanted = whole[:, shift : shift + read.shape[1]]
    logits = learner(read, causal(read.shape[1])[None])
    return functional.cross_entropy(logits.mT, wanted, reduction="none").mean(dim=0)
