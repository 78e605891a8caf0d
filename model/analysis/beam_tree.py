"""The tree of a beam search with what each of its nodes looked at, and what the length penalty makes of its outputs."""

from dataclasses import dataclass

import torch

from model.analysis.decoding_steps import Eye, ids_of
from model.beam_search import LENGTH_PENALTY, BeamTree, Node, as_tree, beam_steps, penalty
from model.tokenizer import Token
from model.trace import tracing
from model.translator import Atlas, LanguageModel


@dataclass(frozen=True)
class Grown:
    """A search: its tree, the label of every node, and the row of attention that each was produced by, over `keys`.

    Nodes behind the same tokens come from one row of the decoder: `row_of[node]` is its index in `rows`.
    """

    keys: tuple[Token, ...]
    start: Token
    tree: BeamTree
    labels: tuple[str, ...]
    row_of: tuple[int, ...]
    rows: tuple[tuple[float, ...], ...]
    texts: tuple[str, ...]


def grow(atlas: Atlas, text: str, size: int, eye: Eye, prefix: tuple[int, ...] = (), limit: int | None = None) -> Grown:
    """Search and keep; `texts` are the outputs of `tree.best`."""
    source = atlas.source_tokens(text)
    alone, path = isinstance(atlas, LanguageModel), eye.path(atlas)
    first, tokenizer = len(source) if alone else 1, atlas.tokenizers.target
    steps: list[tuple[Node, ...]] = []
    rows: list[tuple[float, ...]] = []
    row_of: list[int] = []
    with torch.inference_mode(), tracing(only=frozenset({path})) as recording:
        places: dict[int | None, int] = {}  # where the row that goes on from a node stands in the batch of this step
        for added in beam_steps(atlas.model, ids_of(atlas, source), size, limit, prefix=prefix):
            weights = recording[path].tensor
            begin = sum(len(step) for step in steps)
            known: dict[int | None, int] = {}
            for node in added:
                given = node.depth <= len(prefix)
                if node.parent not in known:
                    query = first + node.depth - 2 if given else -1
                    rows.append(eye.row(weights, 0 if given else places.get(node.parent, 0), query, len(source)))
                    known[node.parent] = len(rows) - 1
                row_of.append(known[node.parent])
            kept = [begin + at for at, node in enumerate(added) if node.fate in ("kept", "given")]
            places = {index: place for place, index in enumerate(kept if added[0].depth > len(prefix) else kept[-1:])}
            steps.append(added)
    tree = as_tree(steps, size)
    after = text if alone else ""
    return Grown(
        source,
        source[-1] if alone else tokenizer.produced([atlas.config.start])[0],
        tree,
        tuple(tokenizer.produced([node.id])[0].label for node in tree.nodes),
        tuple(row_of),
        tuple(rows),
        tuple(tokenizer.decode(tree.hypothesis(index).ids, after=after)[len(after) :] for index in tree.best),
    )


@dataclass(frozen=True)
class Greedy:
    """The greedy output beside the best of a search: what it is `worth`, whether that is more, and the step, counted from 0, at
    which the two part (None where they are the same).
    """

    worth: float
    better: bool
    parted: int | None


def beside_greedy(tree: BeamTree, ids: tuple[int, ...], score: float, alpha: float = LENGTH_PENALTY) -> Greedy:
    """`ids` were written greedily, with the log-probability `score`; worths under the length penalty `alpha`."""
    best = tree.hypothesis(tree.best[0]).ids
    differ = (at for at, (one, other) in enumerate(zip(ids, best, strict=False)) if one != other)
    worth = score / penalty(len(ids), alpha)
    parted = None if ids == best else next(differ, min(len(ids), len(best)))
    better = parted is not None and worth > tree.nodes[tree.best[0]].worth  # of the same output the last digits may differ
    return Greedy(worth, better, parted)


@dataclass(frozen=True)
class Output:
    """A finished output of a search: its node, its length in tokens, its log-probability, and what it is worth at each alpha."""

    node: int
    length: int
    total: float
    worths: tuple[float, ...]


def ranked(tree: BeamTree, alphas: tuple[float, ...]) -> tuple[tuple[Output, ...], tuple[int, ...]]:
    """The finished outputs (the unfinished ones if none ended) under each length penalty, and which of them is best at each.

    The search itself does not depend on alpha, only the order of what it found.
    """
    ends = [index for index, node in enumerate(tree.nodes) if node.fate == "finished"] or list(tree.best)
    outputs = tuple(
        Output(
            index,
            tree.nodes[index].depth,
            tree.nodes[index].total,
            tuple(tree.nodes[index].total / penalty(tree.nodes[index].depth, alpha) for alpha in alphas),
        )
        for index in ends
    )
    best = tuple(max(range(len(outputs)), key=lambda one: outputs[one].worths[at]) for at in range(len(alphas)))
    return outputs, best
