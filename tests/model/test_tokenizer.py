"""Pieces point at what was typed, come back as text, and are never control tokens; odd characters keep a place and a label."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.tokenizer import END, PADDING, SPECIALS, START, UNKNOWN, Token, Tokenizer, printable, special, train_bpe, train_words
from tests.model import tiny

SHARED, CHARACTERS, WORDS = tiny.shared_bpe(), tiny.chinese_characters(), train_words(tiny.ENGLISH)
EVERY = pytest.mark.parametrize("tokenizer", [SHARED, CHARACTERS, WORDS], ids=["shared", "characters", "words"])
TEXTS = st.text(
    st.one_of(
        st.sampled_from(
            " \t\nàéêIlove.,'’?12我爱你。，<>&/s\u0301\u0302\u0323\u00a0\u202f\u3000\u200b\u200d\ue000\x07\x1c\u0958👋🏽اש"
        ),
        st.characters(exclude_categories=[]),
    ),
    max_size=25,
)


@EVERY
class TestEveryText:
    @settings(max_examples=200)
    @given(text=TEXTS)
    @example(text="e\u0301te\u0301 \u1112\u1161\u11ab")
    @example(text="x\u0302y")
    @example(text="a \x1c b")
    @example(text="\ud83d a")
    def test_spans_point_at_what_was_typed(self, tokenizer: Tokenizer, text: str) -> None:
        before, covered = (0, 0), [False] * len(text)
        for token in tokenizer.encode(text):
            begin, end = token.span
            assert token.text == text[begin:end]
            assert begin < end
            assert begin >= before[1] or token.span == before, "in order, none overlapping, unless one character is two"
            assert not token.special
            assert token.unknown == (token.id == UNKNOWN)
            assert token.id not in (PADDING, START, END)
            assert token.label.strip()
            assert not any(unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs") for character in token.label)
            before = token.span
            covered[begin:end] = [True] * (end - begin)
        missed = [character for character, seen in zip(text, covered, strict=True) if not seen]
        assert all(character.isspace() for character in missed), "every character but spaces belongs to a token"

    @settings(max_examples=50)
    @given(texts=st.lists(TEXTS, max_size=4))
    def test_ids_are_those_of_the_tokens(self, tokenizer: Tokenizer, texts: list[str]) -> None:
        assert tokenizer.ids(texts) == [[token.id for token in tokenizer.encode(text)] for text in texts]

    @settings(max_examples=100)
    @given(text=TEXTS)
    def test_composed_or_not_the_ids_are_the_same(self, tokenizer: Tokenizer, text: str) -> None:
        composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
        assert tokenizer.ids([composed]) == tokenizer.ids([decomposed]) == tokenizer.ids([text])

    @settings(max_examples=100)
    @given(data=st.data())
    def test_what_was_produced_stands_in_its_text(self, tokenizer: Tokenizer, data: st.DataObject) -> None:
        ids = data.draw(st.lists(st.integers(0, len(tokenizer) - 1), max_size=12))
        text, tokens = tokenizer.decode(ids), tokenizer.produced(ids)
        assert [token.id for token in tokens] == ids
        for token in tokens:
            assert token.special == (token.id in (PADDING, START, END))
            assert 0 <= token.span[0] <= token.span[1] <= len(text)
            if not token.special:
                assert token.text == text[slice(*token.span)]
            assert token.label

    @pytest.mark.parametrize("text", ["", " ", "\t \n", "\u00a0\u3000"])
    def test_nothing_but_spaces_has_no_tokens(self, tokenizer: Tokenizer, text: str) -> None:
        assert tokenizer.encode(text) == ()

    def test_specials_have_the_same_ids_everywhere(self, tokenizer: Tokenizer) -> None:
        assert tokenizer.pieces[:4] == SPECIALS == ("<pad>", "<s>", "</s>", "<unk>")
        assert (PADDING, START, END, UNKNOWN) == (0, 1, 2, 3)
        assert len(tokenizer) == len(set(tokenizer.pieces))

    @pytest.mark.parametrize("typed", SPECIALS)
    def test_typed_control_tokens_are_ordinary_characters(self, tokenizer: Tokenizer, typed: str) -> None:
        tokens = tokenizer.encode(f"I {typed} you")
        assert "".join(token.text for token in tokens) == f"I{typed}you"
        assert len(tokens) > 3

    def test_saved_and_loaded(self, tokenizer: Tokenizer, tmp_path: Path) -> None:
        tokenizer.save(tmp_path / "tokenizer.json")
        again = Tokenizer.load(tmp_path / "tokenizer.json")
        text = "I love <s> the café. 我爱你"
        assert again.encode(text) == tokenizer.encode(text)
        assert again.pieces == tokenizer.pieces


class TestRoundTrip:
    @pytest.mark.parametrize("text", [*tiny.ENGLISH, *tiny.FRENCH])
    def test_shared_pieces_give_the_text_back(self, text: str) -> None:
        assert SHARED.decode(SHARED.ids([text])[0]) == text

    @pytest.mark.parametrize("text", tiny.CHINESE)
    def test_characters_give_the_text_back(self, text: str) -> None:
        assert CHARACTERS.decode(CHARACTERS.ids([text])[0]) == text
        assert [token.text for token in CHARACTERS.encode(text)] == list(text)

    def test_letter_case_is_kept(self) -> None:
        assert SHARED.decode(SHARED.ids(["The the THE"])[0]).split()[:2] == ["The", "the"]

    def test_special_tokens_are_left_out_and_unknown_ones_shown(self) -> None:
        ids = [START, *SHARED.ids(["I love"])[0], UNKNOWN, END, PADDING]
        assert SHARED.decode(ids) == "I love<unk>"
        tokens = SHARED.produced(ids)
        assert [token.text for token in tokens if token.special] == ["<s>", "</s>", "<pad>"]
        assert next(token for token in tokens if token.unknown).label == "<unk>"

    def test_a_space_that_was_produced_alone(self) -> None:
        assert SHARED.space is not None
        ids = [SHARED.space, *SHARED.ids(["I"])[0], SHARED.space]
        assert SHARED.decode(ids) == "I"
        assert [token.span for token in SHARED.produced(ids)] == [(0, 0), (0, 1), (1, 1)]


class TestCasesFromThePublicRecord:
    def test_composed_and_decomposed_accents(self) -> None:
        composed, decomposed = SHARED.encode("caf\u00e9"), SHARED.encode("cafe\u0301")
        assert [token.id for token in composed] == [token.id for token in decomposed]
        assert not any(token.unknown for token in composed)
        assert "".join(token.text for token in decomposed) == "cafe\u0301"

    @pytest.mark.parametrize(
        ("odd", "label"), [("\ue000", "U+E000"), ("\u200b", "U+200B"), ("\x07", "U+0007"), ("\x1c", "U+001C")]
    )
    @EVERY
    def test_a_character_that_others_lose_keeps_its_column(self, tokenizer: Tokenizer, odd: str, label: str) -> None:
        tokens = tokenizer.encode(f"I {odd} I")
        assert [token.text for token in tokens] == ["I", odd, "I"]
        assert [token.span for token in tokens] == [(0, 1), (2, 3), (4, 5)]
        assert tokens[1].label == f"<unk> {label}"

    def test_spaces_of_all_kinds_part_pieces_and_are_none(self) -> None:
        tokens = SHARED.encode("le\u00a0café\u202f :  est ")
        assert "".join(token.text for token in tokens) == "lecafé:est"
        assert not any(token.text.isspace() or not token.text for token in tokens)
        assert SHARED.ids(["le\u00a0café"]) == SHARED.ids(["le café"])
        assert [token.text for token in CHARACTERS.encode("我\u3000爱 你")] == ["我", "爱", "你"]

    def test_unknown_words_stay_apart(self) -> None:
        tokens = CHARACTERS.encode("我鏖爱魑你魅")
        assert [token.label for token in tokens] == ["我", "<unk> 鏖", "爱", "<unk> 魑", "你", "<unk> 魅"]
        assert [token.unknown for token in tokens] == [False, True] * 3

    @pytest.mark.parametrize(
        "text", ["مرحبا abc שלום 12", "👋🏽 hi 👩‍👩‍👧", "<b>x</b> &lt;", "1E1 2024-05-06 NaN a.b[0]", "$x_1$ **a** [b](c)"]
    )
    @EVERY
    def test_order_is_reading_order_and_text_is_as_typed(self, tokenizer: Tokenizer, text: str) -> None:
        tokens = tokenizer.encode(text)
        assert "".join(token.text for token in tokens) == "".join(text.split())
        assert [token.span for token in tokens] == sorted(token.span for token in tokens)

    def test_repeated_words_keep_their_own_places(self) -> None:
        tokens = SHARED.encode("I I I")
        assert [token.span for token in tokens] == [(0, 1), (2, 3), (4, 5)]
        assert len(set(tokens)) == 3


class TestLabels:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("café", "café"),
            ("<b>", "<b>"),
            ("a b", "a b"),
            ("\u200b", "U+200B"),
            ("a\u200bb", "aU+200Bb"),
            ("\t", "U+0009"),
            (" ", "U+0020"),
            ("\u00a0", "U+00A0"),
            ("\u0301", "◌\u0301"),
            ("\U000e0041", "U+E0041"),
            ("", "∅"),
        ],
    )
    def test_whatever_cannot_be_seen_is_written_by_its_number(self, text: str, shown: str) -> None:
        assert printable(text) == shown

    def test_special_tokens_show_their_name(self) -> None:
        assert special(END, 5) == Token("</s>", END, (5, 5), special=True)
        assert [special(id_).label for id_ in (PADDING, START, END)] == ["<pad>", "<s>", "</s>"]


class TestTraining:
    def test_the_same_sentences_give_the_same_pieces(self) -> None:
        assert tiny.shared_bpe().pieces == SHARED.pieces
        assert tiny.chinese_characters().pieces == CHARACTERS.pieces

    def test_rare_characters_stay_unknown(self) -> None:
        tokenizer = train_bpe([*["I love you."] * 9, "I love ж.", "I\u00a0love\u00a0you.", *["a\u202fb"] * 6], 60, minimum=5)
        assert [token.text for token in tokenizer.encode("I love ж") if token.unknown] == ["ж"]
        assert not any(token.unknown for token in tokenizer.encode("I love you. a b"))

    def test_digits_stand_alone_and_words_end_at_punctuation(self) -> None:
        pieces = [token.text for token in tiny.english_bpe().encode("She knows 12 things.")]
        assert "12" not in pieces
        assert pieces[-1] == "."

    def test_size(self) -> None:
        assert len(SHARED) == 150
        assert len(CHARACTERS) == 4 + len(set("".join(tiny.CHINESE)))
