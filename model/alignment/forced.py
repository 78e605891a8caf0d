"""Forced passes over many pairs at once: the weights between their words, and how likely the model finds the targets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from model.alignment import norms, words
from model.alignment.extract import BatchWeights, Labels, join_batch, with_mean
from model.alignment.formats.problem import Message
from model.attention import MultiHeadAttention
from model.tokenizer import Token
from model.trace import Activation, tracing
from model.translator import TextError, Translator

Measure = Literal["weights", "norms"]
MEASURES: tuple[Measure, ...] = get_args(Measure)


def measures_of(atlas: Translator) -> tuple[Measure, ...]:
    """Those that this model has: norms need its W_O as a module of ours."""
    return MEASURES if atlas.ours else MEASURES[:1]


@dataclass(frozen=True)
class Prepared:
    """One pair as the model reads it: the ids that encoder and decoder read and that each row of the decoder produces, special
    ones included, and the words that they belong to.
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    produced: tuple[int, ...]
    labels: Labels
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]


def prepare(
    atlas: Translator,
    source: str,
    target: str,
    split_punctuation: bool,
    names: tuple[str, str] = ("source", "target"),
) -> Prepared | Message:
    """Both texts in tokens and words; a message that calls the sides by `names` where the model cannot take one of them."""
    texts, tokenizers = (source, target), (atlas.tokenizers.source, atlas.tokenizers.target)
    spans = [words.split(text, split_punctuation) for text in texts]
    read = _tokens(atlas, source, target)
    for side, name in enumerate(names):
        if not spans[side] or (read == side and not tokenizers[side].encode(texts[side])):
            return Message.of(f"empty_{name}")
    if isinstance(read, int):
        given = len(tokenizers[read].encode(texts[read])) + 1  # a special token takes a place as well
        return Message.of(f"{names[read]}_too_long", given=given, limit=atlas.config.max_length, model=atlas.name)
    if all(token.special for token in read[2]):
        return Message.of(f"empty_{names[1]}")
    source_words, target_words = (
        tuple(text[start:end] for start, end in found) for text, found in zip(texts, spans, strict=True)
    )
    of_source, *of_target = (words.indices(tokens, spans[side]) for tokens, side in zip(read, (0, 1, 1), strict=True))
    labels = Labels(of_source, of_target[1], of_target[0], len(source_words), len(target_words))
    source_ids, target_ids, produced_ids = (tuple(token.id for token in tokens) for tokens in read)
    return Prepared(source_ids, target_ids, produced_ids, labels, source_words, target_words)


def _tokens(atlas: Translator, source: str, target: str) -> tuple[tuple[Token, ...], tuple[Token, ...], tuple[Token, ...]] | int:
    """What encoder and decoder read and what the decoder's rows produce, or which side is too long for the model: 0 or 1."""
    try:
        read = atlas.source_tokens(source)
    except TextError:
        return 0
    try:
        return read, *atlas.target_rows(target)
    except TextError:
        return 1


def batches(pairs: Sequence[Prepared], tokens: int) -> Iterator[list[int]]:
    """Which pairs are computed together: of similar length, with at most so many tokens of both sides, padding counted."""
    order = sorted(range(len(pairs)), key=lambda index: (len(pairs[index].target), len(pairs[index].source)))
    batch: list[int] = []
    source = target = 0
    for index in order:
        wider = max(source, len(pairs[index].source)), max(target, len(pairs[index].target))
        if batch and (len(batch) + 1) * sum(wider) > tokens:
            yield batch
            batch, wider = [], (len(pairs[index].source), len(pairs[index].target))
        batch.append(index)
        source, target = wider
    if batch:
        yield batch


def forced(atlas: Translator, pairs: Sequence[Prepared], measure: Measure) -> tuple[BatchWeights, list[float]]:
    """One forced pass: the weights of every layer, head and row, and the mean log-probability (nats) of each pair's tokens.

    Only cross-attention is recorded. Padding stands at the end and is masked: it changes nothing in any pair.
    """
    source, source_mask = _padded(atlas, [pair.source for pair in pairs])
    target, target_mask = _padded(atlas, [pair.target for pair in pairs])
    produced, rows = _padded(atlas, [pair.produced for pair in pairs])
    paths = cross_attentions(atlas)
    kept = ("weights",) if measure == "weights" else ("weights", "value")
    with torch.inference_mode(), tracing(only=frozenset(f"{path}.{name}" for path in paths for name in kept)) as recording:
        logits = atlas.forced(source, target, source_mask, target_mask)
        chosen = logits.gather(2, produced[:, :, None])[:, :, 0] - logits.logsumexp(dim=-1)
        means = (chosen * rows).sum(dim=1) / rows.sum(dim=1) if rows is not None else chosen.mean(dim=1)
        weights = measured(atlas, recording.activations, measure)
        return join_batch(weights, [pair.labels for pair in pairs]), means.tolist()


def measured(
    atlas: Translator, recorded: Mapping[str, Activation], measure: Measure
) -> Float[Tensor, "layer batch one_more query key"]:
    """The cross-attention of every layer in what a forced pass recorded: all heads, and all of them together as the last."""
    paths = cross_attentions(atlas)
    if measure == "weights":
        return with_mean(torch.stack([recorded[f"{path}.weights"].tensor for path in paths]))
    layers = []
    for path in paths:
        attention = atlas.model.get_submodule(path)
        assert isinstance(attention, MultiHeadAttention)
        weights, value = (recorded[f"{path}.{name}"].tensor for name in ("weights", "value"))
        layers.append(norms.of_heads_and_together(attention, weights, value))
    return torch.stack(layers)


def cross_attentions(atlas: Translator) -> list[str]:
    """The path of each decoder layer's cross-attention, the first layer first."""
    return [f"decoder.layers.{layer}.cross_attention" for layer in range(atlas.config.decoder_layers)]


def _padded(atlas: Translator, ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor | None]:
    """The ids of equally long rows, padded at the end, and a mask that is False at padding; None where there is none."""
    lengths, device, filler = [len(row) for row in ids], atlas.device, atlas.config.padding
    longest = max(lengths)
    padded = torch.tensor([[*row, *[filler] * (longest - len(row))] for row in ids], device=device)
    if min(lengths) == longest:
        return padded, None
    return padded, torch.arange(longest, device=device) < torch.tensor(lengths, device=device)[:, None]
