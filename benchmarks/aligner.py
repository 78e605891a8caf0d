"""A statistical aligner to stand beside: eflomal, run as a program of its own (it is GPL, and never imported)."""

import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from model.alignment import pharaoh, symmetrize
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
    with tempfile.TemporaryDirectory() as folder:
        source, target, forward, reverse = (Path(folder, name) for name in ("source", "target", "forward", "reverse"))
        for path, side in ((source, 0), (target, 1)):
            lines = (" ".join(pair[side]).replace("\u00a0", "_").lower() for pair in (*training, *pairs))
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [program, "--model", "3", "-s", source, "-t", target, "-f", forward, "-r", reverse]
        subprocess.run(command, check=True, capture_output=True)
        links = {path.name: list(read_links(path))[len(training) :] for path in (forward, reverse)}
    for method in ("intersection", "grow-diag-final-and"):
        links[method] = [
            frozenset(symmetrize(one, other, method)) for one, other in zip(links["forward"], links["reverse"], strict=True)
        ]
    return links
