"""Where an attention takes its queries, keys and values from, and how far a map of attention is from a symmetric one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.steps import path_of
from model.attention import MultiHeadAttention
from model.trace import Trace, tracing
from model.translator import Atlas

KEPT = ("key", "value")  # what cross-attention makes of the source

MEMORY = "encoder.output"
"""What the encoder hands over: the output of its last layer, after the Add & Norm (in pre-norm models after the final norm)."""


@dataclass(frozen=True)
class Origin:
    """The recorded tensors that one attention reads: W_Q is applied to `query`, W_K and W_V to `memory`."""

    query: str
    memory: str


def origin(norm: str, attention: str, layer: int) -> Origin:
    """Paths of what goes into `attention` ("decoder.cross_attention") of one layer, in a "post"- or "pre"-norm model.

    A post-norm sublayer reads the stream as it is (it was normalised at the end of the sublayer before); a pre-norm one
    reads it normalised.
    """
    stack, name = attention.split(".")
    around = 1 if name == "cross_attention" else 0
    read = f"{stack}.layers.{layer}.residual.{around}.{'normed' if norm == 'pre' else 'input'}"
    return Origin(read, MEMORY if name == "cross_attention" else read)


def after_self_attention(norm: str, layer: int) -> str:
    """The path of Z: the decoder's stream after its first Add & Norm, from which cross-attention makes its queries."""
    return f"decoder.layers.{layer}.residual.{'1.normed' if norm == 'pre' else '0.normed'}"


@dataclass(frozen=True)
class Check:
    """The largest difference between recorded queries, keys and values and the same projected once more from their origin."""

    query: float
    key: float
    value: float

    @property
    def largest(self) -> float:
        return max(self.query, self.key, self.value)


def check(atlas: Atlas, trace: Trace, attention: str, layer: int) -> Check:
    """Project the recorded origin with this layer's own W_Q, W_K, W_V, and compare with what was recorded."""
    path = path_of(attention, layer)
    module = cast(MultiHeadAttention, atlas.model.get_submodule(path))
    source = origin(atlas.config.norm, attention, layer)
    x, memory = trace[source.query].tensor, trace[source.memory].tensor
    again = {"query": module.to_query(x), "key": module.to_key(memory), "value": module.to_value(memory)}
    return Check(
        **{name: float((module.split(value) - trace[f"{path}.{name}"].tensor).abs().max()) for name, value in again.items()}
    )


def checks(atlas: Atlas, trace: Trace, attentions: Sequence[str]) -> dict[str, Check]:
    """The largest differences over all layers of each attention."""
    layers = {"encoder": atlas.config.encoder_layers, "decoder": atlas.config.decoder_layers}
    found = {}
    for attention in attentions:
        each = [check(atlas, trace, attention, layer) for layer in range(layers[attention.partition(".")[0]])]
        found[attention] = Check(*(max(getattr(one, name) for one in each) for name in ("query", "key", "value")))
    return found


def asymmetry(weights: Float[Tensor, "*heads token token"]) -> Float[Tensor, "*heads"]:
    """How one-sided the pairs are: sum |a_ij - a_ji| over sum (a_ij + a_ji), over i < j.

    0 if every two tokens read each other alike, 1 if each pair is read one way only; a single token has no pair: 0.
    """
    back = weights.mT
    apart, both = (weights - back).abs().triu(1).sum((-2, -1)), (weights + back).triu(1).sum((-2, -1))
    return apart / both.clamp_min(1e-12)


def asymmetries(_atlas: Atlas, trace: Trace, attention: str) -> list[list[float]]:
    """`asymmetry` of every layer and head of a self-attention."""
    stack, name = attention.split(".")
    rows: list[list[float]] = []
    while (path := f"{stack}.layers.{len(rows)}.{name}.weights") in trace:
        rows.append(asymmetry(trace[path].tensor[0].double()).tolist())
    return rows


def most_one_sided(weights: Float[Tensor, "token token"]) -> tuple[int, int]:
    """The pair (i, j) for which a_ij exceeds a_ji most; (0, 0) for a single token."""
    row, column = divmod(int((weights - weights.mT).argmax()), weights.shape[1])
    return row, column


@dataclass(frozen=True)
class Swapped:
    """Cross-attention with its two sides exchanged: the shapes of its map (one head) and of what it returns."""

    weights: tuple[int, int]
    output: tuple[int, int]


def swapped(atlas: Atlas, trace: Trace, layer: int) -> Swapped:
    """Let the memory ask and the decoder answer, by the layer's own cross-attention."""
    path = f"decoder.layers.{layer}.cross_attention"
    module = cast(MultiHeadAttention, atlas.model.get_submodule(path))
    memory, x = trace[MEMORY].tensor, trace[origin(atlas.config.norm, "decoder.cross_attention", layer).query].tensor
    with torch.inference_mode(), tracing() as recording:
        output = module(memory, x)
    weights = recording[f"{path}.weights"].tensor
    return Swapped((weights.shape[2], weights.shape[3]), (output.shape[1], output.shape[2]))


def change_with_target(atlas: Atlas, trace: Trace) -> float:
    """How far the keys and values of cross-attention move when the decoder has read `<s>` alone; the most of all layers.

    0: they are made of the source only, so once a sentence is enough. Queries are new for every row that the decoder reads.
    """
    start = atlas.trace(trace.source_text, "")
    paths = [f"decoder.layers.{layer}.cross_attention.{name}" for layer in range(atlas.config.decoder_layers) for name in KEPT]
    return max(float((trace[path].tensor - start[path].tensor).abs().max()) for path in paths)
