"""A model under a mask that somebody painted: new weights, what becomes of the translation, what would be written instead."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis import masking
from model.analysis.forced import freely, leak, repeated
from model.analysis.what_if import masked_with
from model.attention_mask import causal
from model.decoding import length_limit
from model.tokenizer import Token
from model.trace import Edit, Trace
from model.translator import Translator

ATTENTIONS = ("decoder.self_attention", "encoder.self_attention")


@dataclass(frozen=True)
class Painted:
    """One attention under a painted mask, beside itself under the model's own.

    `before` and `after` are the weights of the chosen head, `log_probabilities` those of the trace's produced tokens under the
    painted mask, `likeliest` the token that each row now finds likeliest and `likeliest_before` the one that it found before.
    `future` is how much a later token changes an earlier row's logits: 0 where nobody sees ahead.
    """

    mask: Bool[Tensor, "query key"]
    before: Float[Tensor, "query key"]
    after: Float[Tensor, "query key"]
    log_probabilities: tuple[float, ...]
    likeliest_before: tuple[Token, ...]
    likeliest: tuple[Token, ...]
    future: float


@dataclass(frozen=True)
class Written:
    """A translation that an edited model wrote by itself, and whether it came to an end before the limit."""

    text: str
    ended: bool


def own_mask(attention: str, length: int) -> Bool[Tensor, "query key"]:
    """The model's own mask of a self-attention, without padding: causal in the decoder, everything in the encoder."""
    return causal(length) if attention.startswith("decoder") else torch.ones(length, length, dtype=torch.bool)


def painted(
    atlas: Translator,
    trace: Trace,
    attention: str,
    layer: int,
    head: int,
    link: str,
    scope: str = "all",
) -> Painted:
    """The forced pass under the mask of a link, in this self-attention: in "all" layers, this "layer", or this "head" alone."""
    path = f"{attention.replace('.', f'.layers.{layer}.')}.weights"
    edits = edited(atlas, attention, layer, head, link, scope, trace[path].size("key"))
    altered = repeated(atlas, trace, edits, frozenset((path, "logits")))
    edits = edited(atlas, attention, layer, head, link, scope, trace[path].size("key"))
    return Painted(
        mask=masking.fitted(masking.from_link(link), own_mask(attention, trace[path].size("key"))),
        before=trace[path].tensor[0, head],
        after=altered[path].tensor[0, head],
        log_probabilities=altered.log_probabilities,
        likeliest_before=_likeliest(atlas, trace),
        likeliest=_likeliest(atlas, altered),
        future=leak(atlas, trace, edits),
    )


def written(atlas: Translator, trace: Trace, attention: str, layer: int, head: int, link: str, scope: str = "all") -> Written:
    """What the model writes by itself under this mask. Each step computes all rows anew: earlier rows may see later ones."""
    length = max(length_limit(len(trace.source)), len(trace.source)) + 1
    found = freely(atlas, trace, edited(atlas, attention, layer, head, link, scope, length), cached=False)
    return Written(atlas.tokenizers.target.decode(found.ids), found.ended)


def edited(atlas: Translator, attention: str, layer: int, head: int, link: str, scope: str, length: int) -> Mapping[str, Edit]:
    """The edits that put the mask of a link on; `length` is that of the longest sentence to come."""
    if attention not in ATTENTIONS:
        raise ValueError(f"attention={attention!r} takes no painted mask; choose one of {', '.join(ATTENTIONS)}")
    layers = atlas.config.encoder_layers if attention.startswith("encoder") else atlas.config.decoder_layers
    which = range(layers) if scope == "all" else (layer,)
    mask = masking.fitted(masking.from_link(link), own_mask(attention, length))
    paths = [attention.replace(".", f".layers.{index}.") for index in which]
    return masked_with(paths, mask, head=head if scope == "head" else None)


def _likeliest(atlas: Translator, trace: Trace) -> tuple[Token, ...]:
    ids = trace["logits"].tensor[0].argmax(dim=-1).tolist()
    return tuple(atlas.tokenizers.target.produced([id_])[0] for id_ in ids)
