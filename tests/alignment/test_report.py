"""The HTML report: hostile text stays text, its numbers are those of the measures, it needs nothing but itself."""

import io
import re
from datetime import date
from html.parser import HTMLParser

import pytest

from model.alignment.baseline import diagonal
from model.alignment.corpus import Aligned, Settings
from model.alignment.extract import Choice
from model.alignment.formats import GoldLinks
from model.alignment.metrics import Counts
from model.alignment.report import LANGUAGES, caption_of, html_report, labels_of
from model.alignment.report_pair import groups_of, number
from tests.alignment.aligned import ATTACK, ATTACK_GOLD, CAR, CAR_GOLD, HOSTILE, LONG

PAIRS = [CAR, ATTACK, LONG]
GOLD = [CAR_GOLD, ATTACK_GOLD, None]
FILE_NAME = '../"><img src=x onerror=alert(1)>.tsv'
CAPTION = caption_of("en-fr", Choice(2, None, "read"), Settings(threshold=0.2), languages=("en", "fr"), files=(FILE_NAME,))
OURS = {"html", "head", "meta", "title", "style", "script", "body", "main", "section"} | {
    "h1",
    "h2",
    "h3",
    "p",
    "b",
    "bdi",
    "sup",
}
OURS |= {"span", "ul", "li", "dl", "dt", "dd", "div", "table", "thead", "tbody", "tr", "th", "td"}


def report(
    pairs: list[Aligned] = PAIRS,
    gold: list[GoldLinks | None] | None = GOLD,
    caption: dict[str, str] = CAPTION,
    language: str = "en",
) -> str:
    file = io.StringIO()
    html_report(pairs, gold, caption, language, file)
    return file.getvalue()


class Reader(HTMLParser):
    """The elements of a page, the text that it shows, and the cells of its tables by their id."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._hidden = False
        self._table = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self._hidden = tag in ("style", "script")
        if tag == "table":
            self._table = str(dict(attrs)["id"])
            self.tables[self._table] = []
        elif tag == "tr":
            self.tables[self._table].append([])
        elif tag in ("td", "th"):
            self.tables[self._table][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False
        if tag == "table":
            self._table = ""

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        self.text.append(data)
        if self._table and self.tables[self._table] and self.tables[self._table][-1]:
            self.tables[self._table][-1][-1] += data


def test_hostile_text_is_text() -> None:
    page = report()
    read = Reader(page)
    assert set(read.tags) <= OURS
    assert read.tags.count("script") == 1  # ours
    assert not [name for name in read.attributes if name.startswith("on")]
    for text in (HOSTILE, "&lt;", "a_b", "**bold**", "$x$", "\u202eabc", FILE_NAME):
        assert any(text in shown for shown in ["".join(read.text), *read.text]), text


def test_it_needs_nothing_but_itself() -> None:
    page = report()
    assert "http" not in page.replace("http-equiv", "")
    assert not re.search(r"\b(src|href|url|import)\b\s*[=(]", page.replace("img src=x", ""))
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_numbers_are_those_of_the_measures() -> None:
    tables = Reader(report()).tables
    links = [{(link.source, link.target) for link in one.links} for one in PAIRS[:2]]
    sure, possible = zip(*GOLD[:2], strict=True)  # type: ignore[arg-type]  # there is gold of both
    guessed = [diagonal(len(one.source_words), len(one.target_words)) for one in PAIRS[:2]]
    here, there = Counts.of(links, sure, possible), Counts.of(guessed, sure, possible)
    assert [row[1:] for row in tables["measures"][1:]] == [
        [number(here.alignment_error_rate), number(there.alignment_error_rate)],
        [number(here.precision), number(there.precision)],
        [number(here.recall), number(there.recall)],
    ]
    mean = (CAR.scores.confidence + ATTACK.scores.confidence) / 2
    assert [row[1] for row in tables["facts"]] == ["3", "1", "5", number(mean), "2"]


def test_gold_and_hypothesis_are_told_apart_by_signs() -> None:
    items = re.findall(r"<li>.*?</li>", report([CAR], [CAR_GOLD]))[5:]  # after the five of the legend
    shown = ["".join(Reader(f"<table id=x>{item}").text) for item in items]
    assert shown == [
        "✓ 0-0 the – la 0.900",
        "✓ 1-2 red – rouge 0.800",
        "+ 2-0 car – la 0.250",
        "(✓) 2-1 car – voiture 0.700",
        "○ 2-2 car – rouge",
    ]
    missed = re.findall(r"<li>.*?</li>", report([ATTACK], [ATTACK_GOLD]))[5:]
    assert any(">−<" in item and "1-2" in item for item in missed)


def test_without_gold_there_is_no_measure() -> None:
    read = Reader(report(gold=None))
    assert "measures" not in read.tables
    assert "✓" not in "".join(read.text)
    assert "0-0 the – la 0.900" in "".join(read.text)


def test_why_a_pair_was_not_aligned_is_said() -> None:
    assert "The source has 900 tokens." in report([LONG], None)
    file = io.StringIO()
    html_report([LONG], None, {}, "zh", file, told=lambda message: f"代码 {message.code}")
    assert "代码 too_long" in file.getvalue()


def test_caption_says_how_it_was_made() -> None:
    rows = dict(Reader(report()).tables["settings"])
    assert rows["Layer (from 1)"] == "3"
    assert rows["Head (from 1)"] == "mean of the heads"
    assert rows["Row"] == "the row that reads the word"
    assert rows["Links"] == "> 0.2"
    assert rows["Languages"] == "en → fr"
    assert rows["Files"] == FILE_NAME
    assert rows["Date of this file"] == date.today().isoformat()
    joined = caption_of("en-fr", Choice(0, 1, "produced"), Settings(symmetrize="union"), reverse="fr-en", date="2020-01-02")
    assert joined["path"] == "decoder.layers.0.cross_attention, head 1"
    assert (joined["symmetrization"], joined["date"], joined["head"]) == ("union (fr-en)", "2020-01-02", "2")


def test_both_languages_say_the_same_things() -> None:
    assert set(labels_of("en")) == set(labels_of("zh"))
    page = report(language="zh")
    assert '<html lang="zh">' in page
    assert "对齐错误率" in page
    with pytest.raises(ValueError, match="'xx' is unknown; choose one of en, zh"):
        report(language="xx")
    assert set(LANGUAGES) == {"en", "zh"}


def test_linked_words_share_a_number() -> None:
    assert groups_of(frozenset({(0, 0), (1, 2), (2, 1), (2, 0)})) == ({0: 1, 1: 2, 2: 1}, {0: 1, 1: 1, 2: 2})
    assert groups_of(frozenset()) == ({}, {})
    page = report([CAR], None)
    assert len(re.findall(r'class="word c1" data-group="1"', page)) == 4
    assert 'class="word alone"' not in page


def test_pairs_are_written_as_they_come() -> None:
    file, most = io.StringIO(), 40
    taken = 0

    def stream() -> object:
        nonlocal taken
        for _ in range(most):
            taken += 1
            yield CAR

    summary = html_report(stream(), None, {}, "en", file)  # type: ignore[arg-type]
    assert (summary.pairs, taken) == (most, most)
    assert file.getvalue().count('<section class="pair"') == most
