"""Sentences of unequal length in one batch: padded, computed together, and compared with each of them alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.what_if import weight_paths
from model.attention_mask import both, causal
from model.tokenizer import Token, special
from model.trace import Trace, tracing
from model.translator import Translator

SIDES = ("right", "left")
Item = TypeVar("Item")


@dataclass(frozen=True)
class Padded:
    """A batch of sentences under one attention: `tokens` of each, padding included; sentence 0 is that of the trace.

    `real` is False at padding. `mask` says who may attend to whom (True = may attend), `weights` are those of one head, `alone`
    those of the same head for each sentence without the others. `differences` holds for each sentence the largest change of
    any weight of a real query and a real key, over all layers and heads; `lost` the largest mass that one of its queries puts
    on padding.
    """

    tokens: tuple[tuple[Token, ...], ...]
    real: Bool[Tensor, "sentence token"]
    mask: Bool[Tensor, "sentence query key"]
    weights: Float[Tensor, "sentence query key"]
    alone: tuple[Tensor, ...]
    differences: tuple[float, ...]
    lost: tuple[float, ...]


def companions(atlas: Translator, trace: Trace, candidates: Sequence[str]) -> tuple[str, ...]:
    """Two of the candidates: the longest shorter than the trace's source, and the shortest longer one, if there are."""
    lengths = {text: len(atlas.source_tokens(text)) for text in candidates if text.strip()}
    own = len(trace.source)
    shorter = sorted((text for text, length in lengths.items() if length < own), key=lambda text: -lengths[text])
    longer = sorted((text for text, length in lengths.items() if length > own), key=lengths.__getitem__)
    found = [*shorter[:1], *longer[:1]]
    more = [text for text in (*shorter[1:], *longer[1:]) if text not in found]
    return tuple((*found, *more)[:2])


def padded(
    atlas: Translator,
    trace: Trace,
    others: tuple[str, ...],
    attention: str,
    layer: int,
    head: int,
    side: str = "right",
    masked: bool = True,
) -> Padded:
    """The trace's sentence and others in one forced pass; `attention` is "encoder.self_attention" or "decoder.self_attention".

    The others are read with their own greedy translations. With `masked` False nobody tells the model where padding is, as in
    a program that forgets the padding mask (then positions count from the padding too).
    """
    traces = (trace, *(atlas.trace(text) for text in others))
    ours = "source" if attention.startswith("encoder") else "target"
    ids = {name: [[token.id for token in one.tokens(name)] for one in traces] for name in ("source", "target")}
    batch = {name: _batch(atlas, lists, side) for name, lists in ids.items()}
    real = {name: _batch(atlas, [[1] * len(list_) for list_ in lists], side, filler=0).bool() for name, lists in ids.items()}
    layers = atlas.config.encoder_layers if ours == "source" else atlas.config.decoder_layers
    paths = weight_paths(attention, layers)
    given = (real["source"], real["target"]) if masked else (None, None)
    with torch.inference_mode(), tracing(only=frozenset(paths)) as recording:
        atlas.model(batch["source"], batch["target"], *given)
    together = torch.stack([recording[path].tensor for path in paths])
    alone = [torch.stack([one[path].tensor[0] for path in paths]) for one in traces]
    return Padded(
        tokens=tuple(_tokens(one.tokens(ours), real[ours].shape[1], side, atlas) for one in traces),
        real=real[ours],
        mask=_mask(real[ours], ours, masked),
        weights=together[layer, :, head],
        alone=tuple(maps[layer, head] for maps in alone),
        differences=tuple(
            float((_real_cells(together[:, at], real[ours][at]) - maps).abs().max()) for at, maps in enumerate(alone)
        ),
        lost=tuple(float(together[:, at][:, :, row][..., ~row].sum(-1).max()) for at, row in enumerate(real[ours])),
    )


def row_without_key(mask: Bool[Tensor, "*sentence query key"]) -> Bool[Tensor, "*sentence query"]:
    """Which queries may attend to nothing at all."""
    return ~mask.any(dim=-1)


def _batch(atlas: Translator, lists: Sequence[Sequence[int]], side: str, filler: int | None = None) -> Tensor:
    if side not in SIDES:
        raise ValueError(f"side={side!r} is not known; choose one of {', '.join(SIDES)}")
    longest = max(map(len, lists))
    filler = atlas.config.padding if filler is None else filler
    rows = [_filled_up(list(ids), longest, side, filler) for ids in lists]
    return torch.tensor(rows, device=atlas.device)


def _filled_up(items: Sequence[Item], length: int, side: str, filler: Item) -> list[Item]:
    missing = [filler] * (length - len(items))
    return [*items, *missing] if side == "right" else [*missing, *items]


def _tokens(tokens: tuple[Token, ...], length: int, side: str, atlas: Translator) -> tuple[Token, ...]:
    return tuple(_filled_up(tokens, length, side, special(atlas.config.padding)))


def _mask(real: Bool[Tensor, "sentence token"], ours: str, masked: bool) -> Bool[Tensor, "sentence query key"]:
    """The mask that the model made of `real`: keys that are padding, and in the decoder also what lies ahead."""
    keys = real[:, None, :] if masked else torch.ones_like(real)[:, None, :]
    length = real.shape[1]
    ahead = causal(length, device=real.device) if ours == "target" else torch.ones(length, length, dtype=torch.bool)
    return both(ahead.to(real.device), keys)


def _real_cells(maps: Float[Tensor, "layer head query key"], real: Bool[Tensor, " token"]) -> Tensor:
    return maps[:, :, real][..., real]
