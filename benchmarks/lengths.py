"""Longer texts than a model mostly learned from: quality by the number of test sentences that are joined into one text.

    python -m benchmarks.lengths en-fr en-fr-rotary --data ../shared/data [--joined 1 2 3 4 6]

For every number the same test sentences in the same order are cut into texts of so many; what is left over at the end is left
out. BLEU (sacrebleu, greedy) is against the joined references, loss is per target token of the joined first references, in
nats. `written` is the length of what the model wrote over that of the first references: far below 1, it stopped early.

The shipped models have met such texts, though rarely: one training example in twenty was two to four pairs joined (the cards
say so). Six and more they never met.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

import model
from benchmarks.quality import Languages, pairs_of
from model.analysis.lengths import joined
from model.training import evaluate
from model.training.data import examples
from model.translator import Translator


@dataclass(frozen=True)
class Text:
    """A joined text with its joined translations: the n-th of each sentence, or its first where it has fewer."""

    source: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class AtLength:
    """What a model makes of texts of `sentences` sentences; `tokens` is their mean number of source tokens."""

    sentences: int
    texts: int
    tokens: float
    bleu: float
    loss: float
    written: float


def texts_of(references: Mapping[str, Sequence[str]], sentences: int) -> list[Text]:
    """Sources with all their translations, `sentences` in a row as one text."""
    most = max(map(len, references.values()))
    streams = [
        joined([(source, targets[nth if nth < len(targets) else 0]) for source, targets in references.items()], sentences)
        for nth in range(most)
    ]
    return [
        Text(versions[0][0], tuple(dict.fromkeys(target for _, target in versions))) for versions in zip(*streams, strict=True)
    ]


def measure(atlas: Translator, references: Mapping[str, Sequence[str]], sentences: int) -> AtLength:
    """Translate and score texts of so many sentences."""
    texts = texts_of(references, sentences)
    source, target = atlas.tokenizers.source, atlas.tokenizers.target
    pairs = examples([(text.source, text.targets[0]) for text in texts], source, target)
    outputs = evaluate.translate(atlas.model, atlas.tokenizers, [text.source for text in texts])
    bleu, _ = evaluate.score(outputs, [text.targets for text in texts], atlas.card["languages"]["target"])
    return AtLength(
        sentences,
        len(texts),
        sum(len(pair.source or ()) + 1 for pair in pairs) / len(pairs),
        bleu,
        evaluate.loss(atlas.model, pairs),
        sum(map(len, target.ids(outputs))) / sum(len(pair.target) for pair in pairs),
    )


def translator(name: str) -> Translator:
    """A shipped model that translates."""
    atlas = model.load(name)
    if not isinstance(atlas, Translator):
        raise SystemExit(f"{name} does not translate; name models such as en-fr")
    return atlas


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lengths", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="+", help="shipped models that read the same sentences, such as en-fr en-fr-rotary")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the test files")
    parser.add_argument("--joined", type=int, nargs="+", default=[1, 2, 3, 4], help="numbers of sentences in a text")
    parser.add_argument("--sentences", type=int, help="use only so many test sentences")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    atlases = {name: translator(name) for name in given.names}
    languages = Languages.of(given.names[0], given.data)
    held_out = evaluate.references(pairs_of(given.data / f"{languages.stem}.test.tsv", languages.flip))
    held_out = dict(list(held_out.items())[: given.sentences])
    print(f"{len(held_out)} test sentences, joined; one training example in twenty was two to four pairs joined")
    print(f"{'':10}{'':>7}{'':>8}" + "".join(f"  | {name:^24}" for name in atlases))
    print(f"{'sentences':10}{'texts':>7}{'tokens':>8}" + f"  | {'BLEU':>7} {'loss':>7} {'written':>8}" * len(atlases))
    for sentences in given.joined:
        found = [measure(atlas, held_out, sentences) for atlas in atlases.values()]
        figures = "".join(f"  | {one.bleu:7.1f} {one.loss:7.3f} {one.written:8.2f}" for one in found)
        print(f"{sentences:<10}{found[0].texts:>7}{found[0].tokens:>8.1f}{figures}", flush=True)


if __name__ == "__main__":
    main()
