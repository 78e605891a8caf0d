"""Rotary positions looked at closely: pairs as hands of a clock, scores as sums of cosines, wavelengths, mixed-up pairings.

Everything that turns a vector here is `model.position.rotate`, which the model itself runs; only `mixed` is a formula of its
own, because it is wrong.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor

from model.attention import scaled_products
from model.position import Pairing, frequencies, rotate
from model.tokenizer import Token
from model.trace import Trace
from model.translator import Atlas

BASE = 10000.0  # of the model, and of the paper
ATTENTIONS = ("encoder.self_attention", "decoder.self_attention")  # cross-attention is never turned
Scaling = Literal["none", "interpolated", "ntk"]
Turn = Callable[[Tensor, Tensor], Tensor]  # vectors and their positions -> turned vectors


def as_pairs(x: Float[Tensor, "*batch head_dim"], pairing: Pairing = "adjacent") -> Complex[Tensor, "*batch pair"]:
    """The pairs that `rotate` turns, as complex numbers: the first member real, the second imaginary."""
    first, second = x.chunk(2, dim=-1) if pairing == "half" else (x[..., 0::2], x[..., 1::2])
    return torch.complex(first.contiguous(), second.contiguous())


@dataclass(frozen=True)
class Cosines:
    """The score of a turned query and key as a sum over pairs: sizes cos(offset x frequencies + phases).

    `sizes` are |q_i| |k_i|; `phases`, phi_i = arg q_i - arg k_i in radians between -pi and pi, before any rotation; the sign
    matters.
    """

    sizes: Float[Tensor, " pair"]
    phases: Float[Tensor, " pair"]
    frequencies: Float[Tensor, " pair"]

    def terms(self, offsets: Float[Tensor, " offset"]) -> Float[Tensor, "offset pair"]:
        """One term for each offset p_q - p_k and pair; their sum over the pairs is q . k, before the division."""
        return self.sizes * (offsets[:, None].double() * self.frequencies + self.phases).cos()


def cosines(
    query: Float[Tensor, " head_dim"], key: Float[Tensor, " head_dim"], base: float = BASE, pairing: Pairing = "adjacent"
) -> Cosines:
    """What the score of this query and key, given before rotation, is made of (float64)."""
    q, k = as_pairs(query.double(), pairing), as_pairs(key.double(), pairing)
    phases = torch.remainder(q.angle() - k.angle() + math.pi, 2 * math.pi) - math.pi
    return Cosines(q.abs() * k.abs(), phases, frequencies(query.shape[-1], base))


def products_at(
    query: Float[Tensor, " head_dim"],
    key: Float[Tensor, " head_dim"],
    at_query: Float[Tensor, " place"],
    at_key: Float[Tensor, " place"],
    base: float = BASE,
    pairing: Pairing = "adjacent",
) -> Float[Tensor, " place"]:
    """The plain dot product q . k with the query at one position and the key at another, both turned by `rotate` (float64)."""
    places = len(at_query)
    turned_query = rotate(query.double().expand(places, -1), at_query, base, pairing)
    turned_key = rotate(key.double().expand(places, -1), at_key, base, pairing)
    return (turned_query * turned_key).sum(dim=-1)


def rotation_matrix(
    position: float, head_dim: int, base: float = BASE, pairing: Pairing = "adjacent"
) -> Float[Tensor, "head_dim head_dim"]:
    """M with x M = the row x turned to this position (float64): what `rotate` makes of the unit vectors."""
    return rotate(torch.eye(head_dim, dtype=torch.float64), torch.full((head_dim,), float(position)), base, pairing)


def angles(positions: Float[Tensor, " position"], head_dim: int, base: float = BASE) -> Float[Tensor, "position pair"]:
    """By how many radians each pair is turned at each position: p w_i (float64)."""
    return positions.double()[:, None] * frequencies(head_dim, base)


@dataclass(frozen=True)
class AngleTable:
    """Positions as a column, w_i as a row, and their product, the angles in radians (float64)."""

    positions: Float[Tensor, "position 1"]
    frequencies: Float[Tensor, "1 pair"]
    angles: Float[Tensor, "position pair"]


def angle_table(length: int, head_dim: int, base: float = BASE) -> AngleTable:
    """Positions 0 .. length - 1 of a sentence."""
    positions = torch.arange(length, dtype=torch.float64)
    return AngleTable(positions[:, None], frequencies(head_dim, base)[None], angles(positions, head_dim, base))


def halves_order(head_dim: int) -> Int[Tensor, " head_dim"]:
    """Channels put so that pairing "half" finds the pairs that pairing "adjacent" found before: the even ones, then the odd."""
    channels = torch.arange(head_dim)
    return torch.cat((channels[0::2], channels[1::2]))


def mixed(
    x: Float[Tensor, "*batch length head_dim"],
    positions: Tensor,
    base: float = BASE,
    angles_of: Pairing = "half",
    rotation_of: Pairing = "adjacent",
) -> Float[Tensor, "*batch length head_dim"]:
    """x cos + quarter_turn(x) sin, as code often has it, with the angles laid out for one pairing and the turn for another.

    Where they differ, the two members of a pair are multiplied by sines and cosines of different angles: no rotation. Where
    they are the same, this is `rotate`.
    """
    turns = positions.to(torch.float64)[..., None] * frequencies(x.shape[-1], base, x.device)
    laid_out = torch.cat((turns, turns), dim=-1) if angles_of == "half" else turns.repeat_interleave(2, dim=-1)
    if rotation_of == "half":
        first, second = x.chunk(2, dim=-1)
        quarter = torch.cat((-second, first), dim=-1)
    else:
        quarter = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return x * laid_out.cos().to(x.dtype) + quarter * laid_out.sin().to(x.dtype)


# ----- long texts


def ntk_base(factor: float, head_dim: int, base: float = BASE) -> float:
    """The base under which the longest wavelength is `factor` times as long and the shortest stays ("NTK-aware", bloc97 2023)."""
    if head_dim <= 2:
        return base
    return float(base * factor ** (head_dim / (head_dim - 2)))


def turn(base: float = BASE, scaling: Scaling = "none", factor: float = 1.0, pairing: Pairing = "adjacent") -> Turn:
    """`rotate` with another base, or for texts `factor` times as long as those that were learned.

    "interpolated" divides the positions (Chen et al. 2023), which become fractions; "ntk" raises the base instead.
    """

    def turned(x: Tensor, positions: Tensor) -> Tensor:
        if scaling == "interpolated":
            return rotate(x, positions / factor, base, pairing)
        return rotate(x, positions, ntk_base(factor, x.shape[-1], base) if scaling == "ntk" else base, pairing)

    return turned


def wavelengths(head_dim: int, base: float = BASE, scaling: Scaling = "none", factor: float = 1.0) -> Float[Tensor, " pair"]:
    """Positions from one full turn of a pair to the next: 2 pi / w_i (float64)."""
    lengths: Tensor = 2 * math.pi / frequencies(head_dim, ntk_base(factor, head_dim, base) if scaling == "ntk" else base)
    return lengths * factor if scaling == "interpolated" else lengths


def turned_less_than_once(lengths: Float[Tensor, " pair"], positions: int) -> int:
    """How many pairs have not come round once over so many positions."""
    return int((lengths > positions).sum())


# ----- the vectors of a head, turned rightly and wrongly


@dataclass(frozen=True)
class HeadVectors:
    """Queries and keys of one head of self-attention before any rotation, as recorded. `turned`: whether the model turns them."""

    query: Float[Tensor, "query head_dim"]
    key: Float[Tensor, "key head_dim"]
    turned: bool


def head_vectors(atlas: Atlas, trace: Trace, attention: str, layer: int, head: int) -> HeadVectors:
    """Those of `attention`, one of `ATTENTIONS`; layer and head count from 0."""
    path = attention.replace(".", f".layers.{layer}.")
    query, key = (trace[f"{path}.{name}"].tensor[0, head] for name in ("query", "key"))
    return HeadVectors(query, key, atlas.config.positions == "rotary")


def telling_pair(weights: Float[Tensor, "query key"], tokens: Sequence[Token]) -> tuple[int, int]:
    """Query and key of the largest weight of a head between two words that stand at different positions.

    At one position nothing is turned against anything, and marks and special tokens say little. Where there are no two words,
    any two tokens; where there is one token, that.
    """
    words = torch.tensor([not (token.special or token.unknown) and any(map(str.isalnum, token.text)) for token in tokens])
    apart = ~torch.eye(len(tokens), dtype=torch.bool)
    for candidates in (words[:, None] & words & apart, apart):
        if candidates.any():
            row, column = divmod(int(torch.where(candidates, weights, -1.0).argmax()), len(tokens))
            return row, column
    return 0, 0


@dataclass(frozen=True)
class Kept:
    """What a way of turning does to the scores of a head.

    `difference`: the largest difference from the scores under pairing "adjacent"; `moved`: the largest change of a score when
    all tokens move on by `SHIFT` positions, about 0 where only the distance counts; `stretched`: the largest change of the length
    of a query or key as a share of it, about 0 for a rotation.
    """

    difference: float
    moved: float
    stretched: float


@dataclass(frozen=True)
class Cell:
    """One query and one key of a head, at their own positions.

    `terms` are what the pairs add, in their order, `product` is q . k after rotation and `score` the same over the root of
    head_dim. `matrix` turns the row `query` to its position: `turned`.
    """

    query: Float[Tensor, "1 head_dim"]
    matrix: Float[Tensor, "head_dim head_dim"]
    turned: Float[Tensor, "1 head_dim"]
    cosines: Cosines
    terms: Float[Tensor, " pair"]
    product: float
    score: float


def cell(atlas: Atlas, trace: Trace, attention: str, layer: int, head: int, row: int, column: int) -> Cell:
    """The query of token `row` and the key of token `column`, turned with pairing "adjacent" (float64)."""
    vectors = head_vectors(atlas, trace, attention, layer, head)
    query, key = vectors.query[row].double(), vectors.key[column].double()
    made = cosines(query, key)
    product = float(products_at(query, key, torch.tensor([float(row)]), torch.tensor([float(column)])))
    return Cell(
        query=query[None],
        matrix=rotation_matrix(row, len(query)),
        turned=rotate(query[None], torch.tensor([row])),
        cosines=made,
        terms=made.terms(torch.tensor([float(row - column)]))[0],
        product=product,
        score=product * atlas.config.head_dim**-0.5,
    )


SHIFT = 7

WAYS: Mapping[str, tuple[Turn, bool]] = {
    "adjacent": (turn(), False),
    "half": (turn(pairing="half"), False),
    "permuted": (turn(pairing="half"), True),
    "mixed": (lambda x, positions: mixed(x, positions), False),
    "mixed_other": (lambda x, positions: mixed(x, positions, angles_of="adjacent", rotation_of="half"), False),
}
"""How vectors are turned, and whether their channels are put into `halves_order` before."""


def kept(atlas: Atlas, trace: Trace, attention: str, layer: int, head: int) -> dict[str, Kept]:
    """Every one of `WAYS` on the queries and keys of one head, in float64."""
    vectors = head_vectors(atlas, trace, attention, layer, head)
    query, key = vectors.query.double(), vectors.key.double()
    right = _scores(query, key, WAYS["adjacent"][0], 0)
    found = {}
    for name, (way, permute) in WAYS.items():
        order = halves_order(query.shape[-1]) if permute else torch.arange(query.shape[-1])
        q, k = query[:, order], key[:, order]
        here, there = _scores(q, k, way, 0), _scores(q, k, way, SHIFT)
        stretched = max(_stretched(q, way), _stretched(k, way))
        found[name] = Kept(float((here - right).abs().max()), float((there - here).abs().max()), stretched)
    return found


def _stretched(x: Tensor, way: Turn) -> float:
    """The largest change of a vector's length by turning it to its position, as a share of that length."""
    lengths, turned = x.norm(dim=-1), way(x, torch.arange(len(x))).norm(dim=-1)
    return float(((turned - lengths).abs() / lengths.clamp(min=1e-30)).max())


def _scores(query: Tensor, key: Tensor, way: Turn, start: int) -> Tensor:
    """Scaled scores with the first token at position `start`."""
    turned_query = way(query, torch.arange(start, start + len(query)))
    turned_key = way(key, torch.arange(start, start + len(key)))
    return scaled_products(turned_query[None, None], turned_key[None, None], query.shape[-1] ** -0.5)[0, 0]
