"""Signs of a bad translation: how unsure the model was, and whether it repeats itself."""

import math
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import Translator
from model.analysis import doubt
from model.tokenizer import END, Token


def tokens(*texts: str) -> tuple[Token, ...]:
    return (*(Token(text, 9, (0, len(text))) for text in texts), Token("</s>", END, (0, 0), special=True))


@given(st.lists(st.floats(-20, 0), min_size=1))
def test_nats_are_the_logarithm_of_the_geometric_mean(values: list[float]) -> None:
    assert math.exp(-doubt.nats(values) * len(values)) == pytest.approx(math.exp(sum(values)))
    assert doubt.nats([]) == 0


def test_usual_is_the_median_over_own_translations(translator: Translator) -> None:
    sources = ("A dog.", "The red car is here.", "Rain")
    own = [translator.translate(source) for source in sources]
    assert doubt.usual(translator, sources) == pytest.approx(median(-each.score / len(each.produced) for each in own))


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (("L", "'", "al", "al", "al", "os"), ("al", 3)),
        ((" la", " main", " la", " main", " la", " main", "."), ("la main", 3)),
        (("皮", "肤", "肤", "肤", "肤"), ("肤", 4)),
        ((" la", " main", " la", " main"), None),
        (("1", "0", "0", "0", ".", ".", "."), None),
        ((" no", ",", " no"), None),
        ((), None),
    ],
)
def test_what_stands_three_times_in_a_row_is_found(texts: tuple[str, ...], found: tuple[str, int] | None) -> None:
    assert doubt.repeated(tokens(*texts)) == found
