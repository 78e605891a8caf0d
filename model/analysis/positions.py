"""The sinusoidal table by itself: its waves, one cell in numbers, dot products of positions, and the turn from p to p + k."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from model.position import Layout, frequencies, shift_matrix, sinusoidal


def wavelengths(d_model: int, base: float = 10000.0) -> Float[Tensor, " pair"]:
    """Positions in one whole turn of each pair, 2 pi / w_i: from 2 pi up to 2 pi base^((d_model - 2) / d_model) (float64)."""
    return 2 * math.pi / frequencies(d_model, base)


def limit(base: float = 10000.0) -> float:
    """2 pi base: the wavelength that pair d_model / 2 would have, one more than there is."""
    return 2 * math.pi * base


def columns(pair: int, d_model: int, layout: Layout = "interleaved") -> tuple[int, int]:
    """Where the sine and the cosine of a pair stand."""
    return (2 * pair, 2 * pair + 1) if layout == "interleaved" else (pair, pair + d_model // 2)


@dataclass(frozen=True)
class Cell:
    """One number of the table and how it comes about: `wave` of position times `frequency`, which is base^-(exponent)."""

    position: int
    dimension: int
    pair: int
    wave: Literal["sin", "cos"]
    exponent: float
    frequency: float
    angle: float
    value: float


def cell(position: int, dimension: int, d_model: int, base: float = 10000.0, layout: Layout = "interleaved") -> Cell:
    """PE(position, dimension) in its parts; the value is that of the table, in float64."""
    if not 0 <= dimension < d_model:
        raise ValueError(f"dimension={dimension} is not in a table of {d_model}; choose 0 to {d_model - 1}")
    place = range(d_model).index(dimension)
    pair, is_cosine = divmod(place, 2) if layout == "interleaved" else divmod(place, d_model // 2)[::-1]
    frequency = float(frequencies(d_model, base)[pair])
    return Cell(
        position=position,
        dimension=dimension,
        pair=pair,
        wave="cos" if is_cosine else "sin",
        exponent=2 * pair / d_model,
        frequency=frequency,
        angle=position * frequency,
        value=float(sinusoidal(1, d_model, base, start=position, layout=layout, dtype=torch.float64)[0, dimension]),
    )


@dataclass(frozen=True)
class Bounds:
    """The least and the greatest number of a table, and the squared length of its rows: least, greatest, and what d/2 says."""

    least: float
    greatest: float
    shortest: float
    longest: float
    half: float

    @property
    def off(self) -> float:
        """How far a row's squared length is from d/2 at most."""
        return max(abs(self.shortest - self.half), abs(self.longest - self.half))


def bounds(table: Float[Tensor, "position d_model"]) -> Bounds:
    """All numbers lie in [-1, 1], and every row has the squared length d_model / 2, since sin^2 + cos^2 = 1 in every pair."""
    squares = (table.double() ** 2).sum(dim=-1)
    return Bounds(
        float(table.min()), float(table.max()), float(squares.min()), float(squares.max()), squared_length(table.shape[1])
    )


# ----- dot products


def products(length: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "position position"]:
    """PE(p) . PE(q) for all pairs of positions, in float64."""
    table = sinusoidal(length, d_model, base, dtype=torch.float64)
    return table @ table.T


@lru_cache(maxsize=64)
def by_distance(length: int, d_model: int, base: float = 10000.0) -> Float[Tensor, " distance"]:
    """PE(p) . PE(p + k) for k = 0 .. length - 1, the same for every p: the sum of cos(k w_i) over the pairs (float64)."""
    table = sinusoidal(length, d_model, base, dtype=torch.float64)
    return (table @ table[:1].T)[:, 0]


def squared_length(d_model: int) -> float:
    """||PE(p)||^2 = d_model / 2 for every p, since each pair adds sin^2 + cos^2 = 1."""
    return d_model / 2


def cosines(length: int, d_model: int, base: float = 10000.0) -> Float[Tensor, " distance"]:
    """The cosine of PE(p) and PE(p + k): their product over the squared length, 1 at k = 0 (float64)."""
    return by_distance(length, d_model, base) / squared_length(d_model)


@lru_cache(maxsize=256)
def first_rise(d_model: int, base: float = 10000.0, length: int = 512) -> int | None:
    """The least distance k whose dot product is larger than that of k - 1; None if there is none below `length`."""
    along = by_distance(length, d_model, base)
    rises = (along[1:] > along[:-1]).nonzero()
    return int(rises[0]) + 1 if len(rises) else None


@dataclass(frozen=True)
class Offsets:
    """How much of a square matrix depends on the offset q - p alone.

    `spread` is the largest difference between two cells of one offset; `share` the share of the variance of all cells that
    is left within offsets: 0 if the offset says everything. `asymmetry` is the largest |S(p, q) - S(q, p)|. `least`, `mean`
    and `greatest` are those of the cells of each offset in `offsets`, -(L-1) .. L-1.
    """

    spread: float
    share: float
    asymmetry: float
    offsets: tuple[int, ...]
    least: tuple[float, ...]
    mean: tuple[float, ...]
    greatest: tuple[float, ...]


def offsets(matrix: Float[Tensor, "position position"]) -> Offsets:
    """Gathers the diagonals of a matrix; computed in float64."""
    values = matrix.double()
    length = len(values)
    lines = {offset: values.diagonal(offset) for offset in range(1 - length, length)}
    means = {offset: float(line.mean()) for offset, line in lines.items()}
    within = sum(float(((line - line.mean()) ** 2).sum()) for line in lines.values())
    whole = float(((values - values.mean()) ** 2).sum())
    return Offsets(
        spread=max(float(line.max() - line.min()) for line in lines.values()),
        share=within / whole if whole else 0.0,
        asymmetry=float((values - values.T).abs().max()),
        offsets=tuple(lines),
        least=tuple(float(line.min()) for line in lines.values()),
        mean=tuple(means.values()),
        greatest=tuple(float(line.max()) for line in lines.values()),
    )


# ----- PE(p + k) = M_k PE(p)


@dataclass(frozen=True)
class Shift:
    """All positions moved by `offset` at once, in float64: table @ matrix.T beside the table that begins at `offset`.

    `error` is the largest absolute difference of the two; `orthogonality` that of M M^T and the identity.
    """

    offset: int
    table: Float[Tensor, "position d_model"]
    matrix: Float[Tensor, "d_model d_model"]
    moved: Float[Tensor, "position d_model"]
    error: float
    orthogonality: float


@lru_cache(maxsize=16)
def shift(length: int, d_model: int, offset: int, base: float = 10000.0) -> Shift:
    """One matrix of rotations for every position; interleaved layout."""
    table = sinusoidal(length, d_model, base, dtype=torch.float64)
    matrix = shift_matrix(offset, d_model, base, dtype=torch.float64)
    moved = table @ matrix.T
    expected = sinusoidal(length, d_model, base, start=offset, dtype=torch.float64)
    identity = torch.eye(d_model, dtype=torch.float64)
    return Shift(
        offset,
        table,
        matrix,
        moved,
        error=float((moved - expected).abs().max()) if length else 0.0,
        orthogonality=float((matrix @ matrix.T - identity).abs().max()),
    )


@dataclass(frozen=True)
class Turn:
    """One 2 x 2 block of M_k and what it does to the pair of one position: `angle` is k w_i, in radians."""

    pair: int
    frequency: float
    angle: float
    block: tuple[tuple[float, float], tuple[float, float]]
    before: tuple[float, float]
    after: tuple[float, float]


def turn(found: Shift, position: int, pair: int, base: float = 10000.0) -> Turn:
    """The block of `pair`, taken out of the whole matrix, and the pair of `position` before and after it."""
    at = slice(2 * pair, 2 * pair + 2)
    first, second = found.matrix[at, at].tolist()
    before, after = found.table[position, at].tolist(), found.moved[position, at].tolist()
    frequency = float(frequencies(found.table.shape[1], base)[pair])
    return Turn(pair, frequency, found.offset * frequency, (tuple(first), tuple(second)), tuple(before), tuple(after))
