"""Wrong and altered variants of attention, as edits for `trace(edits=...)`: the model itself has no flags for them.

Each function takes the paths of weights, `decoder.layers.0.cross_attention.weights`, and returns an edit for each.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.trace import Edit, Trace


def weight_paths(attention: str, layers: int) -> tuple[str, ...]:
    """The paths of the weights of one kind of attention, "decoder.cross_attention", in every layer."""
    stack, name = attention.split(".")
    return tuple(f"{stack}.layers.{layer}.{name}.weights" for layer in range(layers))


def spread_evenly(paths: Iterable[str]) -> dict[str, Edit]:
    """Every query reads all keys alike: attention without attention. (Not for causal attention, which has forbidden keys.)"""
    return dict.fromkeys(paths, lambda weights: weights.new_ones(weights.shape) / weights.shape[-1])


def average_heads(paths: Iterable[str]) -> dict[str, Edit]:
    """Every head reads with the mean of all heads' weights, which is what `nn.MultiheadAttention` returns by default."""
    return dict.fromkeys(paths, lambda weights: weights.mean(dim=1, keepdim=True).expand_as(weights).clone())


def without_head(path: str, head: int) -> dict[str, Edit]:
    """One head reads nothing: its weights are 0, so that it adds nothing to the layer."""

    def silence(weights: Tensor) -> Tensor:
        silenced = weights.clone()
        silenced[:, head] = 0
        return silenced

    return {path: silence}


@dataclass(frozen=True)
class Spread:
    """How heads differ from their mean, averaged over layers, heads and query rows.

    `heads` and `mean` are entropies in bits of single heads and of the mean map; `distance` is the total variation between
    a head's row and the mean's: 0 for equal rows, 1 for rows that share no key.
    """

    heads: float
    mean: float
    distance: float


def spread(trace: Trace, attention: str) -> Spread:
    """Single heads beside the mean over heads, for one kind of attention."""
    layers: list[Tensor] = []
    while (path := f"{attention.replace('.', f'.layers.{len(layers)}.')}.weights") in trace:
        layers.append(trace[path].tensor[0].double())
    weights = torch.stack(layers)
    mean = weights.mean(dim=1, keepdim=True)
    return Spread(
        heads=float(entropy(weights).mean()),
        mean=float(entropy(mean).mean()),
        distance=float((weights - mean).abs().sum(dim=-1).mean()) / 2,
    )


def entropy(weights: Float[Tensor, "*rows key"]) -> Float[Tensor, "*rows"]:
    """The entropy of each row in bits; a weight of 0 adds nothing."""
    nats: Tensor = -torch.special.xlogy(weights, weights).sum(dim=-1)
    return nats / math.log(2)
