"""Beam search: the best unfinished outputs are kept at each step, and all that was considered is told as a tree."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor

from model.attention import KeyValueCache
from model.decoding import Hypothesis, begin, checked_prefix, tokens_allowed
from model.transformer import DecoderOnly, EncoderDecoder

LENGTH_PENALTY = 0.6
"""The exponent of the length penalty, as in Vaswani et al. 2017, 6.1."""

Fate = Literal["given", "kept", "cut", "finished", "left"]


@dataclass(frozen=True)
class Node:
    """A token that a beam search considered, behind the tokens on the way to it.

    `parent` is the index of the node before it, None for a first token; `depth` counts the tokens of the way, its own too.
    `total` is the log-probability of the way, `worth` that divided by the length penalty. `fate`: "given" in the prefix, "kept",
    "cut", "finished", or "left" unfinished when the search stopped.
    """

    id: int
    parent: int | None
    depth: int
    log_probability: float
    total: float
    worth: float
    fate: Fate


@dataclass(frozen=True)
class BeamTree:
    """All that a beam search considered, in order, and the nodes at which the outputs that it returns end, best first."""

    nodes: tuple[Node, ...]
    best: tuple[int, ...]

    def way(self, index: int) -> tuple[int, ...]:
        """The nodes from a first token to this one."""
        found, at = [], index
        while True:
            found.append(at)
            parent = self.nodes[at].parent
            if parent is None:
                return tuple(reversed(found))
            at = parent

    def hypothesis(self, index: int) -> Hypothesis:
        """The output that ends at this node."""
        way = [self.nodes[at] for at in self.way(index)]
        return Hypothesis(
            tuple(node.id for node in way), tuple(node.log_probability for node in way), self.nodes[index].fate == "finished"
        )


def penalty(length: int, length_penalty: float) -> float:
    """What the log-probability of an output of so many tokens is divided by (Wu et al. 2016, 7)."""
    return float(((5 + length) / 6) ** length_penalty)


@torch.inference_mode()
def beam_steps(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "1 source"],
    size: int,
    limit: int | None = None,
    length_penalty: float = LENGTH_PENALTY,
    prefix: Sequence[int] = (),
) -> Iterator[tuple[Node, ...]]:
    """The nodes that each step of a beam search adds to its tree; first those of the prefix, then at each step the 2 `size` best.

    The rows of the batch that is read at a step are the nodes that were kept at the step before, in their order.
    """
    if size < 1:
        raise ValueError(f"a beam of {size} holds nothing; choose 1 (greedy) or more")
    config = model.config
    limit = tokens_allowed(limit, source.shape[1], config)
    prefix = checked_prefix(prefix, limit, config)
    logits_of, first = begin(model, source, None)
    cache = KeyValueCache()
    rows = (
        logits_of(torch.cat((first, source.new_tensor([prefix])), dim=1), cache)[:, first.shape[1] - 1 :].float().log_softmax(-1)
    )

    def grown(id_: int, parent: int | None, log_probability: float, fate: Fate) -> Node:
        depth = 1 + (nodes[parent].depth if parent is not None else 0)
        total = log_probability + (nodes[parent].total if parent is not None else 0.0)
        return Node(id_, parent, depth, log_probability, total, total / penalty(depth, length_penalty), fate)

    nodes: list[Node] = []
    for at, id_ in enumerate(prefix):
        fate: Fate = "finished" if id_ == config.end else "given"
        nodes.append(grown(id_, at - 1 if at else None, float(rows[0, at, id_]), fate))
    if nodes:
        yield tuple(nodes)
    alive: list[int | None] = [len(nodes) - 1 if nodes else None]
    log_probabilities, ended = rows[:, -1], 0
    for index in range(len(prefix), limit if prefix[-1:] != (config.end,) else 0):
        totals = log_probabilities + source.new_tensor(
            [[nodes[at].total if at is not None else 0.0] for at in alive], dtype=log_probabilities.dtype
        )
        worth, best = totals.flatten().topk(min(2 * size, totals.numel()))
        best = best[worth > -torch.inf]  # a model of others may forbid tokens, or ask for one at first
        candidates = [divmod(int(place), totals.shape[1]) for place in best]
        fates = _fates([id_ == config.end for _, id_ in candidates], size)
        ended += fates.count("finished")
        stops = ended >= size or index + 1 == limit
        added = [
            grown(id_, alive[row], float(log_probabilities[row, id_]), "left" if stops and fate == "kept" else fate)
            for (row, id_), fate in zip(candidates, fates, strict=True)
        ]
        nodes += added
        yield tuple(added)
        if stops:
            return
        carried = [at for at, fate in enumerate(fates) if fate == "kept"]
        alive = [len(nodes) - len(added) + at for at in carried]
        cache.select(torch.tensor([candidates[at][0] for at in carried], device=source.device))
        read = torch.tensor([[candidates[at][1]] for at in carried], device=source.device)
        log_probabilities = logits_of(read, cache)[:, -1].float().log_softmax(dim=-1)


def _fates(ends: Sequence[bool], size: int) -> list[Fate]:
    """What becomes of the candidates of a step, best first: the `size` best that go on are kept; ends before them finish."""
    fates: list[Fate] = []
    for end in ends:
        full = fates.count("kept") == size
        fates.append("cut" if full else "finished" if end else "kept")
    return fates


def beam_tree(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "1 source"],
    size: int,
    limit: int | None = None,
    length_penalty: float = LENGTH_PENALTY,
    prefix: Sequence[int] = (),
) -> BeamTree:
    """The whole search; see `beam`."""
    return as_tree(beam_steps(model, source, size, limit, length_penalty, prefix), size)


def as_tree(steps: Iterable[Sequence[Node]], size: int) -> BeamTree:
    """The steps of a search as its tree: the outputs that ended, or if none did those that were left, the best `size` of them."""
    nodes = tuple(node for step in steps for node in step)
    for fate in ("finished", "left", "given"):
        if ends := [index for index, node in enumerate(nodes) if node.fate == fate]:
            chosen = ends[-1:] if fate == "given" else sorted(ends, key=lambda index: nodes[index].worth, reverse=True)[:size]
            return BeamTree(nodes, tuple(chosen))
    raise ValueError("a search without steps has no outputs")


def beam(
    model: EncoderDecoder | DecoderOnly,
    source: Int[Tensor, "1 source"],
    size: int,
    limit: int | None = None,
    length_penalty: float = LENGTH_PENALTY,
    prefix: Sequence[int] = (),
) -> list[Hypothesis]:
    """The best outputs that keeping `size` unfinished ones at each step finds, best first.

    `source` is a prompt for a decoder-only model, as in `greedy_steps`. Outputs are compared by
    score / ((5 + length) / 6)^length_penalty (Wu et al. 2016, 7); size 1 is greedy.
    """
    tree = beam_tree(model, source, size, limit, length_penalty, prefix)
    return [tree.hypothesis(index) for index in tree.best]
