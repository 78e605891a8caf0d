"""Sentences of unequal length in one batch: padded, computed together, and compared with each of them alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.what_if import weight_paths
from model.attention_mask import both, causal
from model.tokenizer import Token
from model.trace import Trace, tracing
from model.translator import Opened, Reader

SIDES = ("right", "left")
Item = TypeVar("Item")


@dataclass(frozen=True)
class Padded:
    """A batch of sentences under one attention: `tokens` of each, padding included; sentence 0 is that of the trace.

    `real` is False at padding, `masked` says whether the model was told so. `mask` says who may attend to whom (True = may
    attend), `weights` are those of one head, `alone` those of the same head for each sentence without the others.
    `differences` holds for each sentence the largest change of any weight of a real query and a real key, over all layers and
    heads; `lost` the largest mass that one of its queries puts on padding.
    """

    tokens: tuple[tuple[Token, ...], ...]
    real: Bool[Tensor, "sentence token"]
    masked: bool
    mask: Bool[Tensor, "sentence query key"]
    weights: Float[Tensor, "sentence query key"]
    alone: tuple[Tensor, ...]
    differences: tuple[float, ...]
    lost: tuple[float, ...]

    @property
    def lengths(self) -> tuple[int, ...]:
        """The tokens of each sentence that are not padding."""
        return tuple(self.real.sum(-1).tolist())

    @property
    def longest(self) -> int:
        """The length of the batch."""
        return self.real.shape[1]

    @property
    def shortest(self) -> int:
        """The tokens of the shortest sentence."""
        return min(self.lengths)

    def padding_of(self, sentence: int) -> int:
        """How many tokens of a sentence are padding."""
        return self.longest - self.lengths[sentence]

    def empty_rows(self, sentence: int) -> int:
        """How many queries of a sentence may attend to nothing at all."""
        return int(row_without_key(self.mask[sentence]).sum())


def cut_and_doubled(text: str) -> tuple[str, ...]:
    """A shorter text and a longer one, of the words of this one; a single word has no shorter one."""
    words = text.split()
    return tuple(" ".join(chosen) for chosen in (words[: len(words) // 2], words * 2) if chosen)


def companions(atlas: Opened, trace: Trace, candidates: Sequence[str]) -> tuple[str, ...]:
    """The shortest and the longest of the candidates, in source tokens, beside the trace's own sentence."""
    longest = atlas.config.max_length // 2  # what is written of them has to fit as well
    read = {text: len(atlas.tokenizers.source.encode(text)) for text in candidates if text != trace.source_text}
    others = sorted((text for text, length in read.items() if length <= longest), key=read.__getitem__)
    return tuple(dict.fromkeys((*others[:1], *others[-1:])))


def padded(
    atlas: Opened,
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
        if isinstance(atlas, Reader):
            atlas.model(batch["source"], given[0])
        else:
            atlas.forced(batch["source"], batch["target"], *given)
    together = torch.stack([recording[path].tensor for path in paths])
    alone = [torch.stack([one[path].tensor[0] for path in paths]) for one in traces]
    return Padded(
        tokens=tuple(_tokens(one.tokens(ours), real[ours].shape[1], side, atlas) for one in traces),
        real=real[ours],
        masked=masked,
        mask=_mask(real[ours], ours, masked),
        weights=together[layer, :, head],
        alone=tuple(maps[layer, head] for maps in alone),
        differences=tuple(
            float((_real_cells(together[:, at], real[ours][at]) - maps).abs().max()) for at, maps in enumerate(alone)
        ),
        lost=tuple(float(together[:, at][:, :, row][..., ~row].sum(-1).max()) for at, row in enumerate(real[ours])),
    )


def keys_of(found: Padded, sentence: int) -> Bool[Tensor, "query key"]:
    """The padding mask of one sentence, the same keys in every row; all of them where the model was not told of padding."""
    keys = found.real[sentence] if found.masked else torch.ones_like(found.real[sentence])
    return keys[None, :].expand(len(keys), len(keys))


def hidden(found: Padded, sentence: int) -> Bool[Tensor, "query key"]:
    """What is not shown of a sentence's map: keys that may not be read, and the rows of padding, which mean nothing."""
    return ~found.mask[sentence] | ~found.real[sentence][:, None]


def row_without_key(mask: Bool[Tensor, "*sentence query key"]) -> Bool[Tensor, "*sentence query"]:
    """Which queries may attend to nothing at all."""
    return ~mask.any(dim=-1)


def _batch(atlas: Opened, lists: Sequence[Sequence[int]], side: str, filler: int | None = None) -> Tensor:
    if side not in SIDES:
        raise ValueError(f"side={side!r} is not known; choose one of {', '.join(SIDES)}")
    longest = max(map(len, lists))
    filler = atlas.config.padding if filler is None else filler
    rows = [_filled_up(list(ids), longest, side, filler) for ids in lists]
    return torch.tensor(rows, device=next(atlas.model.parameters()).device)


def _filled_up(items: Sequence[Item], length: int, side: str, filler: Item) -> list[Item]:
    missing = [filler] * (length - len(items))
    return [*items, *missing] if side == "right" else [*missing, *items]


def _tokens(tokens: tuple[Token, ...], length: int, side: str, atlas: Opened) -> tuple[Token, ...]:
    (padding,) = atlas.tokenizers.target.produced([atlas.config.padding])
    return tuple(_filled_up(tokens, length, side, padding))


def _mask(real: Bool[Tensor, "sentence token"], ours: str, masked: bool) -> Bool[Tensor, "sentence query key"]:
    """The mask that the model made of `real`: keys that are padding, and in the decoder also what lies ahead."""
    keys = real[:, None, :] if masked else torch.ones_like(real)[:, None, :]
    length = real.shape[1]
    ahead = causal(length, device=real.device) if ours == "target" else torch.ones(length, length, dtype=torch.bool)
    return both(ahead.to(real.device), keys)


def _real_cells(maps: Float[Tensor, "layer head query key"], real: Bool[Tensor, " token"]) -> Tensor:
    return maps[:, :, real][..., real]
