"""Attention of a Hugging Face model, written out as ours is and recorded by the same names.

Every architecture asks transformers for the function that its configuration names, and hands it queries, keys and values; this
one stands there under `NAME`. What is the architecture's own (where positions come in, what scales the scores) arrives with
the call.
"""

import math
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from model.attention import KEY, PAIR, QUERY, softmax_or_zero
from model.trace import Traced

NAME = "attention_atlas"


class Recorder(Traced):
    """Stands beside one attention of theirs, knows its path, and computes it.

    `rotary`: queries and keys arrive turned by their positions. What they were before is recorded by `modules`.
    """

    def __init__(self, path: str, query: str, key: str, rotary: bool) -> None:
        super().__init__()
        self.path, self.spans, self.rotary = path, {"query": query, "key": key, "token": query}, rotary

    def attend(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling: float, bias: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Context (batch, query, head, head_dim) and weights (batch, head, query, key).

        Fewer heads of keys and values than of queries are shared by neighbouring queries; they are recorded once for each head of
        queries. `bias` is added to the scaled scores (T5's relative positions), and is part of what "scores" are; `scaling`,
        which need not be 1 / sqrt(head_dim), is recorded as "scale".
        """
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
        if self.rotary:
            self.record(QUERY, query_rotated=query)
            self.record(KEY, key_rotated=key)
        else:
            query, key = self.tap(QUERY, query=query), self.tap(KEY, key=key)
        value = self.tap(KEY, value=value)
        self.record("", scale=torch.tensor(scaling, dtype=torch.float64))
        scores = query @ key.mT * scaling
        if bias is not None:
            self.record(PAIR, position_bias=bias.expand_as(scores))
            scores = scores + bias
        scores = self.tap(PAIR, scores=scores)
        allowed = None if mask is None else boolean(mask)[..., : key.shape[2]]
        masked = scores if allowed is None else torch.where(allowed, scores, -math.inf)
        weights = self.tap(PAIR, weights=softmax_or_zero(masked, None if allowed is None else allowed[:, 0]))
        context = self.tap(QUERY, context=weights @ value)
        self.record(PAIR, masked=masked)
        return context.transpose(1, 2), weights


def boolean(mask: Tensor) -> Tensor:
    """A mask as True = may attend; one that is added to scores holds 0 there, and elsewhere the lowest number of its kind."""
    return mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2


def attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    position_bias: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """What transformers calls: `module` is the attention it calls from, beside which a `Recorder` stands."""
    recorder: Recorder = module.recorder
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    return recorder.attend(query, key, value, attention_mask, scale, position_bias)


def register() -> None:
    """Tell transformers of `attend` and of the masks that it takes: booleans, or None where every key may be read."""
    transformers: Any = import_module("transformers")
    masks: Any = import_module("transformers.masking_utils")

    def mask(*args: Any, **named: Any) -> Any:
        return masks.sdpa_mask(*args, **{**named, "allow_is_causal_skip": False})

    transformers.AttentionInterface.register(NAME, attend)
    transformers.AttentionMaskInterface.register(NAME, mask)
