"""A decoder that may look ahead learns to copy the answer: its loss says nothing, and alone it writes nonsense."""

import torch

from model.analysis import cheating
from model.analysis.cheating import CHANCE, HALF, SYMBOLS, Repeater, learned, sequences


def test_a_sequence_is_random_then_the_same_then_the_end() -> None:
    made = sequences(5, torch.Generator().manual_seed(0))
    assert made.shape == (5, 2 * HALF + 1)
    assert torch.equal(made[:, :HALF], made[:, HALF:-1])
    assert (made[:, -1] == cheating.END).all()


def test_the_masked_one_stays_at_chance_where_nothing_can_be_foretold_and_the_other_does_not(quick: None) -> None:
    honest, cheat = learned(masked=True), learned(masked=False)
    assert honest.first > 0.95 * CHANCE
    assert honest.second < 0.5 * CHANCE
    assert honest.right > 0.9
    assert cheat.first < 0.05
    assert cheat.second < 0.05
    assert cheat.right < 4 / SYMBOLS
    assert len(honest.first_losses) == cheating.STEPS


def test_the_global_generator_is_not_what_decides(quick: None) -> None:
    one = learned(masked=False, steps=2)
    torch.manual_seed(5)
    assert learned(masked=False, steps=2) == one


def test_under_the_mask_later_symbols_change_nothing() -> None:
    repeater = Repeater(torch.Generator().manual_seed(1))
    whole = sequences(2, torch.Generator().manual_seed(2))[:, :-1]
    other = whole.clone()
    other[:, -1] = (other[:, -1] + 1) % SYMBOLS
    with torch.inference_mode():
        for masked, equal in ((True, True), (False, False)):
            first, second = (repeater(ids, cheating._mask(2 * HALF, masked))[:, :-1] for ids in (whole, other))
            assert torch.equal(first, second) is equal
