"""Positions inside the real model: products with words added, scores in words and positions, and adding beside concatenating.

For models that add sinusoidal positions to embeddings and normalise after each sublayer, so that the first attention of
the encoder reads the sum itself: W (x + p) = W x + W p.
"""

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from model import cost
from model.analysis.positions import Offsets, offsets, products
from model.attention import MultiHeadAttention
from model.config import ModelConfig
from model.tokenizer import Token
from model.trace import Trace
from model.translator import Atlas, Translator

PATH = "encoder.layers.0.self_attention"


def reads_the_sum(config: ModelConfig) -> bool:
    """Whether the first attention of the encoder reads embedding plus position as they are."""
    return config.family == "encoder-decoder" and config.positions == "sinusoidal" and config.norm == "post"


def sentence(trace: Trace) -> tuple[Token, ...]:
    """The tokens whose positions are looked at: those of the source; of a decoder-only model all that it read."""
    return trace.source or trace.target


def positions_of(trace: Trace) -> Float[Tensor, "token d_model"]:
    """The positions that were added to the source, as recorded."""
    return trace["source.position"].tensor[0]


def products_with_words(atlas: Atlas, trace: Trace) -> Float[Tensor, "token token"]:
    """(x_p + PE(p)) . (x_q + PE(q)) for all tokens of the source, in float64: what enters the encoder, before any weight."""
    entering = trace["source.embedding"].tensor[0].double() + positions_of(trace).double()
    return entering @ entering.T


def products_by_offset(atlas: Atlas, trace: Trace) -> dict[str, Offsets]:
    """Dot products of positions "alone", and with "words" where the model adds positions to them: what the offset decides."""
    found = {"alone": offsets(products(len(sentence(trace)), atlas.config.d_model))}
    if "source.position" in trace:
        found["words"] = offsets(products_with_words(atlas, trace))
    return found


def scores_by_offset(atlas: Translator, trace: Trace, head: int) -> dict[str, Offsets]:
    """The same for the scores of a head: of "positions" through W_Q and W_K, and the "scores" of words and positions."""
    parts = score_parts(atlas, trace, head)
    return {"positions": offsets(parts.positions), "scores": offsets(parts.scores)}


@dataclass(frozen=True)
class ScoreParts:
    """The scores of one head of the encoder's first layer as four sums: who asks (query) with what, and who answers (key).

    `words`: word asks word (biases count as words); `word_position`: word asks position; `position_word`; `positions`:
    position asks position. `scores` is what the model recorded, `error` the largest difference of the four together from it.
    """

    words: Float[Tensor, "query key"]
    word_position: Float[Tensor, "query key"]
    position_word: Float[Tensor, "query key"]
    positions: Float[Tensor, "query key"]
    scores: Float[Tensor, "query key"]
    error: float

    @property
    def all(self) -> tuple[Tensor, ...]:
        """The four parts."""
        return (self.words, self.word_position, self.position_word, self.positions)

    @property
    def top(self) -> float:
        """The largest absolute number of the parts and their sum: one scale for all five."""
        return max(float(part.abs().max()) for part in (*self.all, self.scores))


def score_parts(atlas: Translator, trace: Trace, head: int) -> ScoreParts:
    """q . k / sqrt(head_dim) with q = (W_Q x + b_Q) + W_Q p and k = (W_K x + b_K) + W_K p; parts in float64."""
    attention = _first(atlas)
    query_word, query_position = _projected(attention, attention.to_query, trace, head)
    key_word, key_position = _projected(attention, attention.to_key, trace, head)
    scale = 1 / math.sqrt(attention.head_dim)
    words, word_position, position_word, positions = (
        query @ key.T * scale for query in (query_word, query_position) for key in (key_word, key_position)
    )
    scores = trace[f"{PATH}.scores"].tensor[0, head]
    together = words + word_position + position_word + positions
    return ScoreParts(words, word_position, position_word, positions, scores, float((together - scores.double()).abs().max()))


@dataclass(frozen=True)
class QueryParts:
    """The queries of one head of the encoder's first layer: W_Q x + W_Q p + b_Q, and what the model recorded.

    `error_sum` is the largest difference of the sum from the record, `error_concatenated` that of [x ; p] times W_Q beside a
    second W_Q (two tied projections of the concatenation).
    """

    word: Float[Tensor, "query head_dim"]
    position: Float[Tensor, "query head_dim"]
    bias: Float[Tensor, "1 head_dim"]
    query: Float[Tensor, "query head_dim"]
    error_sum: float
    error_concatenated: float

    @property
    def top(self) -> float:
        """One scale for all."""
        return max(float(part.abs().max()) for part in (self.word, self.position, self.bias, self.query))


def query_parts(atlas: Translator, trace: Trace, head: int) -> QueryParts:
    """Adding positions is concatenating them with both blocks of the projection the same; parts in float64."""
    attention = _first(atlas)
    rows = slice(head * attention.head_dim, (head + 1) * attention.head_dim)
    weight = attention.to_query.weight.detach().double()[rows]
    bias = torch.zeros(1, attention.head_dim, dtype=torch.float64)
    if attention.to_query.bias is not None:
        bias = attention.to_query.bias.detach().double()[None, rows]
    x, p = trace["source.embedding"].tensor[0].double(), positions_of(trace).double()
    word, position = x @ weight.T, p @ weight.T
    query = trace[f"{PATH}.query"].tensor[0, head]
    concatenated = torch.cat((x, p), dim=-1) @ torch.cat((weight, weight), dim=-1).T + bias
    return QueryParts(
        word,
        position,
        bias,
        query,
        error_sum=float((word + position + bias - query.double()).abs().max()),
        error_concatenated=float((concatenated - query.double()).abs().max()),
    )


def _first(atlas: Translator) -> MultiHeadAttention:
    if not reads_the_sum(atlas.config):
        raise ValueError(
            f"family={atlas.config.family!r}, positions={atlas.config.positions!r}, norm={atlas.config.norm!r}: no encoder reads "
            "the sum of embedding and position in its first attention; needed are 'encoder-decoder', 'sinusoidal' and 'post'"
        )
    attention: MultiHeadAttention = atlas.model.get_submodule(PATH)  # type: ignore[assignment]
    return attention


def _projected(attention: MultiHeadAttention, projection: torch.nn.Linear, trace: Trace, head: int) -> tuple[Tensor, Tensor]:
    """The projections of words (with the bias) and of positions (without), for one head."""
    weight = projection.weight.detach().double()
    word = trace["source.embedding"].tensor[0].double() @ weight.T
    if projection.bias is not None:
        word = word + projection.bias.detach().double()
    position = positions_of(trace).double() @ weight.T
    return attention.split(word[None])[0, head], attention.split(position[None])[0, head]


@dataclass(frozen=True)
class Combining:
    """What a way to combine word and position makes of a model: its width, its parameters, the operations of one pair."""

    width: int
    parameters: int
    flops: int


def combining(config: ModelConfig, source: int, target: int) -> dict[str, Combining]:
    """`added`: the model as it is. `concatenated`: word and position side by side, so that all after it is twice as wide.

    The wider model has twice the d_model and d_ff and the same heads, and is counted like any model of that width.
    """
    wide = replace(config, d_model=2 * config.d_model, d_ff=2 * config.d_ff)
    return {
        name: Combining(kind.d_model, cost.parameters(kind), cost.flops(kind, source, target))
        for name, kind in (("added", config), ("concatenated", wide))
    }
