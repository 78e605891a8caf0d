"""Targets for sources that came alone: the model writes them."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import torch

from model.alignment.formats.pairs import Pair
from model.decoding import greedy, tokens_allowed
from model.tokenizer import END, PADDING
from model.translator import Translator

SOURCE_TOKENS, WINDOW, FIRST_WINDOW = 256, 512, 8  # of a batch, of what is sorted by length, and of what is sorted first


def translate_missing(
    atlas: Translator,
    sources: Iterable[str],
    batch_tokens: int = SOURCE_TOKENS,
    window: int = WINDOW,
    between: Callable[[], None] = lambda: None,
    first_window: int = FIRST_WINDOW,
) -> Iterator[Pair]:
    """Each source with its greedy translation, in order; the target is empty where there is no source, or one that is too long.

    Batches hold at most `batch_tokens` source tokens; windows begin small, so that results show at once. `between` is
    called after every batch; what it raises ends the work.
    """
    rows = iter(sources)
    size = min(first_window, window)
    while block := list(itertools.islice(rows, size)):
        targets = [""] * len(block)
        ids = [(*given, END) for given in atlas.tokenizers.source.ids(block)]
        for batch in _batches(ids, batch_tokens, atlas.config.max_length):
            for index, text in zip(batch, _written(atlas, [ids[index] for index in batch]), strict=True):
                targets[index] = text
            between()
        yield from map(Pair, block, targets)
        size = min(2 * size, window)


def _batches(ids: Sequence[Sequence[int]], tokens: int, longest: int) -> Iterator[list[int]]:
    """Sources of similar length; not those without tokens, nor those of more than the model takes."""
    fine = [index for index, one in enumerate(ids) if 1 < len(one) <= longest]
    batch: list[int] = []
    for index in sorted(fine, key=lambda index: len(ids[index])):
        if batch and (len(batch) + 1) * len(ids[index]) > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _written(atlas: Translator, ids: Sequence[Sequence[int]]) -> Iterator[str]:
    longest = max(map(len, ids))
    source = torch.tensor([[*one, *[PADDING] * (longest - len(one))] for one in ids], device=atlas.device)
    mask = source != PADDING
    for one, hypothesis in zip(ids, greedy(atlas.model, source, None if bool(mask.all()) else mask), strict=True):
        # An output without an end stops where it would have stopped alone: the limit goes by the length of the source.
        yield atlas.tokenizers.target.decode(hypothesis.ids[: tokens_allowed(None, len(one), atlas.config)])
