"""Looking into a tokenizer: the cut that is shown is the cut that the engine makes; search takes anything."""

import json
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analysis import vocabulary
from model.tokenizer import SPECIALS, Tokenizer
from model.translator import load
from tests.model import tiny

TEXTS = st.text(st.sampled_from("the catdog THE.,!?12éàçœ 'e\u0301\u00a0\u202f\u3000\u200b我爱你。☃<s>\n\ue000"), max_size=24)


small = cache(tiny.shared_bpe)


@cache
def target_of(name: str) -> Tokenizer:
    return load(name, device="cpu").tokenizers.target


@pytest.fixture
def french() -> Tokenizer:
    return target_of("en-fr")


@pytest.fixture
def chinese() -> Tokenizer:
    return target_of("en-zh")


def test_merges_are_those_of_the_file_in_the_order_learned(french: Tokenizer, chinese: Tokenizer) -> None:
    rules = json.loads(french.engine.to_str())["model"]["merges"]
    ranks = vocabulary.merge_ranks(french)
    assert [ranks[tuple(pair)] for pair in rules] == list(range(len(rules)))
    assert vocabulary.merge_ranks(chinese) == {}
    assert (vocabulary.kind(french), vocabulary.kind(chinese)) == ("bpe", "characters")


@settings(max_examples=40)
@given(TEXTS)
def test_the_cut_shown_is_the_cut_made(text: str) -> None:
    for tokenizer in (target_of("en-fr"), target_of("en-zh")):
        words = vocabulary.cut(tokenizer, text)
        assert tuple(token for word in words for token in word.tokens) == tokenizer.encode(text)
        for word in words:
            ids = [tokenizer.vocabulary[piece] for piece in word.pieces]
            assert [token.id for token in word.tokens] == [id_ for id_ in ids if id_ != tokenizer.space]
            assert "".join(word.characters) == word.text
            for merge in word.merges:
                assert merge.left + merge.right in merge.pieces


def test_a_word_is_merged_step_by_step_earliest_pair_first(french: Tokenizer) -> None:
    (word,) = vocabulary.cut(french, "unbelievable")
    assert word.characters == (" ", *"unbelievable")
    ranks = vocabulary.merge_ranks(french)
    before = word.characters
    for merge in word.merges:
        possible = [ranks[pair] for pair in pairwise(before) if pair in ranks]
        assert merge.rank == min(possible)
        assert len(merge.pieces) == len(before) - 1
        before = merge.pieces
    assert word.pieces == before
    assert len(word.pieces) > 1


def test_the_word_worth_looking_at_has_the_most_pieces(french: Tokenizer) -> None:
    words = vocabulary.cut(french, "The unbelievable cat is unbelievable.")
    assert words[vocabulary.most_merged(words)].text == " unbelievable"
    assert vocabulary.most_merged(words) == 1
    assert vocabulary.most_merged(()) == 0


def test_an_unknown_character_is_its_own_piece_and_merges_with_nothing(french: Tokenizer) -> None:
    (word,) = vocabulary.cut(french, "☃!")
    assert word.pieces == (" ", SPECIALS[3], "!")
    assert [token.text for token in word.tokens] == ["☃", "!"]
    assert word.tokens[0].unknown


def test_numbers_of_a_vocabulary(french: Tokenizer, chinese: Tokenizer) -> None:
    counted = vocabulary.summary(french)
    assert counted.pieces == len(french)
    assert counted.characters + counted.merges + len(SPECIALS) == counted.pieces
    assert counted.spaced == sum(piece[0] == " " and len(piece) > 1 for piece in french.pieces)
    assert counted.longest.shown[0] == vocabulary.SPACE
    counted = vocabulary.summary(chinese)
    assert (counted.kind, counted.characters, counted.merges) == ("characters", len(chinese) - len(SPECIALS), 0)


def test_search_counts_all_and_shows_the_closest_first(french: Tokenizer) -> None:
    found = vocabulary.search(french, "LOVE")
    assert found.total == sum("love" in piece.casefold() for piece in french.pieces)
    assert found.entries[0].piece == " love"
    assert vocabulary.search(french, "847").entries[0].id == 847
    assert vocabulary.search(french, "e\u0301t") == vocabulary.search(french, "ét")
    assert all(" the" in entry.piece.casefold() for entry in vocabulary.search(french, "␣the").entries)
    assert vocabulary.search(french, "the").total > vocabulary.search(french, " the").total
    everything = vocabulary.search(french, "")
    assert everything.total == len(french)
    assert [entry.id for entry in everything.entries] == list(range(vocabulary.MOST_HITS))
    assert vocabulary.search(french, "<s>").entries[0].special


@settings(max_examples=30)
@given(st.text(max_size=8))
def test_search_takes_anything(asked: str) -> None:
    found = vocabulary.search(small(), asked)
    assert len(found.entries) == min(found.total, vocabulary.MOST_HITS)
    assert all(entry.shown.strip() for entry in found.entries)


def test_spellings_that_look_alike_have_the_same_ids_and_a_hidden_character_has_not(french: Tokenizer) -> None:
    found = {spelling.name: spelling for spelling in vocabulary.spellings(french, "The café is here.")}
    assert not found["composed"].differs
    for name in ("decomposed", "no_break", "narrow", "ideographic", "doubled"):
        assert found[name].differs
        assert found[name].same
    assert not found["zero_width"].same
    assert not any(spelling.differs for spelling in vocabulary.spellings(french, "cat"))


def test_pieces_are_printable_and_their_spaces_seen() -> None:
    assert vocabulary.visible(" the") == "␣the"
    assert vocabulary.visible(" ") == "␣"
    assert vocabulary.visible("\u200b") == "U+200B"
    assert vocabulary.visible("\u0301") == "◌\u0301"
