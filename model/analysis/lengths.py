"""Loss by length: pairs of sentences with their translations, alone and joined by twos, threes and fours."""

from collections.abc import Sequence
from dataclasses import dataclass

from model.analysis.rotated import VARIANTS
from model.translator import Translator

MOST = 4  # sentences that are joined into one text


@dataclass(frozen=True)
class AtLength:
    """Texts of `sentences` sentences each: their mean length in source tokens, and the loss in nats a target token."""

    sentences: int
    texts: int
    tokens: float
    loss: float


def joined(pairs: Sequence[tuple[str, str]], sentences: int) -> list[tuple[str, str]]:
    """Every `sentences` pairs in a row as one pair; what is left over at the end is left out."""
    starts = range(0, len(pairs) - sentences + 1, sentences)
    groups = [pairs[start : start + sentences] for start in starts]
    return [(" ".join(source for source, _ in group), " ".join(target for _, target in group)) for group in groups]


def loss_by_length(atlas: Translator, pairs: tuple[tuple[str, str], ...], variant: str = "right") -> tuple[AtLength, ...]:
    """The loss of the given translations under one of `model.analysis.rotated.VARIANTS`, for texts of 1 to `MOST` sentences."""
    altered = VARIANTS[variant](atlas)
    found = []
    for sentences in range(1, min(MOST, len(pairs)) + 1):
        traces = [altered.trace(source, target) for source, target in joined(pairs, sentences)]
        tokens = sum(len(trace.produced) for trace in traces)
        found.append(
            AtLength(
                sentences,
                len(traces),
                sum(len(trace.source) for trace in traces) / len(traces),
                -sum(sum(trace.log_probabilities) for trace in traces) / tokens,
            )
        )
    return tuple(found)
