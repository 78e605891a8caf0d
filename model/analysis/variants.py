"""Four wrong ways to compute attention, measured on one sentence: in one head, in its whole layer, in the whole model."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.analysis import what_if
from model.analysis.forced import KEPT_FOR_LEAK, freely, leak, repeated
from model.analysis.steps import path_of
from model.attention import scaled_products
from model.config import ModelConfig
from model.trace import Edit, Trace
from model.translator import Atlas

VARIANTS = ("unscaled", "d_model", "queries", "reshape")
SCOPES = ("head", "layer", "model")


@dataclass(frozen=True)
class Damage:
    """What a variant does to the model where it is wrong in one of `SCOPES`.

    `log_probability` is that of the same target, in nats, `change` how much higher than the right model's; `leak` the largest
    change of an earlier row's logits when the last token that is read changes (`model.analysis.forced.leak`), 0 in the right
    model.
    """

    scope: str
    log_probability: float
    change: float
    leak: float


@dataclass(frozen=True)
class Measured:
    """One head before and after, row by row, and the damage by scope.

    Entropies in bits. `slope_*` is `softmax_slope` of each row; `pull_*` the same in terms of the plain dot product q . k, so
    times the factor between dot product and score. `row_sums` and `column_sums` are of the changed weights. `differing` is
    the share of entries of the head's queries that changed, `keys_differing` that of its keys.
    """

    before: Float[Tensor, "query key"]
    after: Float[Tensor, "query key"]
    entropy_before: Float[Tensor, " query"]
    entropy_after: Float[Tensor, " query"]
    slope_before: Float[Tensor, " query"]
    slope_after: Float[Tensor, " query"]
    pull_before: Float[Tensor, " query"]
    pull_after: Float[Tensor, " query"]
    row_sums: Float[Tensor, " query"]
    column_sums: Float[Tensor, " key"]
    spread_before: float
    spread_after: float
    differing: float
    keys_differing: float
    log_probability: float
    damages: tuple[Damage, ...]

    @property
    def largest(self) -> tuple[float, float]:
        """The mean over the rows of the largest weight, before and after."""
        return float(self.before.amax(dim=-1).mean()), float(self.after.amax(dim=-1).mean())

    def means(self, name: str) -> tuple[float, float]:
        """The mean over the rows before and after; `name` is "entropy", "slope" or "pull"."""
        return float(getattr(self, f"{name}_before").mean()), float(getattr(self, f"{name}_after").mean())


def softmax_slope(weights: Float[Tensor, "*rows key"]) -> Float[Tensor, "*rows"]:
    """How much a row of softmax answers to its scores: the Frobenius norm of dp/ds = diag(p) - p p^T.

    0 for a row that has settled on one key; sqrt(n - 1) / n for n equal weights, so 1/2, the most there is, for two.
    """
    squares = weights.square().sum(dim=-1)
    cubes = weights.pow(3).sum(dim=-1)
    return (squares - 2 * cubes + squares.square()).clamp(min=0).sqrt()


def edits(config: ModelConfig, variant: str, scope: str, attention: str, layer: int, head: int) -> Mapping[str, Edit]:
    """The edits that make the model wrong in one head, in all heads of that layer's attention, or in every attention."""
    paths = _everywhere(config) if scope == "model" else (path_of(attention, layer),)
    only = head if scope == "head" else None
    if variant == "queries":
        return what_if.softmax_over_queries(paths, only)
    if variant == "reshape":
        return what_if.split_by_reshape(paths, only)
    return what_if.rescale_scores(paths, factor(config, variant), only)


def factor(config: ModelConfig, variant: str) -> float:
    """What a scaled score is multiplied by in the variants that scale otherwise; 1 in those that do not."""
    return {"unscaled": math.sqrt(config.head_dim), "d_model": math.sqrt(config.head_dim / config.d_model)}.get(variant, 1.0)


def measure(atlas: Atlas, trace: Trace, attention: str, layer: int, head: int, variant: str) -> Measured:
    """The variant in this head, and what it costs on this sentence in the head, its layer, and the whole model."""
    config = atlas.config
    path = path_of(attention, layer)
    kept = frozenset((*(f"{path}.{name}" for name in ("query", "key", "masked", "weights")), *KEPT_FOR_LEAK))
    damages, head_trace = [], trace
    for scope in SCOPES:
        changes = edits(config, variant, scope, attention, layer, head)
        wrong = repeated(atlas, trace, changes, kept)
        score = sum(wrong.log_probabilities)
        damages.append(Damage(scope, score, score - sum(trace.log_probabilities), leak(atlas, wrong, changes)))
        head_trace = wrong if scope == "head" else head_trace

    def of(recorded: Trace, name: str) -> Tensor:
        return recorded[f"{path}.{name}"].tensor[0, head].double()

    before, after = of(trace, "weights"), of(head_trace, "weights")
    scale = config.head_dim**-0.5
    return Measured(
        before=before,
        after=after,
        entropy_before=what_if.entropy(before),
        entropy_after=what_if.entropy(after),
        slope_before=softmax_slope(before),
        slope_after=softmax_slope(after),
        pull_before=softmax_slope(before) * scale,
        pull_after=softmax_slope(after) * scale * factor(config, variant),
        row_sums=after.sum(dim=-1),
        column_sums=after.sum(dim=-2),
        spread_before=_spread(of(trace, "masked")),
        spread_after=_spread(of(head_trace, "masked")),
        differing=_share_changed(of(trace, "query"), of(head_trace, "query")),
        keys_differing=_share_changed(of(trace, "key"), of(head_trace, "key")),
        log_probability=sum(trace.log_probabilities),
        damages=tuple(damages),
    )


def written(atlas: Atlas, trace: Trace, attention: str, layer: int, head: int, variant: str, scope: str) -> str:
    """What the model writes greedily for the same source when it is wrong in this scope."""
    changes = edits(atlas.config, variant, scope, attention, layer, head)
    hypothesis = freely(atlas, trace, changes, cached=variant in ("unscaled", "d_model"))
    return atlas.said(trace.source_text, hypothesis.ids)


def origin(atlas: Atlas, trace: Trace, attention: str, head: int) -> tuple[Int[Tensor, " query"], Int[Tensor, " query"]]:
    """Of each query row of a head that was cut by a plain reshape: whose query it is (position), and of which head."""
    length = len(trace.tokens("source" if attention.startswith("encoder") else "target"))
    positions, heads = what_if.reshape_origin(atlas.config.num_heads, length)
    return positions[head], heads[head]


@dataclass(frozen=True)
class Drawn:
    """Scores of drawn vectors, no model's: entries independent, mean 0, variance 1. `largest` are mean largest weights."""

    head_dim: int
    variance_raw: float
    variance_scaled: float
    largest_raw: float
    largest_scaled: float


@cache
def drawn(head_dim: int, queries: int = 500, keys: int = 8, seed: int = 1) -> Drawn:
    """Why the root of d_k: the dot product of two such vectors has variance d_k (Vaswani et al. 2017, note 4)."""
    generator = torch.Generator().manual_seed(seed)
    query = torch.randn(1, queries, 1, head_dim, generator=generator, dtype=torch.float64)
    key = torch.randn(1, queries, keys, head_dim, generator=generator, dtype=torch.float64)
    raw, scaled = (scaled_products(query, key, scale) for scale in (1.0, head_dim**-0.5))
    return Drawn(
        head_dim,
        float(raw.var()),
        float(scaled.var()),
        float(raw.softmax(dim=-1).amax(dim=-1).mean()),
        float(scaled.softmax(dim=-1).amax(dim=-1).mean()),
    )


def _everywhere(config: ModelConfig) -> tuple[str, ...]:
    names = _DECODER[:1] if config.family == "decoder-only" else _DECODER
    encoder = (f"encoder.layers.{layer}.self_attention" for layer in range(config.encoder_layers))
    decoder = (f"decoder.layers.{layer}.{name}" for layer in range(config.decoder_layers) for name in names)
    return (*encoder, *decoder)


_DECODER = ("self_attention", "cross_attention")


def _spread(masked: Tensor) -> float:
    """The standard deviation of the scores that are not masked."""
    allowed = masked[masked > -math.inf]
    return float(allowed.std(correction=0))


def _share_changed(before: Tensor, after: Tensor) -> float:
    return float((before != after).double().mean())
