"""Text built from gold words, and figures put on a card."""

import tomllib
from pathlib import Path

import pytest

from benchmarks import card, gold
from model.alignment.words import words

CASE = {"i": "I", "tom": "Tom", "marie": "Marie"}


@pytest.mark.parametrize(
    ("tokens", "language", "text"),
    [
        ("tom and i wo n't go , will we ?", "en", "Tom and I won't go, will we?"),
        ("qu' a dit marie : « l' eau » ?", "fr", "Qu'a dit Marie : « l'eau » ?"),
        ("Que dit -il ?", "fr", "Que dit-il ?"),
        ('" Go ! " he said . "', "en", '"Go!" he said."'),
        ("tom 喝 茶 。", "zh", "Tom喝茶。"),
    ],
)
def test_gold_words_keep_their_places_in_natural_text(tokens: str, language: str, text: str) -> None:
    built, spans = gold.natural(tokens.split(" "), language, CASE)
    assert built == text
    assert [built[start:end].lower() for start, end in spans] == tokens.lower().split(" ")


def test_usual_case_is_that_inside_sentences() -> None:
    case = gold.usual_case(["Tea is good.", "I think Tom likes tea.", "Does Tom know I do?"])
    assert case == {"i": "I", "tom": "Tom"}


def test_pairs_keep_their_numbers_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "some.en-fr.tsv"
    path.write_text("# a comment\nlong long long\tx\t0-0\na b\tc d\t0-1 1p0\n", encoding="utf-8")
    (pair,) = gold.read(path, longest=2)
    assert (pair.name, pair.number, pair.chooses) == ("some", 1, False)
    assert (pair.sure, pair.possible) == ({(0, 1)}, {(0, 1), (1, 0)})
    assert pair.flipped().sure == {(1, 0)}
    assert pair.flipped().source == ("c", "d")


def test_a_card_keeps_what_was_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "card.toml"
    path.write_text('# ours\n[quality]\nnote = "kept"\nbleu = 1\n\n[[guided]]\nlayer = 1\n\n[alignment.chosen]\nlayer = 9\n')
    card.update(path, {"quality": {"bleu": 40.5}, "alignment": {"chosen": {"aer": 0.1}, "guided": [{"head": 0}, {"head": 1}]}})
    assert "# ours" in path.read_text()
    assert tomllib.loads(path.read_text()) == {
        "quality": {"note": "kept", "bleu": 40.5},
        "guided": [{"layer": 1}],
        "alignment": {"chosen": {"aer": 0.1}, "guided": [{"head": 0}, {"head": 1}]},
    }


def test_natural_text_splits_into_the_gold_words() -> None:
    tokens = ("J'", "ai", "vu", "week-ends", "et", "l'", "eau", ",", "n'", "est-ce", "pas", "?")
    built, _ = gold.natural(tokens, "fr", {})
    assert words(built, split_punctuation=True) == tokens
