"""Drawing the next token: what temperature, top-k and top-p make of logits, and the draw itself."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Sampling:
    """What is done to the logits before a token is drawn, in this order: temperature, the `top_k` likeliest, `top_p`.

    Logits are divided by `temperature`; at 0 the likeliest token has probability 1. `top_k` None keeps all. `top_p` keeps the
    smallest set of likeliest tokens whose probability, after `top_k`, reaches it (Holtzman et al. 2020); 1 keeps all.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < math.inf:
            raise ValueError(f"temperature={self.temperature} divides the logits; give 0 (the likeliest token) or more")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k={self.top_k} leaves no token; give 1 or more, or None for all")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p={self.top_p} is a share of probability; give more than 0, at most 1")


def draws(seed: int, batch: int = 1) -> Iterator[Float[Tensor, " batch"]]:
    """Uniform numbers in [0, 1) of a generator of its own: for each step one a sentence."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield torch.rand(batch, generator=generator, dtype=torch.float64)


def tempered(logits: Float[Tensor, "*batch vocab"], temperature: float) -> Float[Tensor, "*batch vocab"]:
    """Logits divided by the temperature, the largest moved to 0, in float64; at 0 all others are minus infinity."""
    wide = logits.double()
    if temperature == 0:
        best = wide.argmax(dim=-1, keepdim=True)
        return torch.full_like(wide, -math.inf).scatter(-1, best, 0.0)
    return (wide - wide.amax(dim=-1, keepdim=True)) / temperature


def in_top_k(scores: Float[Tensor, "*batch vocab"], top_k: int) -> Bool[Tensor, "*batch vocab"]:
    """Which tokens are among the `top_k` best; of equal ones those with the smaller id."""
    best = scores.argsort(dim=-1, descending=True, stable=True)[..., :top_k]
    return torch.zeros_like(scores, dtype=torch.bool).scatter(-1, best, torch.ones_like(best, dtype=torch.bool))


def in_top_p(probabilities: Float[Tensor, "*batch vocab"], top_p: float) -> Bool[Tensor, "*batch vocab"]:
    """Which tokens belong to the smallest set of likeliest ones that reaches `top_p`: those before which less than it stands."""
    if top_p >= 1:  # rounding may let the sum reach 1 before the last
        return torch.ones_like(probabilities, dtype=torch.bool)
    ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(dim=-1) - ordered
    return torch.zeros_like(probabilities, dtype=torch.bool).scatter(-1, order, before < top_p)


def distribution(logits: Float[Tensor, "*batch vocab"], sampling: Sampling) -> Float[Tensor, "*batch vocab"]:
    """The probabilities that a token is drawn from: temperature, top-k, top-p, then shared out again to sum to 1."""
    scores = tempered(logits, sampling.temperature)
    if sampling.top_k is not None:
        scores = scores.masked_fill(~in_top_k(scores, sampling.top_k), -math.inf)
    probabilities = scores.softmax(dim=-1)
    kept = torch.where(in_top_p(probabilities, sampling.top_p), probabilities, 0.0)
    shared: Tensor = kept / kept.sum(dim=-1, keepdim=True)
    return shared


def take(probabilities: Float[Tensor, "batch vocab"], drawn: Float[Tensor, " batch"]) -> Int[Tensor, " batch"]:
    """The token at which the probabilities, summed from the likeliest on, pass the drawn number."""
    ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
    passed = (ordered.cumsum(dim=-1) <= drawn[:, None]).sum(dim=-1)
    last = (ordered > 0).sum(dim=-1) - 1  # where rounding keeps the sum below a number next to 1
    return order.gather(1, torch.minimum(passed, last)[:, None])[:, 0]
