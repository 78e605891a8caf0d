"""A reordered sentence, with positions and without."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model import Translator
from model.analysis import order, what_if

SENTENCE = "the dog sees the cat"


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.integers(0, 30), st.sampled_from(sorted(order.ORDERS)))
def test_an_order_is_a_permutation(count: int, name: str) -> None:
    assert sorted(order.ORDERS[name](count)) == list(range(count))


@pytest.mark.parametrize("name", sorted(order.ORDERS))
def test_words_move_whole_and_the_end_stays(translator: Translator, name: str) -> None:
    tokens = translator.source_tokens(SENTENCE)
    places = order.reordered(tokens, SENTENCE, name)
    assert sorted(places) == list(range(len(tokens)))
    assert places[-1] == len(tokens) - 1
    typed = SENTENCE.split()
    moved = "".join(tokens[place].text.strip() for place in places if not tokens[place].special)
    assert moved == "".join(typed[at] for at in order.ORDERS[name](len(typed)))


def test_an_unknown_order_is_refused(translator: Translator) -> None:
    with pytest.raises(ValueError, match="order='sorted' is not known"):
        order.reordered(translator.source_tokens(SENTENCE), SENTENCE, "sorted")


@pytest.mark.usefixtures("quick")
def test_without_positions_the_encoder_is_permutation_equivariant(shared: Translator) -> None:
    found = order.compare(shared, shared.trace(SENTENCE, "le chien"), "reversed")
    assert found.text.split() == SENTENCE.split()[::-1]
    whole = found.readings["none"]
    assert whole.difference > 0.01
    for removed in ("source", "both"):
        reading = found.readings[removed]
        assert reading.difference < 1e-5 * reading.largest
        assert reading.written == reading.rewritten
    assert whole.written == shared.translate(SENTENCE).text


def test_positions_are_taken_from_one_side_only(shared: Translator) -> None:
    altered = what_if.without_positions(shared, ("source",))
    assert altered.model.source.positions is None
    assert altered.model.target.positions is not None
    assert shared.model.source.positions is not None
