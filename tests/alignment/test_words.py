"""What a word is, and which word a token belongs to."""

import itertools
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.alignment.words import chinese_share, indices, of_tokens, split, words

TEXTS = st.text(
    st.one_of(
        st.sampled_from(" \t\n'’-.,:/?!«»_ao1tsn我，。\u00a0\u202f\u3000\u0301\u200b\u200d👋\U00020000"),
        st.characters(),
    ),
    max_size=30,
)


@dataclass(frozen=True)
class Piece:
    """The two things of a token that count here."""

    span: tuple[int, int]
    special: bool = False


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't know.", "I|do|n't|know|."),
        ("It's o'clock, Mr. O'Brien!", "It|'s|o'clock|,|Mr.|O'Brien|!"),
        ("We'll, I’ve, wouldn't've", "We|'ll|,|I|’ve|,|would|n't|'ve"),
        ("Je t'aime.", "Je|t'|aime|."),
        ("Qu'est-ce qu'il a aujourd’hui ?", "Qu'|est-ce|qu'|il|a|aujourd’|hui|?"),
        ("l' amour, i 've, n't", "l'|amour|,|i|'ve|,|n't"),
        ("Suggérez-vous une théorie ?", "Suggérez-vous|une|théorie|?"),
        ("« Bonjour », dit-il : « 3,5 € »", "«|Bonjour|»|,|dit-il|:|«|3,5|€|»"),
        ("At 8:30, 3.5 on 2024-05-06...", "At|8:30|,|3.5|on|2024-05-06|..."),
        ("'yes' (no) -- “maybe”", "'|yes|'|(|no|)|--|“|maybe|”"),
        ("the U.S. at 5 p.m. is it I.", "the|U.S.|at|5|p.m.|is|it|I|."),
        ("你好，世界！ABC 3个", "你|好|，|世|界|！|ABC|3|个"),
        ("\U00020000\U0002a6d6\u3007", "\U00020000|\U0002a6d6|\u3007"),
        ("e\u0301te\u0301 hi👋🏽!", "e\u0301te\u0301|hi|👋🏽|!"),
        ("1E1 NaN a.b[0] &lt;", "1E1|NaN|a|.|b|[|0|]|&|lt|;"),
    ],
)
def test_words_with_punctuation_split_off(text: str, expected: str) -> None:
    assert words(text, split_punctuation=True) == tuple(expected.split("|"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't know.  No!", "I|don't|know.|No!"),
        ("你好，world!世", "你|好|，|world!|世"),
        ("a\tb\nc\r\nd\u2028e", "a|b|c|d|e"),
        ("", ""),
    ],
)
def test_words_as_they_stand(text: str, expected: str) -> None:
    assert words(text, split_punctuation=False) == tuple(word for word in expected.split("|") if word)


def test_a_no_break_space_never_splits() -> None:
    """Case 13 of the public record: no-break, narrow no-break and double spaces, and an ideographic one."""
    french = "Il a\u00a03\u202f000  euros . "
    assert words(french, split_punctuation=False) == ("Il", "a\u00a03\u202f000", "euros", ".")
    assert words("10\u202f000 amis\u00a0?", split_punctuation=True) == ("10\u202f000", "amis", "?")
    assert words("I\u3000am here", split_punctuation=False) == ("I\u3000am", "here")
    assert words("我\u3000在 这里", split_punctuation=False) == ("我", "在", "这", "里")


@settings(max_examples=50)
@given(TEXTS, st.booleans())
def test_spans_are_in_order_and_cover_all_that_is_seen(text: str, split_punctuation: bool) -> None:
    spans = split(text, split_punctuation)
    assert all(start < end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    covered = {index for start, end in spans for index in range(start, end)}
    assert all(text[index].isspace() for index in range(len(text)) if index not in covered)


@settings(max_examples=50)
@given(TEXTS, TEXTS)
def test_a_space_always_parts(left: str, right: str) -> None:
    assert len(split(f"{left} {right}", False)) == len(split(left, False)) + len(split(right, False))


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(categories=["Ll", "Nd"], max_codepoint=0x24F), min_size=1), min_size=1))
def test_plain_words_are_found_again(given_words: list[str]) -> None:
    for split_punctuation in (False, True):
        assert words(" ".join(given_words), split_punctuation) == tuple(given_words)


def test_tokens_find_their_word() -> None:
    text = "don't go"
    tokens = [Piece(span) for span in ((0, 3), (3, 4), (4, 5), (6, 8))]  # don ' t go; the words are do n't go
    assert of_tokens([*tokens, Piece((8, 8), special=True)], text) == (0, 1, 1, 2, 3)
    assert of_tokens(tokens, text, split_punctuation=False) == (0, 0, 0, 1)


def test_odd_tokens_shift_nothing() -> None:
    text = "hello \U000f0000 world"
    spans = [
        (0, 0),
        (0, 5),
        (5, 6),
        (7, 7),
        (8, 13),
        (13, 13),
    ]  # nothing, a word, a bare space, nothing, a word, nothing
    assert of_tokens([Piece(span) for span in spans], text, split_punctuation=False) == (0, 0, 1, 2, 2, 2)


def test_special_tokens_have_words_of_their_own() -> None:
    special = Piece((0, 0), special=True)
    assert of_tokens([special, Piece((0, 1)), special], "a b") == (2, 0, 3)
    assert of_tokens([special, Piece((0, 0)), special], "") == (0, 1, 2)


@settings(max_examples=50)
@given(TEXTS)
def test_every_word_is_reached_by_its_characters(text: str) -> None:
    spans = split(text, True)
    tokens = [Piece((index, index + 1)) for start, end in spans for index in range(start, end)]
    assert indices(tokens, spans) == tuple(word for word, (start, end) in enumerate(spans) for _ in range(start, end))


@pytest.mark.parametrize(
    ("text", "share"),
    [("我爱你。", 1.0), ("I love you.", 0.0), ("Tom喝茶。", 2 / 3), ("I know 北京", 0.5), ("3.5 - 2024", None), ("", None)],
)
def test_the_share_of_chinese_is_of_words_with_letters(text: str, share: float | None) -> None:
    assert chinese_share(text) == share
