"""Sentence pairs, or sentences of one language: from TSV files to batches of about equal length.

They are the same for one seed, wherever a run was stopped.
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from model.alignment.words import of_tokens
from model.tokenizer import END, PADDING, START, Tokenizer
from model.training.guide import read_lines, read_links


@dataclass(frozen=True)
class Example:
    """One pair as ids, without special tokens; `links` are (target piece, source piece), 0-based.

    A sentence for a language model has no `source`: it is None.
    """

    source: tuple[int, ...] | None
    target: tuple[int, ...]
    links: tuple[tuple[int, int], ...] = ()

    def __add__(self, other: "Example") -> "Example":
        """Two pairs joined into a longer one."""
        if self.source is None or other.source is None:
            return Example(None, self.target + other.target)
        moved = ((target + len(self.target), source + len(self.source)) for target, source in other.links)
        return Example(self.source + other.source, self.target + other.target, (*self.links, *moved))


@dataclass(frozen=True)
class Batch:
    """Padded ids: the decoder reads `target` (start, y1, ...) and is asked for `produced` (y1, ..., end).

    Without `source` it is a batch for a language model.
    """

    source: Tensor | None
    target: Tensor
    produced: Tensor
    links: Tensor | None  # bool (batch, target, source) for the rows that produce

    def logits(self, model: nn.Module) -> Tensor:
        """One forced pass of a model of either family: (batch, target, vocab)."""
        target_mask = self.target != PADDING
        if self.source is None:
            logits: Tensor = model(self.target, target_mask)
        else:
            logits = model(self.source, self.target, self.source != PADDING, target_mask)
        return logits

    def links_of(self, row: str) -> Tensor:
        """Links for guided rows: of the word that a row produces, or of the one that it reads."""
        if self.links is None:
            raise ValueError("guided heads need links; give --guide")
        if row == "produced":
            return self.links
        return torch.cat((torch.zeros_like(self.links[:, :1]), self.links[:, :-1]), dim=1)


def read_pairs(paths: Sequence[Path], swap: bool = False) -> list[tuple[str, str]]:
    """The first two columns of tab-separated UTF-8 files; an incomplete line is an error with file and line number.

    With `swap` the second column is the source.
    """
    pairs = []
    for path in paths:
        for number, line in enumerate(read_lines(path), start=1):
            columns = line.split("\t")
            if len(columns) < 2 or not columns[0].strip() or not columns[1].strip():
                raise ValueError(f"{path}, line {number}: needed is source, tab, target; found {line[:60]!r}")
            pairs.append((columns[1], columns[0]) if swap else (columns[0], columns[1]))
    if not pairs:
        raise ValueError(f"no sentence pairs in {', '.join(map(str, paths))}; needed are lines of source, tab, target")
    return pairs


def examples(pairs: Sequence[tuple[str, str]], source: Tokenizer, target: Tokenizer, guide: Path | None = None) -> list[Example]:
    """Pairs as ids; with a Pharaoh file of word links, one line a pair, also as links between pieces."""
    if guide is None:
        sources, targets = (
            tokenizer.ids(side) for tokenizer, side in zip((source, target), zip(*pairs, strict=True), strict=True)
        )
        return [Example(tuple(x), tuple(y)) for x, y in zip(sources, targets, strict=True)]
    result = []
    links = list(read_links(guide))
    if len(links) != len(pairs):
        raise ValueError(f"{guide} has {len(links)} lines for {len(pairs)} pairs; it needs one line a pair")
    for (x, y), of_pair in zip(pairs, links, strict=True):
        source_tokens, target_tokens = source.encode(x), target.encode(y)
        source_words, target_words = of_tokens(source_tokens, x), of_tokens(target_tokens, y)
        piece_links = tuple(
            (t, s)
            for t, target_word in enumerate(target_words)
            for s, source_word in enumerate(source_words)
            if (source_word, target_word) in of_pair
        )
        result.append(Example(tuple(k.id for k in source_tokens), tuple(k.id for k in target_tokens), piece_links))
    return result


def sentences(texts: Sequence[str], tokenizer: Tokenizer) -> list[Example]:
    """Sentences of one language for a language model, each once."""
    return [Example(None, tuple(ids)) for ids in tokenizer.ids(list(dict.fromkeys(texts)))]


@dataclass(frozen=True)
class Batches:
    """An endless, seeded stream of batches, each of at most `tokens` source and `tokens` target tokens, padding counted.

    (A single longer example is a batch of its own.)

    `join`: the share of examples that are two to four pairs put together, so that longer inputs are learned too.
    """

    examples: Sequence[Example]
    tokens: int
    seed: int
    join: float = 0.0
    _epochs: dict[int, list[list[Example]]] = field(default_factory=dict)

    def epoch(self, number: int) -> list[list[Example]]:
        """All batches of one pass over the pairs, always the same for the same number."""
        if number not in self._epochs:
            self._epochs.clear()
            self._epochs[number] = self._make(number)
        return self._epochs[number]

    def _make(self, number: int) -> list[list[Example]]:
        chance = random.Random(f"{self.seed} {number}")
        order = list(range(len(self.examples)))
        chance.shuffle(order)
        pool, at = [], 0
        while at < len(order):
            count = chance.randint(2, 4) if chance.random() < self.join else 1
            first, *rest = (self.examples[index] for index in order[at : at + count])
            pool.append(sum(rest, first))
            at += count
        pool.sort(key=lambda example: (len(example.target), len(example.source or ())))  # stable: shuffled among equals
        batches: list[list[Example]] = [[]]
        longest = 0
        for example in pool:
            length = max(len(example.target), len(example.source or ())) + 1
            longest = max(longest, length)
            if batches[-1] and (len(batches[-1]) + 1) * longest > self.tokens:
                batches.append([])
                longest = length
            batches[-1].append(example)
        chance.shuffle(batches)
        return batches

    def stream(self, epoch: int = 0, index: int = 0) -> Iterator[tuple[int, int, list[Example]]]:
        """(epoch, index, batch) from the given place on."""
        for number in itertools.count(epoch):
            first = index if number == epoch else 0
            for place, batch in enumerate(self.epoch(number)[first:], start=first):
                yield number, place, batch


def collate(batch: Sequence[Example], guided: bool = False, device: torch.device | str = "cpu") -> Batch:
    """Pad to the longest on the right; the source ends with the end token, the target begins with start."""
    sources = [(*example.source, END) for example in batch if example.source is not None]
    source = pad(sources).to(device) if sources else None
    target = pad([(START, *example.target) for example in batch])
    produced = pad([(*example.target, END) for example in batch])
    links = None
    if guided:
        assert source is not None  # heads of cross-attention are guided
        links = torch.zeros(len(batch), target.shape[1], source.shape[1], dtype=torch.bool)
        places = [(b, t, s) for b, example in enumerate(batch) for t, s in example.links]
        if places:
            links[tuple(torch.tensor(places).T)] = True
        links = links.to(device)
    return Batch(source, target.to(device), produced.to(device), links)


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([(*row, *[PADDING] * (longest - len(row))) for row in rows])
