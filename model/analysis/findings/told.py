"""What a story tells: the values of its text, and a small picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from model.analysis.ablation import Head
from model.tokenizer import Token
from model.trace import Trace

Value = str | int | float


@dataclass(frozen=True)
class Cell:
    """One cell of a picture: what stands in it, and a share between 0 and 1 that colours it."""

    written: Value
    share: float


@dataclass(frozen=True)
class Picture:
    """A small table: labels of its rows and columns, and its cells. `named`: the rows are named by sentences of the page."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    named: bool = False


@dataclass(frozen=True)
class Told:
    """What a story tells: the values of its text by name, and its picture."""

    values: Mapping[str, Value]
    picture: Picture


def weights_of(trace: Trace, head: Head) -> Float[Tensor, "query key"]:
    """The weights of one head."""
    return trace[f"{head.path}.weights"].tensor[0, head.head]


def weighed(value: float) -> Cell:
    """A cell that is coloured by the weight, or probability, that stands in it."""
    return Cell(value, value)


def weight_map(weights: Float[Tensor, "query key"], rows: Sequence[Token], columns: Sequence[Token]) -> Picture:
    """The weights of a head, its rows and columns labelled by tokens."""
    return Picture(
        tuple(token.label for token in rows),
        tuple(token.label for token in columns),
        tuple(tuple(map(weighed, row)) for row in weights.tolist()),
    )
