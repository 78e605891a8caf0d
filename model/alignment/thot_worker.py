"""The statistical models of the library `thot` (package sil-thot), in a process of their own.

    python -P thot_worker.py MODEL FOLDER WANTED

`thot` holds Python's lock while it learns, so beside a running server it must not share a process. This file is run as a
program and imports nothing of ours. FOLDER holds `pairs`, one JSON pair of lists of words a line; of the last WANTED of them
`forward` and `reverse` receive the links (source-target from 0, both written source first), one line a pair. Lines
"done total" on standard output tell how far it is.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

PARENT = os.getppid()
ROUNDS = 5  # of expectation maximisation, as fast_align has them

Pair = tuple[list[str], list[str]]


def main(model: str, folder: Path, wanted: int) -> None:
    if hasattr(os, "nice"):
        os.nice(10)
    with (folder / "pairs").open(encoding="utf-8") as file:
        pairs: list[Pair] = [(source, target) for source, target in map(json.loads, file)]
    asked = pairs[len(pairs) - wanted :]
    for half, (name, flip) in enumerate((("forward", False), ("reverse", True))):
        learned = learn(model, [_turned(pair, flip) for pair in pairs], partial(tell, half))
        with (folder / name).open("w", encoding="ascii") as file:
            for links in found(learned, [_turned(pair, flip) for pair in asked]):
                file.write(" ".join(f"{j}-{i}" if flip else f"{i}-{j}" for i, j in links) + "\n")


def tell(half: int, share: float) -> None:
    if os.getppid() != PARENT:
        sys.exit("whoever asked is gone")
    print(round(500 * (half + share)), 1000, flush=True)


def learn(model: str, pairs: list[Pair], progress: Callable[[float], None]) -> Any:
    """A trained model: each target word is linked to at most one source word."""
    import thot.alignment as library

    if model == "hmm":  # begins with the translations of IBM model 1, as GIZA++ does
        first = _trained(library.Ibm1AlignmentModel(), pairs, lambda share: progress(share / 3))
        return _trained(library.HmmAlignmentModel(first), pairs, lambda share: progress((1 + 2 * share) / 3))
    made: Any
    if model == "eflomal":
        made = library.EflomalAlignmentModel()
        made.seed, made.deterministic = 1, True
    else:
        made = {"ibm1": library.Ibm1AlignmentModel, "fast_align": library.FastAlignModel}[model]()
    return _trained(made, pairs, progress)


def _trained(model: Any, pairs: list[Pair], progress: Callable[[float], None]) -> Any:
    if model.num_sentence_pairs == 0:
        for source, target in pairs:
            if source and target and max(len(source), len(target)) <= model.max_sentence_length:
                model.add_sentence_pair(source, target)
    model.start_training()
    rounds = getattr(model, "scheduled_iterations", 0) or ROUNDS
    for done in range(1, rounds + 1):
        model.train()
        progress(done / rounds)
    model.end_training()
    return model


def found(model: Any, pairs: list[Pair]) -> Iterator[list[tuple[int, int]]]:
    """The links of each pair; none where a side is empty, or longer than the model takes."""
    for source, target in pairs:
        if not source or not target or max(len(source), len(target)) > model.max_sentence_length:
            yield []
        else:
            matrix = model.get_best_alignment(source, target)[1].to_numpy()
            yield [(int(i), int(j)) for i, j in zip(*matrix.nonzero(), strict=True)]


def _turned(pair: Pair, flip: bool) -> Pair:
    return (pair[1], pair[0]) if flip else pair


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
