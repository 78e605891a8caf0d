"""Figures that Vaswani et al. 2017 print, beside what the formulas give: parameters (Table 3) and training (Table 2)."""

from dataclasses import dataclass, replace

from model.config import ModelConfig, paper_base, paper_big
from model.cost.counts import flops, parameters


@dataclass(frozen=True)
class Printed:
    """A row of Table 3: what differs from the base model, the printed millions, and the count of this code.

    `key_dim` is d_k where it is not d_model / h: a setting that this code does not have, counted by hand.
    """

    name: str
    config: ModelConfig
    millions: int
    key_dim: int | None = None

    @property
    def counted(self) -> int:
        """All parameters; narrower keys make W_Q and W_K of every attention narrower, and nothing else."""
        whole = parameters(self.config)
        if self.key_dim is None:
            return whole
        attentions = self.config.encoder_layers + 2 * self.config.decoder_layers
        return whole - attentions * 2 * self.config.d_model * (self.config.d_model - self.config.num_heads * self.key_dim)


def table_3() -> tuple[Printed, ...]:
    """The rows whose parameters the paper prints, with one vocabulary of 37,000 and three matrices tied."""
    base = paper_base()

    def row(name: str, millions: int, key_dim: int | None = None, **changes: int) -> Printed:
        return Printed(name, replace(base, **changes), millions, key_dim)  # type: ignore[arg-type]

    return (
        row("base", 65),
        row("d_k = 16", 58, 16),
        row("d_k = 32", 60, 32),
        row("N = 2", 36, encoder_layers=2, decoder_layers=2),
        row("N = 4", 50, encoder_layers=4, decoder_layers=4),
        row("N = 8", 80, encoder_layers=8, decoder_layers=8),
        row("d_model = 256", 28, d_model=256),
        row("d_model = 1024", 168, d_model=1024),
        row("d_ff = 1024", 53, d_ff=1024),
        row("d_ff = 4096", 90, d_ff=4096),
        Printed("big", paper_big(), 213),
    )


SUSTAINED = 9.5e12
"""The paper's estimate of what a P100 sustains in float32, operations a second (its footnote 5)."""

GPUS = 8
BATCH_TOKENS = 25_000
"""About so many source tokens in a batch, and about as many target tokens (5.1)."""


@dataclass(frozen=True)
class Training:
    """What training a model of the paper took: by its own estimate, by the rule of thumb, by the count of this code."""

    name: str
    config: ModelConfig
    steps: int
    hours: float  # "12 hours", "3.5 days" (5.2)
    printed: float  # Table 2

    @property
    def by_clock(self) -> float:
        """GPUs x seconds x sustained operations a second: how the paper made its figure."""
        return GPUS * self.hours * 3600 * SUSTAINED

    @property
    def by_rule(self) -> float:
        """6 x parameters x tokens, source and target tokens alike: as if each passed through all parameters."""
        return 6.0 * parameters(self.config) * 2 * BATCH_TOKENS * self.steps

    def by_count(self, length: int) -> float:
        """Three times the forward pass of `model.cost.flops` (the backward pass takes about two more), pairs of this length."""
        return 3.0 * flops(self.config, length, length) * BATCH_TOKENS / length * self.steps

    def used(self, length: int) -> float:
        """The share of the printed operations that the count needs."""
        return self.by_count(length) / self.printed


def training() -> tuple[Training, Training]:
    """Base: 100,000 steps, 12 hours. Big: 300,000 steps, 3.5 days. Both on one machine with eight P100."""
    return (
        Training("base", paper_base(), 100_000, 12, 3.3e18),
        Training("big", paper_big(), 300_000, 3.5 * 24, 2.3e19),
    )
