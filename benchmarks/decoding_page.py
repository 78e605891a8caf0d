"""The page Decoding at the server: what a visitor waits for who takes another branch, per step that is written behind it.

Without a browser: a prefix that was not asked before, written on to the end with all that the page shows of each step, or
searched with a beam of 4; and the whole page once more for an output that is known.
"""

from collections.abc import Callable, Iterator
from itertools import count
from time import perf_counter

import torch

import model
from benchmarks.heads import NAME
from benchmarks.timing import Figure, alone, run
from model.analysis.beam_tree import grow
from model.analysis.decoding_steps import Eye, Plan, write
from model.decoding import length_limit
from model.sampling import Sampling

SENTENCE = "The old man and the dog see a small house in the garden."
GOAL = 50  # milliseconds a step
REPETITIONS, WARM_UP = 15, 3


def figures() -> Iterator[Figure]:
    torch.set_num_threads(1)  # as in the server
    atlas = model.load(NAME, device="cpu")
    eye, limit = Eye(atlas.config.decoder_layers - 1, None), length_limit(len(atlas.source_tokens(SENTENCE)))
    firsts = count(200)  # every time another first token

    def branch(plan: Callable[[tuple[int, ...]], Plan]) -> tuple[float, int]:
        start = perf_counter()
        writing = write(atlas, SENTENCE, plan((next(firsts),)), eye)
        return perf_counter() - start, len(writing.moments)

    def search() -> tuple[float, int]:
        start = perf_counter()
        grown = grow(atlas, SENTENCE, 4, eye, (next(firsts),), limit)
        return perf_counter() - start, max(node.depth for node in grown.tree.nodes)

    kinds: dict[str, Callable[[], tuple[float, int]]] = {
        "greedy": lambda: branch(lambda prefix: Plan(prefix=prefix, limit=limit)),
        "sampling": lambda: branch(lambda prefix: Plan("sampling", Sampling(0.8, 40, 0.9), 1, prefix, limit)),
        "beam of 4": search,
    }
    for kind, once in kinds.items():
        taken = [once() for _ in range(WARM_UP + REPETITIONS)][WARM_UP:]
        yield alone(f"a new branch, {kind}, each step", [seconds / steps for seconds, steps in taken], GOAL)
        yield alone(f"a new branch, {kind}, to its end", [seconds for seconds, _ in taken])


if __name__ == "__main__":
    run(__doc__, figures)
