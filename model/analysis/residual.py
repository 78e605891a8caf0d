"""The residual stream: the one vector a position that every sublayer reads and adds to.

A *depth* counts sublayers: depth 0 is what enters the first layer, depth n what stands in the stream after n sublayers.
What one residual connection puts out is what the next one takes in, in post-norm the normed sum, in pre-norm the sum.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cosine_similarity

from model.trace import Trace

CROSS = "cross_attention"
SUBLAYERS = {"encoder": ("self_attention", "feed_forward"), "decoder": ("self_attention", CROSS, "feed_forward")}


@dataclass(frozen=True)
class Station:
    """One residual connection: which sublayer it leads around, in which layer (from 0).

    `among`: the sublayers of each layer of the stack; those of an encoder-decoder if nothing is said.
    """

    stack: str
    layer: int
    place: int
    among: tuple[str, ...] = ()

    @property
    def sublayers(self) -> tuple[str, ...]:
        """What each layer of the stack consists of, in order."""
        return self.among or SUBLAYERS[self.stack]

    @property
    def sublayer(self) -> str:
        """self_attention, cross_attention or feed_forward."""
        return self.sublayers[self.place]

    @property
    def path(self) -> str:
        """Where its values stand in a trace; add .input, .sublayer, .sum or .normed."""
        return f"{self.stack}.layers.{self.layer}.residual.{self.place}"


def sublayers(trace: Trace, stack: str) -> tuple[str, ...]:
    """What each layer of a stack consists of: the decoder of a language model has no cross-attention."""
    return tuple(name for at, name in enumerate(SUBLAYERS[stack]) if name != CROSS or f"{stack}.layers.0.residual.2.sum" in trace)


def stations(trace: Trace, stack: str) -> tuple[Station, ...]:
    """The residual connections of "encoder" or "decoder" in the order in which the stream passes them."""
    found: list[Station] = []
    names = sublayers(trace, stack)
    while (next_one := Station(stack, len(found) // len(names), len(found) % len(names), names)).path + ".sum" in trace:
        found.append(next_one)
    return tuple(found)


def stream(trace: Trace, stack: str, *, pre_norm: bool) -> Float[Tensor, "depth token d_model"]:
    """The stream at every depth and position; the last depth is before the final norm, if the model has one."""
    path = stations(trace, stack)
    inputs = [trace[f"{station.path}.input"].tensor[0] for station in path]
    return torch.stack([*inputs, trace[f"{path[-1].path}.{'sum' if pre_norm else 'normed'}"].tensor[0]])


@dataclass(frozen=True)
class Stream:
    """What happens to one position on the way up; lengths are Euclidean norms, cosines are with the stream at depth 0.

    `lengths` and `cosines` have one entry a depth; `added` (the length of what the sublayer adds), `sums` (of x + Sub(x)) and
    `turned` (the cosine of what it adds with what is there) one a sublayer.
    """

    stations: tuple[Station, ...]
    lengths: tuple[float, ...]
    cosines: tuple[float, ...]
    added: tuple[float, ...]
    sums: tuple[float, ...]
    turned: tuple[float, ...]


def along(trace: Trace, stack: str, token: int, *, pre_norm: bool) -> Stream:
    """The way of one position through the stack."""
    passed = stations(trace, stack)
    values = stream(trace, stack, pre_norm=pre_norm)[:, token].double()
    added = torch.stack([trace[f"{station.path}.sublayer"].tensor[0, token] for station in passed]).double()
    sums = torch.stack([trace[f"{station.path}.sum"].tensor[0, token] for station in passed]).double()
    return Stream(
        stations=passed,
        lengths=tuple(values.norm(dim=-1).tolist()),
        cosines=tuple(cosine_similarity(values, values[:1], dim=-1).tolist()),
        added=tuple(added.norm(dim=-1).tolist()),
        sums=tuple(sums.norm(dim=-1).tolist()),
        turned=tuple(cosine_similarity(added, values[:-1], dim=-1).tolist()),
    )


def cosines(trace: Trace, stack: str, *, pre_norm: bool) -> Float[Tensor, "depth token"]:
    """How far every position still points where it pointed at depth 0: 1 is the same direction, 0 a right angle."""
    values = stream(trace, stack, pre_norm=pre_norm)
    return cosine_similarity(values, values[:1], dim=-1)
