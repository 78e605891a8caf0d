"""The tree that a beam search leaves: whole against brute force in both families, and one with the outputs of `beam`."""

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

from model.beam_search import BeamTree, beam, beam_tree, penalty
from model.decoding import greedy
from tests.model import tiny

pytestmark = pytest.mark.usefixtures("quick")
VOCAB, LIMIT = 5, 4


def writers(seed: int = 5) -> list[tuple[Any, Tensor]]:
    """A model of each family and what it reads first."""
    shape: dict[str, Any] = {"target_vocab_size": VOCAB, "tie": "none", "decoder_layers": 2, "max_length": 40, "seed": seed}
    return [
        (tiny.model(encoder_layers=1, **shape), tiny.ids(3, 23)),
        (tiny.language_model(source_vocab_size=VOCAB, **shape), torch.tensor([[1, 4, 3]])),
    ]


def scored(made: Any, source: Tensor, outputs: list[tuple[int, ...]]) -> Tensor:
    """The log-probability of each of these outputs, all of one length, from forced passes."""
    ids = torch.tensor(outputs)
    if made.config.family == "decoder-only":
        rows = made(torch.cat((source.expand(len(ids), -1), ids[:, :-1]), dim=1))[:, source.shape[1] - 1 :]
    else:
        rows = made(source.expand(len(ids), -1), torch.cat((torch.full((len(ids), 1), made.config.start), ids[:, :-1]), dim=1))
    found: Tensor = rows.log_softmax(dim=-1).gather(2, ids[:, :, None]).sum(dim=(1, 2))
    return found


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("family", [0, 1])
def test_a_beam_as_large_as_all_sequences_finds_the_best_of_them(family: int, length_penalty: float) -> None:
    made, source = writers()[family]
    going_on = [id_ for id_ in range(VOCAB) if id_ != made.config.end]
    every = {
        output: float(score) / penalty(length, length_penalty)
        for length in range(1, LIMIT + 1)
        for outputs in [[(*body, made.config.end) for body in itertools.product(going_on, repeat=length - 1)]]
        for output, score in zip(outputs, scored(made, source, outputs), strict=True)
    }
    tree = beam_tree(made, source, VOCAB**LIMIT, LIMIT, length_penalty)
    found = {tree.hypothesis(index).ids: tree.nodes[index].worth for index in tree.best}
    assert found == {output: pytest.approx(every[output], abs=1e-5) for output in every}
    assert next(iter(found)) == max(every, key=every.__getitem__)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_the_tree_holds_the_outputs_and_how_they_came_about(size: int) -> None:
    for seed in range(3):
        for made, source in writers(seed):
            tree = beam_tree(made, source, size, 8)
            outputs = beam(made, source, size, 8)
            assert [tree.hypothesis(index) for index in tree.best] == outputs
            check(tree, made.config.end, size)
            if size == 1:
                assert outputs == greedy(made, source, limit=8)


def check(tree: BeamTree, end: int, size: int) -> None:
    """Every node goes on from a kept one, adds its log-probability, and is worth what the formula says."""
    by_depth: dict[int, list[Any]] = {}
    for node in tree.nodes:
        parent = tree.nodes[node.parent] if node.parent is not None else None
        assert parent is None or parent.fate in ("kept", "given")
        assert node.depth == 1 + (parent.depth if parent else 0)
        assert node.total == pytest.approx(node.log_probability + (parent.total if parent else 0.0))
        assert node.worth == pytest.approx(node.total / ((5 + node.depth) / 6) ** 0.6)
        assert (node.id == end and node.fate != "cut") == (node.fate == "finished")
        by_depth.setdefault(node.depth, []).append(node)
    for depth, nodes in by_depth.items():
        kept = [node for node in nodes if node.fate in ("kept", "left")]
        assert len(kept) <= size
        assert [node.total for node in nodes] == sorted((node.total for node in nodes), reverse=True), "best first"
        cut = [node.total for node in nodes if node.fate == "cut"]
        assert not cut or min(node.total for node in kept) >= max(cut)
        assert (depth == max(by_depth)) or all(node.fate != "left" for node in kept)


def test_a_search_behind_a_prefix_counts_it_and_goes_on_from_it() -> None:
    for made, source in writers(2):
        first = beam(made, source, 3, 6)[0]
        prefix = first.ids[:2]
        tree = beam_tree(made, source, 3, 6, prefix=prefix)
        outputs = [tree.hypothesis(index) for index in tree.best]
        assert [node.fate for node in tree.nodes[: len(prefix)]].count("given") == len(prefix) - prefix.count(made.config.end)
        for output in outputs:
            assert output.ids[: len(prefix)] == prefix
            assert output.score == pytest.approx(float(scored(made, source, [output.ids])), abs=1e-5)
        assert beam(made, source, 3, 6, prefix=first.ids)[0].ids == first.ids


def test_a_prefix_that_has_ended_is_the_only_output() -> None:
    for made, source in writers():
        tree = beam_tree(made, source, 3, 6, prefix=[4, made.config.end])
        assert [node.fate for node in tree.nodes] == ["given", "finished"]
        assert tree.hypothesis(tree.best[0]).ids == (4, made.config.end)


def test_a_search_that_nothing_ends_returns_what_was_left() -> None:
    made, source = writers()[0]
    tree = beam_tree(made, source, 2, limit=1)
    ends = [tree.nodes[index] for index in tree.best]
    if all(node.id != made.config.end for node in tree.nodes):
        assert all(node.fate == "left" for node in ends)
    assert beam_tree(made, source, 2, limit=1, prefix=[4]).nodes[0].fate == "given"
