"""Wrong and altered variants of attention, as edits for `trace(edits=...)`: the model itself has no flags for them.

Each function takes the paths of weights, `decoder.layers.0.cross_attention.weights`, and returns an edit for each; those
that change more than weights take the paths of attentions, `decoder.layers.0.cross_attention`.
"""

import copy
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model.attention import KeyValueCache, softmax_or_zero
from model.attention_mask import causal
from model.embedding import InputEmbedding
from model.layers import FeedForward, Residual
from model.trace import Edit, Trace
from model.transformer import EncoderDecoder
from model.translator import AnyAtlas, Family

Masking = Callable[[Tensor, Tensor], Tensor]


def weight_paths(attention: str, layers: int) -> tuple[str, ...]:
    """The paths of the weights of one kind of attention, "decoder.cross_attention", in every layer."""
    stack, name = attention.split(".")
    return tuple(f"{stack}.layers.{layer}.{name}.weights" for layer in range(layers))


def read_nothing(paths: Iterable[str]) -> dict[str, Edit]:
    """Every query reads nothing: all weights are 0, every context is 0. What is left of the sublayer is W_O's bias, if any."""
    return dict.fromkeys(paths, torch.zeros_like)


def average_heads(paths: Iterable[str]) -> dict[str, Edit]:
    """Every head reads with the mean of all heads' weights, which is what `nn.MultiheadAttention` returns by default."""
    return dict.fromkeys(paths, lambda weights: weights.mean(dim=1, keepdim=True).expand_as(weights).clone())


def without_head(path: str, *heads: int) -> dict[str, Edit]:
    """These heads read nothing: their weights are 0, so that they add nothing to the layer."""

    def silence(weights: Tensor) -> Tensor:
        silenced = weights.clone()
        silenced[:, list(heads)] = 0
        return silenced

    return {path: silence}


def even_head(path: str, *heads: int) -> dict[str, Edit]:
    """These heads read all keys that they may read alike. (For sentences without padding: only causal attention forbids keys.)"""

    def spread_out(weights: Tensor) -> Tensor:
        queries, keys = weights.shape[-2:]
        future = path.startswith("decoder") and "self_attention" in path
        allowed = causal(queries, keys, weights.device) if future else weights.new_ones(queries, keys)
        altered = weights.clone()
        altered[:, list(heads)] = (allowed / allowed.sum(dim=-1, keepdim=True)).to(weights.dtype)
        return altered

    return {path: spread_out}


def constant_head(path: str, contexts: Mapping[int, Float[Tensor, " head_dim"]]) -> dict[str, Edit]:
    """These heads give every row the same vector, whatever it looks for; `path` ends in context."""

    def hold(context: Tensor) -> Tensor:
        held = context.clone()
        for head, vector in contexts.items():
            held[:, head] = vector.to(context.dtype)
        return held

    return {path: hold}


def one_head(attentions: Iterable[str]) -> dict[str, Edit]:
    """Every head reads with the weights of one head of the whole width, made of the same W_Q and W_K.

    Its product q . k is the sum of the heads' products, divided by sqrt(d_model): the sum of their scores over sqrt(h).
    """

    def as_one(scores: Tensor) -> Tensor:
        return (scores.sum(dim=1, keepdim=True) / math.sqrt(scores.shape[1])).expand_as(scores).clone()

    return {f"{path}.scores": as_one for path in attentions}


def without_source_tokens(attentions: Iterable[str], keys: Int[Tensor, " batch"]) -> dict[str, Edit]:
    """Sentence i of a batch is read without its source token keys[i]: nobody may look at it, in any of these attentions.

    Give every self-attention of the encoder and every cross-attention: then nothing of the token reaches the decoder, and
    all other tokens keep their positions.
    """

    def forbid(scores: Tensor) -> Tensor:
        hidden = torch.arange(scores.shape[-1], device=scores.device) == keys[:, None].to(scores.device)
        return scores.masked_fill(hidden[:, None, None, :], -math.inf)

    return {f"{path}.scores": forbid for path in attentions}


def rescale_scores(attentions: Iterable[str], factor: float, head: int | None = None) -> dict[str, Edit]:
    """Scores multiplied by `factor` once more: sqrt(head_dim) undoes the scaling, sqrt(head_dim / d_model) scales by d_model.

    `attentions` are paths of modules, decoder.layers.0.cross_attention; `head` None edits all heads.
    """
    return {f"{path}.scores": _in_head(lambda scores: scores * factor, head) for path in attentions}


def softmax_over_queries(attentions: Iterable[str], head: int | None = None) -> dict[str, Edit]:
    """Softmax along the wrong axis: each *column* adds up to 1. The causal mask of decoder self-attention is kept.

    Not for cached decoding, which has one query at a time.
    """
    edits: dict[str, Edit] = {}
    for path in attentions:
        kept: list[Tensor] = []  # the scores of the pass that is under way: softmax over another axis needs them

        def keep(scores: Tensor, kept: list[Tensor] = kept) -> Tensor:
            kept[:] = [scores]
            return scores

        def normalise(weights: Tensor, kept: list[Tensor] = kept, causal_attention: bool = _is_causal(path)) -> Tensor:
            (scores,) = kept
            if causal_attention:
                scores = scores.masked_fill(~causal(scores.shape[-2], scores.shape[-1], scores.device), -math.inf)
            return scores.softmax(dim=-2)

        edits |= {f"{path}.scores": keep, f"{path}.weights": _in_head(normalise, head)}
    return edits


def split_by_reshape(attentions: Iterable[str], head: int | None = None) -> dict[str, Edit]:
    """Heads cut by `x.reshape(batch, heads, length, head_dim)`, without the transpose: the right shape, the wrong content.

    Query, key and value are cut so; the heads are merged as they should be. Not for cached decoding: with one token the
    two ways are the same.
    """
    names = ("query", "key", "value")
    return {f"{path}.{name}": _in_head(_reshaped, head) for path in attentions for name in names}


def _reshaped(
    split: Float[Tensor, "batch head token head_dim"],
) -> Float[Tensor, "batch head token head_dim"]:
    """What a plain reshape makes of the projection that was cut rightly into `split`."""
    return split.transpose(1, 2).reshape(split.shape)


def reshape_origin(heads: int, length: int) -> tuple[Int[Tensor, "head token"], Int[Tensor, "head token"]]:
    """Whose numbers stand at each head and row after the plain reshape: their position, and the head they belong to."""
    order = torch.arange(heads * length).view(heads, length)  # blocks of head_dim numbers, in the order of the projection
    return order // heads, order % heads


def _in_head(edit: Edit, head: int | None) -> Edit:
    """The edit for one head only; the others stay as they are."""
    if head is None:
        return edit

    def edited(values: Tensor) -> Tensor:
        made = values.clone()
        made[:, head] = edit(values)[:, head]
        return made

    return edited


def _is_causal(path: str) -> bool:
    return path.startswith("decoder") and path.endswith("self_attention")


def _embeddings(model: nn.Module) -> Iterator[InputEmbedding]:
    return (module for module in model.modules() if isinstance(module, InputEmbedding))


def sharing_weights(atlas: AnyAtlas) -> AnyAtlas:
    """A model of its own with the same weights and no copy of them: its settings may be changed, the original stays as it is."""
    shared = {id(tensor): tensor for tensor in (*atlas.model.parameters(), *atlas.model.buffers())}
    copied: Any = copy.deepcopy(atlas.model, shared)
    return replace(atlas, model=copied)


def without_embedding_scale(atlas: AnyAtlas) -> AnyAtlas:
    """Rows of the table enter as they are, not times sqrt(d_model). The output matrix, which may be the same table, stays."""
    altered = sharing_weights(atlas)
    for embedding in _embeddings(altered.model):
        embedding.scale = 1.0
    return altered


def without_positions(atlas: AnyAtlas, sides: Iterable[str] = ("source", "target")) -> AnyAtlas:
    """No position is added to the embeddings of these sides: without that of the source, the encoder cannot tell the order."""
    altered = sharing_weights(atlas)
    for side in sides:
        if isinstance(embedding := getattr(altered.model, side, None), InputEmbedding):  # a language model has no source
            embedding.positions = None
    return altered


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


# ----- masks: scores and a mask (True = may attend) to weights, rightly and in the ways that leak


def minus_infinity(
    scores: Float[Tensor, "batch head query key"], mask: Bool[Tensor, "#batch query key"]
) -> Float[Tensor, "batch head query key"]:
    """As the model does it: minus infinity before softmax; a row that may read nothing is 0."""
    return softmax_or_zero(torch.where(mask[:, None], scores, -math.inf), mask)


def zero_before(
    scores: Float[Tensor, "batch head query key"], mask: Bool[Tensor, "#batch query key"]
) -> Float[Tensor, "batch head query key"]:
    """Scores times 0 before softmax: a hidden key keeps exp(0) = 1, as if its score were 0."""
    return (scores * mask[:, None]).softmax(dim=-1)


def zero_after(
    scores: Float[Tensor, "batch head query key"], mask: Bool[Tensor, "#batch query key"]
) -> Float[Tensor, "batch head query key"]:
    """Weights times 0 after softmax: nothing leaks, but rows no longer add up to 1."""
    return scores.softmax(dim=-1) * mask[:, None]


def zero_after_renormalised(
    scores: Float[Tensor, "batch head query key"], mask: Bool[Tensor, "#batch query key"]
) -> Float[Tensor, "batch head query key"]:
    """The same, divided by the row's sum again: right until a hidden score is so large that nothing is left; then 0/0, NaN."""
    kept = zero_after(scores, mask)
    return kept / kept.sum(dim=-1, keepdim=True)


def masked_with(
    attentions: Iterable[str], mask: Bool[Tensor, "query key"], masking: Masking = minus_infinity, head: int | None = None
) -> dict[str, Edit]:
    """Self-attention under another mask than the model's own, or with the same one put on in another way.

    `attentions` are paths of modules. The mask may be larger than the sentence: its first rows and columns are taken. Not for
    cached decoding, where earlier rows can no longer change.
    """
    edits: dict[str, Edit] = {}
    for path in attentions:
        kept: list[Tensor] = []  # the scores before any mask, of the pass that is under way

        def keep(scores: Tensor, kept: list[Tensor] = kept) -> Tensor:
            kept[:] = [scores]
            return scores

        def mask_anew(weights: Tensor, kept: list[Tensor] = kept) -> Tensor:
            (scores,) = kept
            return masking(scores, mask[None, : weights.shape[-2], : weights.shape[-1]].to(scores.device))

        edits |= {f"{path}.scores": keep, f"{path}.weights": _in_head(mask_anew, head)}
    return edits


# ----- altered modules: copies of a model in which some modules are of another class


class WithoutResidual(Residual):
    """No way around the sublayer: LN(Sub(x)) in post-norm, Sub(LN(x)) in pre-norm."""

    def forward(
        self, x: Float[Tensor, "batch token d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch token d_model"]:
        normed = self.norm(x) if self.pre_norm else x
        changed = total = sublayer(normed)
        if not self.pre_norm:
            normed = self.norm(total)
        self.record("batch token d_model", input=x, sublayer=changed, sum=total, normed=normed)
        output: Tensor = total if self.pre_norm else normed
        return output


def without_residual(model: Family, *, in_place: bool = False) -> Family:
    """A copy of the model in which nothing is added to what a sublayer puts out; `in_place` alters the model itself."""
    altered = model if in_place else copy.deepcopy(model)
    for module in altered.modules():
        if isinstance(module, Residual):
            module.__class__ = WithoutResidual
    return altered


class SeeingAhead(EncoderDecoder):
    """An encoder-decoder without its causal mask: in a forced pass each row sees the very token that it is asked for."""

    def read_target(
        self, target: Int[Tensor, "batch target"], target_mask: Tensor | None, cache: KeyValueCache | None
    ) -> tuple[Tensor, Tensor | None, Tensor]:
        x, _, positions = super().read_target(target, target_mask, cache)
        return x, None if target_mask is None else target_mask[:, None, :], positions


def alter(model: EncoderDecoder, names: Iterable[str]) -> None:
    """Alter a model itself, to be trained or used so: leave out the embeddings' "scale", the "residual", or the causal "mask"."""
    for name in names:
        if name == "scale":
            for embedding in _embeddings(model):
                embedding.scale = 1.0
        elif name == "residual":
            without_residual(model, in_place=True)
        elif name == "mask":
            model.__class__ = SeeingAhead
        else:
            raise ValueError(f"{name!r} cannot be left out; choose from scale, residual, mask")


def with_activation(model: Family, make: Callable[[], nn.Module]) -> Family:
    """A copy of the model whose feed-forward networks have another non-linearity, or with `nn.Identity` none."""
    altered = copy.deepcopy(model)
    for module in altered.modules():
        if isinstance(module, FeedForward):
            module.activation = make()
    return altered
