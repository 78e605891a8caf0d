"""The real model with its layers altered: no way around the sublayers, no non-linearity, or another one; and what that costs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import nn

from model.analysis.forced import repeated
from model.analysis.what_if import with_activation, without_residual
from model.trace import Trace
from model.translator import Atlas

VARIANTS: Mapping[str, Callable[[Any], Any]] = {
    "residual": without_residual,
    "linear": lambda model: with_activation(model, nn.Identity),
    "activation": lambda model: with_activation(model, nn.GELU if model.config.activation == "relu" else nn.ReLU),
}
"""What is altered, everywhere in the model: it was trained without, and is not trained again."""


@dataclass(frozen=True)
class Damage:
    """The log-probabilities of the same target in the altered model, one a token, and what it writes when left to itself."""

    log_probabilities: tuple[float, ...]
    written: str

    @property
    def score(self) -> float:
        """The log-probability of the whole target."""
        return sum(self.log_probabilities)


def damage(atlas: Atlas, trace: Trace, variant: str) -> Damage:
    """One of `VARIANTS` on the pair of a trace."""
    if variant not in VARIANTS:
        raise ValueError(f"variant={variant!r} is not known; choose one of {', '.join(VARIANTS)}")
    altered = replace(atlas, model=VARIANTS[variant](atlas.model))
    written = altered.write(trace.source_text)
    return Damage(
        repeated(altered, trace, only=frozenset()).log_probabilities,
        altered.said(trace.source_text, [token.id for token in written.produced]),
    )
