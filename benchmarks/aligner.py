"""Statistical aligners to stand beside the models, learned from the pairs that the models learned from."""

from collections.abc import Iterable
from pathlib import Path

from model.alignment import pharaoh, statistical
from model.alignment.statistical import Learned
from model.alignment.words import words
from model.training.guide import read_lines, read_links

Tokens = tuple[str, ...]


def training_words(paths: Iterable[Path], flip: bool) -> list[tuple[Tokens, Tokens]]:
    """The words of both sides of every pair in the files."""
    pairs = []
    for path in paths:
        for line in read_lines(path):
            left, right = (words(side, split_punctuation=True) for side in line.split("\t")[:2])
            pairs.append((right, left) if flip else (left, right))
    return pairs


def eflomal(
    program: str, training: list[tuple[Tokens, Tokens]], pairs: list[tuple[Tokens, Tokens]]
) -> dict[str, list[pharaoh.Links]]:
    """Links of `pairs`, learned from `training` and from them: forward, reverse and symmetrised."""
    learned = statistical.align(pairs, statistical.PROGRAM, training=training, program=program)
    joined = {method: learned.symmetrized(method) for method in ("intersection", "grow-diag-final-and")}
    return {"forward": learned.forward, "reverse": learned.reverse, **joined}


def kept(
    folder: Path | None,
    name: str,
    model: str,
    training: list[tuple[Tokens, Tokens]],
    pairs: list[tuple[Tokens, Tokens]],
    program: str | None,
) -> Learned:
    """Links of `pairs` by one aligner; with a folder they are kept there, and taken from there the next time."""
    paths = [folder / f"{name}.{model}.{direction}.align" for direction in ("forward", "reverse")] if folder else []
    if paths and all(path.exists() for path in paths):
        forward, reverse = (list(read_links(path)) for path in paths)
        if len(forward) == len(reverse) == len(pairs):
            return Learned(model, forward, reverse, len(training) + len(pairs))
    learned = statistical.align(pairs, model, training=training, program=program)
    for path, links in zip(paths, (learned.forward, learned.reverse), strict=False):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{pharaoh.render(one)}\n" for one in links), "ascii")
    return learned
