"""How well the shipped models align: one table of every way to take links, beside the diagonal and statistical aligners.

    python -m benchmarks.alignment_quality --data ../shared/data [--eflomal PATH] [--keep FOLDER]

Head, row and threshold are chosen on the even pairs of the gold files (numbered from 0, all sets of a language pair together) and
scored on the odd ones: alignment error rate with a bootstrap 95 % interval. The sets are the hand-made links of everyday
sentences; literary sentences (alibi) of at most 15 words; and of these the ones without a word that the training pairs lack
(letter case aside), for a model cannot align what it has never read. Statistical aligners learn from the same training pairs.
"""

import argparse
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import model
from benchmarks import aligner, gold
from benchmarks.quality import THRESHOLDS, Languages, Measured, describe, gold_pairs, measure
from model.alignment import baseline, extract, joint, statistical
from model.alignment.extract import ROWS, Choice, WordWeights
from model.alignment.metrics import alignment_error_rate, interval
from model.alignment.pharaoh import Link
from model.alignment.symmetrize import METHODS, symmetrize

MODELS = ("en-fr", "fr-en", "en-zh", "zh-en")
SEEN = 1  # times that every word of a pair whose words are known occurs in the training pairs

Links = list[set[Link]]  # of every gold pair, in order


@dataclass(frozen=True)
class Direction:
    """A model with what it makes of every gold pair, by weights and by norms, and the sets that the pairs fall into."""

    name: str
    atlas: Any
    languages: Languages
    pairs: list[gold.GoldPair]
    weights: list[WordWeights]
    norms: list[WordWeights]
    known: frozenset[int]
    training: list[Path]

    def sets(self) -> dict[str, list[int]]:
        """The indices of the odd pairs of each set."""
        odd = [index for index, pair in enumerate(self.pairs) if not pair.chooses]
        hand = [index for index in odd if not self.pairs[index].name.startswith("alibi")]
        found = {"hand": hand, "alibi": [index for index in odd if index not in hand]}
        found["alibi, words known"] = [index for index in found["alibi"] if index in self.known]
        return {name: indices for name, indices in found.items() if indices}

    def even(self) -> list[int]:
        """The pairs on which settings are chosen."""
        return [index for index, pair in enumerate(self.pairs) if pair.chooses]

    def rate(self, links: Links, indices: Sequence[int]) -> float:
        return alignment_error_rate(*self._chosen(links, indices))

    def interval(self, links: Links, indices: Sequence[int]) -> tuple[float, float]:
        return interval(*self._chosen(links, indices))

    def _chosen(self, links: Links, indices: Sequence[int]) -> tuple[Links, list[Any], list[Any]]:
        members = [self.pairs[index] for index in indices]
        return [links[index] for index in indices], [one.sure for one in members], [one.possible for one in members]

    def best(self, ways: Mapping[str, Links]) -> str:
        """The way with the lowest error on the even pairs."""
        return min(ways, key=lambda way: self.rate(ways[way], self.even()))


def main() -> None:
    arguments = parse()
    torch.set_num_threads(arguments.threads)
    directions = {found.name: found for found in (read(name, arguments.data) for name in arguments.models)}
    table: dict[str, dict[str, dict[str, str]]] = {}
    for name, direction in directions.items():
        reverse = directions.get("-".join(reversed(name.split("-"))))
        for way, links in ways(direction, reverse, arguments).items():
            cells = {
                group: cell(direction.rate(links, indices), direction.interval(links, indices))
                for group, indices in direction.sets().items()
            }
            table.setdefault(way, {})[name] = cells
    print(markdown(directions, table))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    shipped = [name for name in MODELS if (model.checkpoint.SHIPPED / name).exists()]
    parser.add_argument("models", nargs="*", default=shipped, help="shipped models, or folders of some; default: all directions")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of train and gold files")
    parser.add_argument("--eflomal", default=shutil.which(statistical.PROGRAM), help="the program eflomal-align")
    parser.add_argument("--aligners", nargs="*", choices=statistical.MODELS, help="default: eflomal-align or eflomal, fast_align")
    parser.add_argument("--keep", type=Path, help="folder in which the links of statistical aligners are kept and found again")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def read(name: str, data: Path) -> Direction:
    """Load a model and lead it through every gold pair."""
    atlas = model.load(Path(name) if "/" in name else model.checkpoint.SHIPPED / name)
    languages = Languages.of(atlas.name, data)
    training = [path for kind in ("train", "hsk") if (path := data / f"{languages.stem}.{kind}.tsv").exists()]
    pairs = gold_pairs(data / "gold", languages)
    measured: list[Measured] = measure(atlas, languages, training, pairs)
    known = words_known(training, languages.flip, pairs)
    return Direction(
        atlas.name, atlas, languages, pairs, [one.weights for one in measured], [one.norms for one in measured], known, training
    )


def words_known(training: Sequence[Path], flip: bool, pairs: Sequence[gold.GoldPair]) -> frozenset[int]:
    """The pairs of which every word, on both sides, stands in the training pairs."""
    counts = Counter[str](), Counter[str]()
    for pair in aligner.training_words(training, flip):
        for side, tokens in enumerate(pair):
            counts[side].update(token.lower() for token in tokens)
    return frozenset(
        index
        for index, pair in enumerate(pairs)
        if all(counts[side][token.lower()] >= SEEN for side, tokens in enumerate((pair.source, pair.target)) for token in tokens)
    )


def ways(direction: Direction, reverse: Direction | None, arguments: argparse.Namespace) -> dict[str, Links]:
    """Every way to take links: its name, and what it finds in each pair."""
    found: dict[str, Links] = {}
    chosen = choose(direction, direction.weights)
    found["best head"] = argmax(direction.weights, chosen)
    print(f"{direction.name}: best head {describe(chosen)}")
    cuts = {f"{cut}": above(direction.weights, chosen, cut) for cut in THRESHOLDS}
    cut = direction.best(cuts)
    found["best head, weight above a threshold"] = cuts[cut]
    print(f"{direction.name}: threshold {cut}")
    normed = choose(direction, direction.norms)
    found["best head by norms"] = argmax(direction.norms, normed)
    for row in ROWS:
        of_row = choose(direction, direction.weights, lambda one, row=row: one.row == row and one.head is not None)
        found[f"best head, {row} row"] = argmax(direction.weights, of_row)
    averaged = choose(direction, direction.weights, lambda one: one.head is None)
    found["best mean of heads"] = argmax(direction.weights, averaged)
    taught = joint.guided(direction.atlas.card, chosen)
    if reverse is not None:
        back = choose(reverse, reverse.weights)
        other = [{(i, j) for j, i in links} for links in argmax(reverse.weights, back)]
        for method in METHODS:
            both = zip(found["best head"], other, strict=True)
            found[f"both directions, {method}"] = [symmetrize(one, two, method) for one, two in both]
        maps = zip(means(direction.weights, taught), means(reverse.weights, joint.guided(reverse.atlas.card, back)), strict=True)
        found["both directions, mean weights (joint)"] = [joint.links(joint.mean(one, two)) for one, two in maps]
    found["diagonal"] = [baseline.diagonal(len(pair.source), len(pair.target)) for pair in direction.pairs]
    return {**found, **dict(rivals(direction, arguments))}


def rivals(direction: Direction, arguments: argparse.Namespace) -> Iterator[tuple[str, Links]]:
    """Statistical aligners, in the direction of the model and joined."""
    there = statistical.available()
    usual = [statistical.PROGRAM if arguments.eflomal else "eflomal", "fast_align"]
    asked = usual if arguments.aligners is None else arguments.aligners
    flip, stem = direction.languages.flip, direction.languages.stem
    training: list[Any] = []
    for name in asked:
        if name not in there and not (name == statistical.PROGRAM and arguments.eflomal):
            print(f"({name} is not installed: {statistical.INSTALL})")
            continue
        training = training or aligner.training_words(direction.training, flip=False)
        pairs = [(pair.target, pair.source) if flip else (pair.source, pair.target) for pair in direction.pairs]
        learned = aligner.kept(arguments.keep, stem, name, training, pairs, arguments.eflomal)
        learned = learned.flipped() if flip else learned
        yield f"{name} forward", [set(links) for links in learned.forward]
        for method in ("intersection", "grow-diag-final-and"):
            yield f"{name} {method}", [set(links) for links in learned.symmetrized(method)]


def choose(direction: Direction, maps: Sequence[WordWeights], allowed: Callable[[Choice], bool] = lambda _: True) -> Choice:
    """The layer, head and row with the lowest error on the even pairs."""
    choices = [choice for choice in maps[0].choices() if allowed(choice)]
    return min(choices, key=lambda choice: direction.rate(argmax(maps, choice), direction.even()))


def argmax(maps: Sequence[WordWeights], choice: Choice) -> Links:
    return [extract.links(one, choice) for one in maps]


def above(maps: Sequence[WordWeights], choice: Choice, threshold: float) -> Links:
    return [extract.links_above(one, choice, threshold=threshold) for one in maps]


def means(maps: Sequence[WordWeights], choices: Sequence[Choice]) -> list[Any]:
    """The mean map of several heads, each on its own row, between words."""
    return [
        torch.stack([one.at(choice)[:, : one.sources] for choice in choices]).mean(dim=0).double().cpu().numpy() for one in maps
    ]


def cell(rate: float, limits: tuple[float, float]) -> str:
    return f"{rate:.3f} ({limits[0]:.2f}–{limits[1]:.2f})"


def markdown(directions: Mapping[str, Direction], table: Mapping[str, Mapping[str, Mapping[str, str]]]) -> str:
    """The one table: a line for each way, a column for each set of each model."""
    columns = [(name, group) for name, direction in directions.items() for group in direction.sets()]
    sizes = [len(directions[name].sets()[group]) for name, group in columns]
    head = [f"{name}, {group} ({size})" for (name, group), size in zip(columns, sizes, strict=True)]
    lines = [["links from", *head], ["---"] * (len(head) + 1)]
    lines += [[way, *(cells.get(name, {}).get(group, "–") for name, group in columns)] for way, cells in table.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
