"""Targets for sources that came alone: the model writes them."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import torch

from model.alignment.formats.pairs import Pair
from model.decoding import greedy, tokens_allowed
from model.translator import TextError, Translator

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
        ids = [_read(atlas, source) for source in block]
        for batch in _batches(ids, batch_tokens):
            for index, text in zip(batch, _written(atlas, [ids[index] for index in batch]), strict=True):
                targets[index] = text
            between()
        yield from map(Pair, block, targets)
        size = min(2 * size, window)


def _read(atlas: Translator, source: str) -> tuple[int, ...]:
    """The ids that the encoder reads; none where there is no text, or one that is too long."""
    try:
        return tuple(token.id for token in atlas.source_tokens(source))
    except TextError:
        return ()


def _batches(ids: Sequence[Sequence[int]], tokens: int) -> Iterator[list[int]]:
    """Sources of similar length; not those without tokens."""
    fine = [index for index, one in enumerate(ids) if one]
    batch: list[int] = []
    for index in sorted(fine, key=lambda index: len(ids[index])):
        if batch and (len(batch) + 1) * len(ids[index]) > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _written(atlas: Translator, ids: Sequence[Sequence[int]]) -> Iterator[str]:
    lengths, filler = [len(one) for one in ids], atlas.config.padding
    longest = max(lengths)
    source = torch.tensor([[*one, *[filler] * (longest - len(one))] for one in ids], device=atlas.device)
    mask = torch.arange(longest, device=atlas.device) < torch.tensor(lengths, device=atlas.device)[:, None]
    for one, hypothesis in zip(ids, greedy(atlas.model, source, None if bool(mask.all()) else mask), strict=True):
        # An output without an end stops where it would have stopped alone: the limit goes by the length of the source.
        yield atlas.tokenizers.target.decode(hypothesis.ids[: tokens_allowed(None, len(one), atlas.config)])
