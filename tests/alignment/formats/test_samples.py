"""The sample files of the studio: one set of pairs and of links a language, in every format without a problem."""

import tomllib
from functools import cache
from pathlib import Path

import pytest

import model
from model.alignment import pharaoh
from model.alignment.baseline import diagonal
from model.alignment.corpus import align
from model.alignment.formats import GoldLinks, Pair, read_alignments, read_pairs
from model.alignment.metrics import alignment_error_rate
from model.alignment.words import words

FOLDER = Path(__file__).resolve().parents[3] / "assets" / "examples" / "studio"
LANGUAGES = (("en", "fr"), ("en", "zh"))


@cache
def sample(source: str, target: str) -> tuple[list[Pair], list[GoldLinks]]:
    """Pairs and gold of the two line files and the Pharaoh file."""
    stem = f"{source}-{target}"
    pairs = read_pairs([FOLDER / f"{stem}.{source}", FOLDER / f"{stem}.{target}"], languages=(source, target))
    rows = list(pairs.rows)
    gold = read_alignments(FOLDER / f"{stem}.pharaoh", rows)
    links = list(gold.rows)
    assert (pairs.format, gold.format, gold.base, pairs.problems, gold.problems) == ("lines", "pharaoh", 0, [], [])
    return rows, links


@pytest.mark.parametrize("languages", LANGUAGES)
def test_every_format_holds_the_same_pairs_and_links(languages: tuple[str, str]) -> None:
    stem = "-".join(languages)
    rows, links = sample(*languages)
    assert len(rows) == len(links) == 12
    for suffix in ("tsv", "tmx", "jsonl"):
        for wanted in (languages, languages[::-1]):
            pairs = read_pairs(FOLDER / f"{stem}.{suffix}", languages=wanted)
            assert list(pairs.rows) == (rows if wanted == languages else [Pair(*row[::-1]) for row in rows])
            assert (pairs.format, pairs.problems, pairs.languages) == (suffix, [], wanted)
    naacl = read_alignments(FOLDER / f"{stem}.wa", rows)
    assert (list(naacl.rows), naacl.format, naacl.problems) == (links, "naacl", [])
    table = read_pairs(FOLDER / f"{stem}.tsv")
    assert [GoldLinks(*pharaoh.parse(entry.links)) for entry in table.entries] == links


@pytest.mark.parametrize("languages", LANGUAGES)
def test_gold_counts_the_same_words_with_and_without_splitting(languages: tuple[str, str]) -> None:
    rows, links = sample(*languages)
    for row, gold in zip(rows, links, strict=True):
        source, target = ([words(text, split) for split in (False, True)] for text in row)
        assert source[0] == source[1]
        assert target[0] == target[1]
        assert gold.sure <= gold.possible
        assert all(i < len(source[0]) and j < len(target[0]) for i, j in gold.possible)
        assert {j for _, j in gold.possible} == set(range(len(target[0]))), f"a word of {row.target!r} has no link"


@pytest.mark.parametrize("languages", LANGUAGES)
def test_the_models_know_every_word_and_align_better_than_the_diagonal(languages: tuple[str, str]) -> None:
    atlas = model.load("-".join(languages))
    rows, gold = sample(*languages)
    found = [{(link.source, link.target) for link in pair.links} for pair in align(atlas, rows)]
    sure, possible = [links.sure for links in gold], [links.possible for links in gold]
    flat = [diagonal(len(words(source, False)), len(words(target, False))) for source, target in rows]
    assert alignment_error_rate(found, sure, possible) < 0.5 * alignment_error_rate(flat, sure, possible)
    for source, target in rows:
        trace = atlas.trace(source, target)
        assert not [token.text for token in (*trace.source, *trace.target) if token.unknown]


def test_the_index_names_every_sample_in_both_languages() -> None:
    samples = tomllib.loads((FOLDER / "index.toml").read_text("utf-8"))["sample"]
    assert len({entry["id"] for entry in samples}) == len(samples) == 6
    for entry in samples:
        assert all((FOLDER / name).is_file() for name in (*entry["files"], *entry.get("links", ())))
        assert all(entry[key][language] for key in ("title", "look") for language in ("en", "zh"))
