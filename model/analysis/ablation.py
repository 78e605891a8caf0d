"""Heads switched off, one or many, and what the same translation loses by it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis import what_if
from model.analysis.head_scores import ATTENTIONS, paths_of
from model.analysis.steps import path_of
from model.trace import Edit, Trace, tracing
from model.translator import Atlas

How = Literal["zero", "mean", "uniform"]
HOWS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True, order=True)
class Head:
    """A head of one of the three attentions, counted from 0."""

    attention: str  # "decoder.cross_attention"
    layer: int
    head: int

    @property
    def path(self) -> str:
        """The path of the attention it belongs to, decoder.layers.0.cross_attention."""
        return path_of(self.attention, self.layer)


@dataclass(frozen=True)
class Effect:
    """The same produced tokens in the changed model: their log-probabilities, and the mean loss before and after (nats)."""

    log_probabilities: tuple[float, ...]
    before: float
    after: float

    @property
    def change(self) -> float:
        """How much the loss of a token rises on average."""
        return self.after - self.before


def every_head(trace: Trace) -> tuple[Head, ...]:
    """All heads of the three attentions, or of the one that a language model has, in the order of the page."""
    return tuple(
        Head(attention, layer, head)
        for attention in ATTENTIONS
        for layer, path in enumerate(paths_of(trace, attention))
        for head in range(trace[f"{path}.weights"].size("head"))
    )


def edits(trace: Trace, heads: Iterable[Head], how: How) -> dict[str, Edit]:
    """The edits that switch these heads off.

    `zero`: they add nothing. `uniform`: they read all allowed keys alike. `mean`: each row gets the mean of the head's
    contexts over all rows of this trace, one vector for all, so that what the head adds no longer depends on the row.
    """
    by_path: dict[str, list[int]] = {}
    for head in heads:
        by_path.setdefault(head.path, []).append(head.head)
    found: dict[str, Edit] = {}
    for path, chosen in by_path.items():
        if how == "zero":
            found |= what_if.without_head(f"{path}.weights", *chosen)
        elif how == "uniform":
            found |= what_if.even_head(f"{path}.weights", *chosen)
        else:
            context = trace[f"{path}.context"].tensor[0]
            found |= what_if.constant_head(f"{path}.context", {head: context[head].mean(dim=0) for head in chosen})
    return found


def log_probabilities(atlas: Atlas, trace: Trace, changes: Mapping[str, Edit]) -> tuple[float, ...]:
    """The log-probability of each produced token of the trace in the changed model; nothing else is recorded."""
    with torch.inference_mode(), tracing(edits=changes, only=frozenset()):
        logits = atlas.forced(*inputs(atlas, trace))
    return tuple(chosen(logits, trace)[0].tolist())


def inputs(atlas: Atlas, trace: Trace, copies: int = 1) -> tuple[Tensor, Tensor]:
    """The ids that encoder and decoder read, so many times."""
    return tuple(  # type: ignore[return-value]
        torch.tensor([[token.id for token in tokens]], device=atlas.device).expand(copies, -1)
        for tokens in (trace.source, trace.target)
    )


def chosen(logits: Float[Tensor, "batch target vocab"], trace: Trace) -> Float[Tensor, "batch target"]:
    """The log-probability of each produced token, from the logits of a forced pass."""
    ids = torch.tensor([token.id for token in trace.produced], device=logits.device)
    taken = logits.gather(2, ids.expand(logits.shape[0], -1)[..., None])[..., 0]
    return taken.double() - logits.logsumexp(dim=-1).double()


def switch_off(atlas: Atlas, trace: Trace, heads: tuple[Head, ...], how: How) -> Effect:
    """What the same produced tokens lose when these heads are off."""
    return _effect(trace, log_probabilities(atlas, trace, edits(trace, heads, how)))


def importance(atlas: Atlas, trace: Trace, how: How) -> dict[Head, Effect]:
    """Every head off, one at a time: a forced pass each."""
    return {head: switch_off(atlas, trace, (head,), how) for head in every_head(trace)}


def as_one_head(atlas: Atlas, trace: Trace, attention: str) -> Effect:
    """Every layer of one attention reads with one head of the whole width, made of the same matrices."""
    return _effect(trace, log_probabilities(atlas, trace, what_if.one_head(paths_of(trace, attention))))


def rewritten(atlas: Atlas, trace: Trace, heads: tuple[Head, ...], how: How) -> str:
    """What the changed model writes itself, greedily, for the source of the trace or after its prompt."""
    with tracing(edits=edits(trace, heads, how), only=frozenset()):
        written = atlas.write(trace.source_text)
    return atlas.said(trace.source_text, [token.id for token in written.produced])


def _effect(trace: Trace, after: tuple[float, ...]) -> Effect:
    count = len(trace.produced)
    return Effect(after, -sum(trace.log_probabilities) / count, -sum(after) / count)
