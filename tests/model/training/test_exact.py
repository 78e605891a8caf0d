"""The measures of exact tasks, against counting by hand."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.alignment.extract import ROWS, Choice
from model.decoding import greedy
from model.tokenizer import END
from model.trace import tracing
from model.training import evaluate, exact
from model.training.data import Example, collate
from tests.model.training import task

MODEL = task.model(num_heads=2, decoder_layers=2).requires_grad_(False).eval()


@settings(deadline=None, max_examples=3)
@given(seed=st.integers(0, 1000), count=st.integers(1, 3))
def test_loss_and_alignment_are_those_of_single_pairs(seed: int, count: int) -> None:
    """No padding, no batch, no tensors: each row of each head in turn."""
    pairs = task.examples(count, seed)
    loss, alignment = exact.forced(MODEL, pairs)
    assert loss == pytest.approx(evaluate.loss(MODEL, pairs), rel=1e-5)
    for layer in range(2):
        for head in range(2):
            for place, row in enumerate(ROWS):
                assert float(alignment[layer, head, place]) == pytest.approx(by_hand(pairs, Choice(layer, head, row)))


def by_hand(pairs: list[Example], choice: Choice) -> float:
    path, right, linked = f"decoder.layers.{choice.layer}.cross_attention.weights", 0, 0
    for pair in pairs:
        with torch.inference_mode(), tracing() as recording:
            collate([pair]).logits(MODEL)
        weights = recording[path].tensor[0, choice.head].tolist()
        for target in {t for t, _ in pair.links}:
            row = weights[target + (choice.row == "read")]
            right += (target, row.index(max(row))) in pair.links
            linked += 1
    return right / linked


def test_the_best_head_is_the_one_of_the_largest_accuracy() -> None:
    found = exact.Measures(0.0, 0.0, torch.tensor([[[0.1, 0.2], [0.3, 0.9]], [[0.9, 0.1], [0.2, 0.3]]]))
    assert found.best == Choice(0, 1, "read")
    assert found.aligned(found.best) == pytest.approx(0.9)


def test_exact_match_counts_whole_outputs() -> None:
    wrong = task.examples(6, 1)
    right = []
    for pair in wrong:
        source = torch.tensor([[*(pair.source or ()), END]])
        ids = greedy(MODEL, source, limit=6)[0].ids
        right.append(Example(pair.source, tuple(id_ for id_ in ids if id_ != END)))
    ended = [pair for pair in right if len(pair.target) < 6]
    assert exact.exact_match(MODEL, [*ended, *wrong]) == pytest.approx(
        (len(ended) + sum(pair.target == own.target for pair, own in zip(wrong, right, strict=True))) / (len(ended) + len(wrong))
    )


def test_losses_by_length_add_up_to_the_loss_of_all() -> None:
    pairs = task.examples(30, 2)
    by_length = exact.loss_by_length(MODEL, pairs)
    assert set(by_length) == {len(pair.source or ()) for pair in pairs}
    tokens = {length: sum(len(pair.target) + 1 for pair in pairs if len(pair.source or ()) == length) for length in by_length}
    total = sum(by_length[length] * tokens[length] for length in by_length) / sum(tokens.values())
    assert total == pytest.approx(exact.forced(MODEL, pairs)[0], rel=1e-5)
