"""What somebody wants to be trained: a task, sizes, and what is left out. Checked here, whoever asks."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from model.checkpoint import Tokenizers
from model.config import ModelConfig, Norm, Positions
from model.training.loop import Settings
from model.training.tasks import TASKS, Task

LIMITS: Mapping[str, tuple[int, int]] = {"d_model": (16, 128), "num_heads": (1, 8), "layers": (1, 4), "steps": (10, 2000)}
SMOOTHING = (0.0, 0.5)
LEFT_OUT = ("warmup", "scale", "positions", "residual", "mask")
"""What may be left out, each by its name: warm-up of the rate, the factor sqrt(d_model), positions, the way around sublayers, the
causal mask."""

ALTERED = ("scale", "residual", "mask")
"""Those of them that no setting of a model says: its modules are altered (`model.analysis.what_if.alter`)."""

CHECKS = 16  # times at which a training is measured and its weights are kept, dense early
BATCH_TOKENS = 700  # about 64 pairs


class OrderError(ValueError):
    """A setting out of its limits: the message names it, says what was given and what is possible."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """One training. The defaults learn the toy language in about fifteen seconds of an idle core."""

    task: str = "toy"
    d_model: int = 64
    num_heads: int = 4
    layers: int = 2
    steps: int = 350
    norm: Norm = "post"
    positions: Positions = "sinusoidal"
    smoothing: float = 0.0
    without: tuple[str, ...] = ()
    seed: int = 1

    def __post_init__(self) -> None:
        for name, (least, most) in LIMITS.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise OrderError(f"{name}={value!r} is out of its limits; give a whole number from {least} to {most}")
        if self.d_model % (2 * self.num_heads):
            raise OrderError(
                f"d_model={self.d_model} cannot be split evenly into pairs in num_heads={self.num_heads}; "
                f"choose a multiple of {2 * self.num_heads}"
            )
        if not SMOOTHING[0] <= self.smoothing <= SMOOTHING[1]:
            raise OrderError(f"smoothing={self.smoothing} is out of its limits; give {SMOOTHING[0]} to {SMOOTHING[1]}")
        choices = (("task", tuple(TASKS)), ("norm", get_args(Norm)), ("positions", get_args(Positions)))
        for name, known in choices:
            if getattr(self, name) not in known:
                raise OrderError(f"{name}={getattr(self, name)!r} is not known; choose one of {', '.join(known)}")
        if unknown := sorted(set(self.without) - set(LEFT_OUT)):
            raise OrderError(f"without={', '.join(unknown)} is not known; choose from {', '.join(LEFT_OUT)}")
        if not 0 <= self.seed < 2**31:
            raise OrderError(f"seed={self.seed} is out of its limits; give 0 to {2**31 - 1}")

    @property
    def kind(self) -> Task:
        return TASKS[self.task]

    @property
    def altered(self) -> tuple[str, ...]:
        """What the modules must be altered for: no setting of a model says it."""
        return tuple(name for name in self.without if name in ALTERED)

    def config(self, tokenizers: Tokenizers) -> ModelConfig:
        """The model that is to be trained; feed-forward layers are twice as wide as it, and nothing is dropped."""
        return ModelConfig(
            source_vocab_size=len(tokenizers.source), target_vocab_size=len(tokenizers.target), d_model=self.d_model,
            num_heads=self.num_heads, d_ff=2 * self.d_model, encoder_layers=self.layers, decoder_layers=self.layers, dropout=0.0,
            norm=self.norm, positions="none" if "positions" in self.without else self.positions, tie="target",
        )  # fmt: skip

    def settings(self) -> Settings:
        """How it is trained: the Noam rate, which falls to 0 over the last two fifths."""
        warmup = max(1, min(100, self.steps // 4))
        return Settings(
            steps=self.steps, warmup=warmup, factor=FACTOR * (warmup * self.d_model / 64) ** 0.5, cooldown=2 * self.steps // 5,
            smoothing=self.smoothing, seed=self.seed, check_every=self.steps, snapshots=CHECKS + 1, save_seconds=2.0,
        )  # fmt: skip

    def words(self) -> tuple[str, ...]:
        """The order as arguments of `python -m model.practice`; what is left at its default is not said."""
        default, said = Order(), []
        for name in ("task", "d_model", "num_heads", "layers", "steps", "norm", "positions", "smoothing", "seed"):
            if getattr(self, name) != getattr(default, name):
                said += [f"--{name.replace('_', '-')}", str(getattr(self, name))]
        return (*said, *(["--without", *self.without] if self.without else []))

    @property
    def command(self) -> str:
        """What trains it on a command line."""
        return " ".join(("python -m model.practice --output", f"runs/{self.task}", *self.words()))

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Order":
        """What a command line asks for."""
        named = {name: getattr(options, name) for name in cls.__dataclass_fields__}
        return cls(**{**named, "without": tuple(options.without)})


FACTOR = 0.024
"""Times sqrt(warm-up), which makes the highest rate the same whatever the warm-up: 3e-3 at every d_model."""


def checks(steps: int, count: int = CHECKS) -> tuple[int, ...]:
    """After which updates a training is measured: before the first, after the last, and dense early."""
    return tuple(sorted({round(steps * (place / (count - 1)) ** 2) for place in range(count)}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The settings of an order on a command line."""
    default = Order()
    parser.add_argument("--task", choices=tuple(TASKS), default=default.task)
    for name, (least, most) in LIMITS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=getattr(default, name), help=f"{least} to {most}")
    parser.add_argument("--norm", choices=get_args(Norm), default=default.norm)
    parser.add_argument("--positions", choices=get_args(Positions), default=default.positions)
    parser.add_argument("--smoothing", type=float, default=default.smoothing, help="label smoothing")
    parser.add_argument("--without", nargs="*", choices=LEFT_OUT, default=(), help="what is left out, to see what it is good for")
    parser.add_argument("--seed", type=int, default=default.seed)
