"""Learning rates as curves: the paper's schedule beside others, and two ways to get it wrong."""

import itertools
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model.config import paper_base
from model.training.schedule import constant, cosine, noam

PAPER = (paper_base().d_model, 4000)  # the paper's base model and its warm-up
POINTS = 240  # of a curve


@dataclass(frozen=True)
class Setting:
    """A Noam schedule by its width, warm-up and factor."""

    d_model: int
    warmup: int
    factor: float = 1.0

    @property
    def peak(self) -> float:
        """The highest rate, that of step `warmup`."""
        return self.rate(self.warmup)

    @property
    def half(self) -> int:
        """The step at which half of the peak is left: the rate falls with the root of the step."""
        return 4 * self.warmup

    def rate(self, step: int) -> float:
        """The rate of this update, counted from 1."""
        return noam(step, self.d_model, self.warmup, self.factor)


def of_card(card: Mapping[str, Any], d_model: int) -> Setting:
    """The schedule that a model was trained with, as its card says or the command on it; where both say nothing, the paper's."""
    training = card.get("training", {})
    if "warmup" in training and "factor" in training:
        return Setting(d_model, int(training["warmup"]), float(training["factor"]))
    words = shlex.split(str(training.get("command", "")))
    given = dict(itertools.pairwise(words))
    if not given.get("--warmup", "").isdigit():
        return Setting(*PAPER)
    return Setting(d_model, int(given["--warmup"]), float(given.get("--factor", 1.0)))


def worth_showing(card: Mapping[str, Any], usual: int) -> int:
    """How many steps to draw of a model's schedule: those of its training if that was short, else `usual`."""
    steps = int(card.get("training", {}).get("steps", usual))
    return steps if 0 < steps < usual / 10 else usual


def points(last: int, *special: int) -> tuple[int, ...]:
    """Steps from 1 to `last`, evenly spaced where there are many, and those of `special` that lie between."""
    if last < 1:
        raise ValueError(f"last={last} is no step; give 1 or more")
    even = {1 + round((last - 1) * at / max(1, POINTS - 1)) for at in range(POINTS)}
    return tuple(sorted(even | {step for step in special if 1 <= step <= last}))


def curves(setting: Setting, last: int, steps: Sequence[int]) -> Mapping[str, tuple[float | None, ...]]:
    """The rates at these steps: Noam, and constant and cosine that rise to the same peak in as many steps.

    The cosine reaches 0 at `last`; where that leaves nothing after warm-up there is none.
    """
    made: dict[str, Callable[[int], float | None]] = {
        "noam": setting.rate,
        "constant": lambda step: constant(step, setting.peak, setting.warmup),
        "cosine": lambda step: cosine(step, setting.peak, setting.warmup, last) if last > setting.warmup else None,
    }
    return {kind: tuple(rate(step) for step in steps) for kind, rate in made.items()}


def by_epoch(step: int, setting: Setting, updates: int) -> float:
    """The mistake of asking the schedule once an epoch: what it was made to be given, updates, it is given as epochs.

    An epoch has `updates` updates; the first epoch is 1.
    """
    if step < 1 or updates < 1:
        raise ValueError(f"step={step} and updates={updates} are counted from 1; give 1 or more")
    return setting.rate((step - 1) // updates + 1)


@dataclass(frozen=True)
class ByEpoch:
    """The highest rates within some steps: asked once an epoch, and rightly at every step; `little`: less than a tenth of it."""

    highest: float
    right: float

    @property
    def little(self) -> bool:
        return self.highest < 0.1 * self.right


def highest_by_epoch(setting: Setting, updates: int, last: int) -> ByEpoch:
    """How far the mistake of `by_epoch` lets the rate rise until `last`."""
    steps = points(last, setting.warmup)
    return ByEpoch(max(by_epoch(step, setting, updates) for step in steps), max(setting.rate(step) for step in steps))


def without_warmup(step: int, setting: Setting) -> float:
    """The mistake of leaving out the rise: factor x d_model^-0.5 x step^-0.5 from the first step on."""
    return noam(step, setting.d_model, 1, setting.factor)
