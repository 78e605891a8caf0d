"""Links from cross-attention: which source word each target word looked at most.

Row r of the decoder reads one token and produces the next, so a target word owns two sets of rows: those that produced
its pieces and those that read them (Chen et al. 2020). Which layer, head and row aligns best is measured, never
assumed; so all of them are computed at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float, Int16
from torch import Tensor

from model.alignment import words
from model.alignment.pharaoh import Link
from model.trace import Trace

Row = Literal["produced", "read"]
ROWS: tuple[Row, ...] = get_args(Row)


@dataclass(frozen=True, order=True)
class Choice:
    """Where links are taken from: a decoder layer, a head of it (None: the mean of all), and what labels the rows."""

    layer: int
    head: int | None
    row: Row


@dataclass(frozen=True)
class Labels:
    """The words of one pair of sentences: how many there are, and the word of each token that labels a row or a column.

    Indices from `sources` (or `targets`) up belong to special tokens. `produced` and `read` label the same rows.
    """

    source: tuple[int, ...]
    produced: tuple[int, ...]
    read: tuple[int, ...]
    sources: int
    targets: int


@dataclass(frozen=True)
class WordWeights:
    """Cross-attention between words, over layer and head (the last one is the mean of all heads).

    Columns are the source words, after them the special tokens of the source; rows are the target words. A word that no
    token stands for has weight 0 everywhere.
    """

    produced: Float[Tensor, "layer head target column"]
    read: Float[Tensor, "layer head target column"]
    sources: int

    def at(self, choice: Choice) -> Float[Tensor, "target column"]:
        """The map of one choice."""
        maps = self.produced if choice.row == "produced" else self.read
        return maps[choice.layer, -1 if choice.head is None else choice.head]

    def choices(self) -> Iterator[Choice]:
        """Every layer, head (the mean last) and row."""
        layers, heads = self.produced.shape[:2]
        for layer in range(layers):
            for head in (*range(heads - 1), None):
                for row in ROWS:
                    yield Choice(layer, head, row)


def label(trace: Trace, split_punctuation: bool = True) -> Labels:
    """The words of a trace's tokens."""
    source = words.split(trace.source_text, split_punctuation)
    target = words.split(trace.target_text, split_punctuation)
    return Labels(
        words.indices(trace.source, source),
        words.indices(trace.produced, target),
        words.indices(trace.target, target),
        len(source),
        len(target),
    )


def cross_attention(trace: Trace) -> Float[Tensor, "layer head query key"]:
    """The weights of all layers and heads of a trace."""
    layers: list[Tensor] = []
    while (path := f"decoder.layers.{len(layers)}.cross_attention.weights") in trace:
        layers.append(trace[path].tensor[0])
    return torch.stack(layers)


def of_trace(trace: Trace, split_punctuation: bool = True) -> WordWeights:
    """Weights between the words of a trace's two sentences."""
    return of_weights(cross_attention(trace), label(trace, split_punctuation))


def with_mean(weights: Float[Tensor, "layer batch head query key"]) -> Float[Tensor, "layer batch one_more query key"]:
    """The mean over heads added as a last head."""
    return torch.cat([weights, weights.mean(dim=2, keepdim=True)], dim=2)


@dataclass(frozen=True)
class BatchWeights:
    """Weights between the words of a whole batch; beyond the words and columns of a pair they are 0. Rows are those of `ROWS`."""

    maps: Float[Tensor, "batch row target layer head column"]
    labels: Sequence[Labels]

    def each(self) -> list[WordWeights]:
        """The weights of each pair."""
        found = []
        for maps, pair in zip(self.maps, self.labels, strict=True):
            cut = maps[:, : pair.targets, :, :, : _columns(pair)].permute(0, 2, 3, 1, 4)
            found.append(WordWeights(cut[0], cut[1], pair.sources))
        return found

    def best(self) -> Int16[np.ndarray, "batch row target layer head"]:
        """The source word with the largest weight for each target word of every choice; -1 where there is no link."""
        values = self.maps.cpu().numpy()
        best = values.argmax(axis=-1)  # the first of equals
        highest = np.take_along_axis(values, best[..., None], axis=-1)[..., 0]
        sources = np.array([pair.sources for pair in self.labels]).reshape(-1, 1, 1, 1, 1)
        return np.where((highest > 0.0) & (best < sources), best, -1).astype(np.int16)


def join_batch(weights: Float[Tensor, "layer batch head query key"], labels: Sequence[Labels]) -> BatchWeights:
    """Pieces joined to words in all pairs at once, by two products with the matrices that `join_pieces` describes."""
    _, batch, _, queries, keys = weights.shape
    columns, targets = max(map(_columns, labels)), max(pair.targets for pair in labels)
    gather = torch.zeros(batch, keys, columns)
    gather[_places([pair.source for pair in labels], [_columns(pair) for pair in labels])] = 1.0
    mean = torch.zeros(batch, len(ROWS), queries, targets)
    for index in range(len(ROWS)):
        rows = [(pair.produced, pair.read)[index] for pair in labels]
        mean[:, index][_places(rows, [pair.targets for pair in labels])] = 1.0
    mean = mean / mean.sum(dim=2, keepdim=True).clamp(min=1.0)
    gather, mean = gather.to(weights), mean.to(weights)
    maps = torch.einsum("lbhqk,brqt,bkc->brtlhc", weights, mean, gather)
    return BatchWeights(maps, labels)


def _columns(pair: Labels) -> int:
    return max((pair.sources, *(index + 1 for index in pair.source)))


def _places(word_of: Sequence[Sequence[int]], sizes: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """(batch, piece, word) of every piece whose word lies within the size of its pair."""
    places = [
        (pair, piece, word)
        for pair, (words_of_pieces, size) in enumerate(zip(word_of, sizes, strict=True))
        for piece, word in enumerate(words_of_pieces)
        if word < size
    ]
    found = torch.tensor(places, dtype=torch.long).reshape(-1, 3)
    return found[:, 0], found[:, 1], found[:, 2]


def of_weights(weights: Float[Tensor, "layer head query key"], labels: Labels) -> WordWeights:
    """Weights between words for one pair: the mean over heads is added as a last head, then pieces are joined."""
    with_mean = torch.cat([weights, weights.mean(dim=1, keepdim=True)], dim=1)
    columns = _columns(labels)
    produced, read = (
        join_pieces(with_mean, rows, labels.source, labels.targets, columns) for rows in (labels.produced, labels.read)
    )
    return WordWeights(produced, read, labels.sources)


def join_pieces(
    weights: Float[Tensor, "*map query key"],
    query_words: Sequence[int],
    key_words: Sequence[int],
    rows: int,
    columns: int,
) -> Float[Tensor, "*map row column"]:
    """From pieces to words: the sum over key pieces, the mean over query pieces, so that rows keep their sum.

    Word indices beyond `rows` or `columns` are left out.
    """
    gather_keys = weights.new_zeros(len(key_words), columns + 1)
    gather_keys = gather_keys.index_put(_cells(key_words, columns), weights.new_ones(()))
    gather_queries = weights.new_zeros(len(query_words), rows + 1)
    gather_queries = gather_queries.index_put(_cells(query_words, rows), weights.new_ones(()))
    means = gather_queries / gather_queries.sum(dim=0).clamp(min=1)
    return torch.einsum("...qk,qr,kc->...rc", weights, means[:, :rows], gather_keys[:, :columns])


def _cells(word_of: Sequence[int], size: int) -> tuple[Tensor, Tensor]:
    """Where the ones stand in the matrix from pieces to words; all words out of range share the column `size`."""
    return torch.arange(len(word_of)), torch.tensor([min(index, size) for index in word_of], dtype=torch.long)


def links(weights: WordWeights, choice: Choice) -> set[Link]:
    """For each target word the source word with the largest weight.

    No link where that is a special token, nor where all weights are 0.
    """
    return of_map(weights.at(choice).cpu().numpy(), weights.sources)


def links_above(weights: WordWeights, choice: Choice, *, threshold: float = 0.0, share: float = 0.0) -> set[Link]:
    """For each target word all source words above `threshold` and at least `share` of the largest weight of the row.

    Special tokens are never linked, but count as the largest.
    """
    return of_map(weights.at(choice).cpu().numpy(), weights.sources, threshold, share)


def of_map(
    map_: Float[np.ndarray, "target column"], sources: int, threshold: float | None = None, share: float = 0.0
) -> set[Link]:
    """The links of one map, whose columns after `sources` are special tokens: `links`, or with a threshold `links_above`."""
    if map_.size == 0:
        return set()
    highest = map_.max(axis=-1, keepdims=True)
    if threshold is None:
        best = map_.argmax(axis=-1).tolist()  # the first of equals
        return {(i, j) for j, i in enumerate(best) if i < sources and highest[j, 0] > 0.0}
    chosen = (map_ > threshold) & (map_ >= share * highest)
    rows, columns = chosen[:, :sources].nonzero()
    return set(zip(columns.tolist(), rows.tolist(), strict=True))
