"""What is written is read back as the same pairs, whatever stands in them."""

import io
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.alignment.formats import FormatError, Pair, read_pairs, write_pairs
from model.alignment.formats.pairs import one_line
from tests.alignment.formats.brought import Named, packed

FORMATS = ("tsv", "csv", "bars", "jsonl", "json", "tmx", "xliff")

AWKWARD = [
    '"',
    '""',
    "'",
    "\t",
    "|",
    "#",
    "=",
    "sep=;",
    "  ",
    ",",
    ";",
    "\\",
    "\\n",
    "{",
    "[",
    "<b>",
    "&lt;",
    "]]>",
    "NA",
    "null",
]
AWKWARD += [
    "\u00a0",
    "\u3000",
    "\u2028",
    "\x0c",
    "\r\n",
    "e\u0301",
    "a\ufeff",
    "你好",
    "\U0001f600",
    "שלום",
    "en",
    "fr",
    "0-0",
    "-->",
]
PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufeff"), max_size=8)
TEXT = st.lists(st.sampled_from(AWKWARD) | PLAIN, min_size=1, max_size=6).map("".join)
PAIRS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6)


def written(pairs: list[tuple[str, str]], format: str) -> bytes:
    stream = io.BytesIO()
    assert write_pairs((Pair(*pair) for pair in pairs), stream, format) == []
    return stream.getvalue()


@settings(max_examples=60, deadline=None)
@given(PAIRS, st.sampled_from(FORMATS))
def test_what_is_written_is_read(pairs: list[tuple[str, str]], format: str) -> None:
    expected = [(one_line(source), one_line(target)) for source, target in pairs]
    if format == "tsv":
        expected = [(source.replace("\t", " "), target.replace("\t", " ")) for source, target in expected]
    if format == "bars" and any("|||" in side for pair in expected for side in pair):
        with pytest.raises(FormatError, match=r"has '\|\|\|' in its text"):
            written(pairs, format)
        return
    expected = [pair for pair in expected if pair[0].strip() and pair[1].strip()]
    content = written(expected, format)
    if not content or not expected:
        return
    found = read_pairs(Named("pairs", content), format, encoding="utf-8", header=format == "csv")
    assert (list(found.rows), list(found.problems)) == (expected, [])


@settings(max_examples=30, deadline=None)
@given(PAIRS)
def test_two_files_keep_every_line(pairs: list[tuple[str, str]]) -> None:
    files = Named("a.en", b""), Named("a.fr", b"")
    write_pairs(pairs, files, "lines")
    found = read_pairs(files, "lines", encoding="utf-8")
    expected = [(one_line(source), one_line(target)) for source, target in pairs]
    assert list(found.rows) == expected


@pytest.mark.parametrize("format", FORMATS)
def test_an_ordinary_file_is_known_for_what_it_is(format: str) -> None:
    pairs = [("Where is it?", "Où est-il ?"), ('He said "yes", twice', "二 « oui »"), ("#1 = 100 %", "n° 1")]
    found = read_pairs(Named("download", written(pairs, format)))
    assert (found.format, list(found.rows), list(found.problems)) == (format, pairs, [])
    assert found.languages == (("", "") if format in ("tsv", "bars") else ("en", "fr"))


def test_half_a_surrogate_pair_can_be_written() -> None:
    assert written([("a\ud800", "b")], "tsv") == "a\ufffd\tb\n".encode()


def test_what_is_not_written_is_named() -> None:
    for format, streams in (("srt", io.BytesIO()), ("lines", io.BytesIO()), ("tsv", [io.BytesIO()] * 2)):
        with pytest.raises(FormatError):
            write_pairs([Pair("a", "b")], streams, format)


@pytest.mark.parametrize("format", ["lines", "tsv", "csv", "jsonl", "zip"])
def test_reading_takes_no_more_memory_for_more_pairs(format: str) -> None:
    peaks = []
    for count in (3_000, 7_000):  # both fill several blocks
        pairs = [Pair(f"The cat {number} sat on the mat, it did .", f"Le chat {number} était là .") for number in range(count)]
        sides = ["".join(f"{pair[side]}\n" for pair in pairs).encode() for side in (0, 1)]
        if format == "lines":
            streams = [Named("a.en", sides[0]), Named("a.fr", sides[1])]
        elif format == "zip":
            streams = [Named("a.zip", packed([("a.en", sides[0]), ("a.fr", sides[1])]))]
        else:
            streams = [Named(f"a.{format}", written(pairs, format))]
        del pairs, sides
        tracemalloc.start()
        assert sum(1 for _ in read_pairs(streams).rows) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 400_000
