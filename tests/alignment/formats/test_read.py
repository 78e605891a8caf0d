"""Files that people bring, by their bytes: the pairs, what was understood, and what is told."""

from pathlib import Path

import pytest

from model.alignment.formats import FormatError, Limits, pasted, read_pairs
from tests.alignment.formats.brought import GOOD, OPUS, UTF16, Named, packed, read, told


@pytest.mark.parametrize("name", GOOD)
def test_a_good_file_gives_its_pairs(name: str) -> None:
    case = GOOD[name]
    pairs, rows = read(*case.files, languages=("en", "fr") if name == "swapped header" else None)
    assert tuple(rows) == case.rows
    assert (pairs.format, pairs.encoding) == (case.format, case.encoding)
    assert tuple((row.source, row.target) for row in pairs.rows) == case.rows  # and once more
    assert pairs.files == tuple(file for file, _ in case.files)


@pytest.mark.parametrize("name", GOOD)
def test_a_file_is_what_it_holds_not_what_it_is_called(name: str) -> None:
    case = GOOD[name]
    if name in ("no header", "dictionaries"):  # a comma is a delimiter only in a file that says so
        return
    files = [(f"{number}.txt", content) for number, (_, content) in enumerate(case.files)]
    pairs, rows = read(*files, languages=("en", "fr") if name == "swapped header" else None)
    assert (pairs.format, tuple(rows)) == (case.format, case.rows)


def test_the_direction_wanted_turns_columns_keys_and_files() -> None:
    for name in ("inner newline", "excel", "json lines", "dictionaries", "moses", "opus", "tmx", "xliff", "subtitles"):
        case = GOOD[name]
        pairs, rows = read(*case.files, languages=("fr", "en"))
        assert tuple(rows) == tuple((target, source) for source, target in case.rows), name
        assert pairs.languages == ("fr", "en"), name
        assert read(*case.files)[0].languages == ("en", "fr"), name


def test_a_path_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"a\tb\n")
    for given in (path, str(path), [path]):
        pairs = read_pairs(given)
        assert (list(pairs.rows), pairs.files) == ([("a", "b")], ("pairs.tsv",))
    with pytest.raises(FormatError, match=r"^none\.tsv: There is no readable file of this name"):
        read_pairs(tmp_path / "none.tsv")


def test_the_name_of_an_upload_is_no_path() -> None:
    pairs, rows = read(("../../etc/passwd", b"a\tb\n"))
    assert (rows, pairs.files) == ([("a", "b")], ("passwd",))


def test_two_readings_of_one_stream_do_not_disturb_each_other() -> None:
    pairs = read_pairs(Named("a.tsv", b"1\tone\n2\n3\tthree\n"))
    assert [(row, entry.line) for row, entry in zip(pairs.rows, pairs.entries, strict=True)] == [
        (("1", "one"), 1),
        (("3", "three"), 3),
    ]
    assert told(pairs) == [("few_cells", 2)]


def test_pasted_text_is_read_like_a_file() -> None:
    assert list(read_pairs(pasted("a\tb\nc\td")).rows) == [("a", "b"), ("c", "d")]
    assert list(read_pairs(pasted("a ||| b")).rows) == [("a", "b")]
    assert list(read_pairs([pasted("a\nc"), pasted("b\nd\n")]).rows) == [("a", "b"), ("c", "d")]
    alone = read_pairs(pasted("Hello, you.\nNo [x] {y} = # more"))
    assert (list(alone.rows), alone.alone) == ([("Hello, you.", ""), ("No [x] {y} = # more", "")], True)
    assert list(read_pairs(pasted("half \ud800 a pair")).rows) == [("half \ufffd a pair", "")]


def test_sources_alone_stay_as_they_are() -> None:
    """Case 5: no character of a line has a meaning."""
    text = (
        "It costs $5 or $6 today.\nsnake_case_name and *stars* and __init__\n[x] {y} (z) # not a heading\n"
        "1. not a list > not a quote\n`tick` :smile: :red[plain] ~~no~~\n"
    )
    pairs, rows = read(("005.txt", text.encode()))
    assert pairs.alone
    assert rows == [(line, "") for line in text.splitlines()]


@pytest.mark.parametrize("first", ["[x] marks", "{y} is a set", "#1 is best", "<b>bold</b>", "sep", "1", '"quoted', "{", "["])
def test_prose_is_not_taken_for_a_format(first: str) -> None:
    pairs, rows = read(("a.txt", f"{first}\nNA\nnull\nnan\n".encode()))
    assert (pairs.format, rows) == ("lines", [(first, ""), ("NA", ""), ("null", ""), ("nan", "")])


def test_unequal_files_are_refused_with_both_counts() -> None:
    """Case 94."""
    with pytest.raises(FormatError) as refused:
        read(("094.en", b"One .\nTwo .\nThree .\nFour .\n"), ("094.fr", b"Un .\nDeux .\nQuatre .\n"))
    assert "094.en has 4 lines and 094.fr has 3" in str(refused.value)
    assert refused.value.problem.message.values == {"source": 4, "target": 3, "source_file": "094.en", "target_file": "094.fr"}


def test_blank_lines_stay_in_step_and_surplus_ones_are_told() -> None:
    pairs, rows = read(("a.en", b"One\n\nThree\n"), ("a.fr", b"Un\n\nTrois\n\n\n"))
    assert rows == [("One", "Un"), ("", ""), ("Three", "Trois")]
    assert told(pairs) == [("surplus_blank", 4)]
    pairs, rows = read(("a.en", b"One\nTwo\n\n"), ("a.fr", b"Un\n \nTrois\n"))
    assert rows == [("One", "Un"), ("Two", " "), ("", "Trois")]
    assert [problem.sentence for problem in pairs.problems] == [
        "a.fr, line 2: The target side is empty.",
        "a.en, line 3: The source side is empty.",
    ]


def test_what_a_line_of_bars_lacks_is_told() -> None:
    """Case 97, and links as a third part."""
    pairs, _ = read(*GOOD["bars"].files)
    assert told(pairs) == [("no_bars", 4), ("empty_target", 5)]
    assert "left out" in pairs.problems[0].message
    assert list(pairs.in_step) == [*GOOD["bars"].rows, ("", ""), ("", "")]  # as many rows as lines
    pairs = read_pairs(pasted("a ||| b ||| 0.5 1e-3 ||| 0-0 ||| 2\n"))
    assert [(entry.target, entry.links, entry.note) for entry in pairs.entries] == [("b", "0-0", "0.5 1e-3 · 2")]
    pairs = read_pairs(pasted("a b ||| c ||| 0-0 1p0\n\nd ||| e ||| f\ng ||| h\n"))
    assert [(entry.source, entry.target, entry.links, entry.line) for entry in pairs.entries] == [
        ("a b", "c", "0-0 1p0", 1),
        ("", "", "", 2),
        ("g", "h", "", 4),
    ]
    assert told(pairs) == [("many_bars", 3)]
    assert list(pairs.in_step) == [("a b", "c"), ("", ""), ("", ""), ("g", "h")]


def test_limits_are_said_with_what_was_given() -> None:
    """Case 43: too many bytes are refused at once, too many pairs end the reading."""
    content = b"The cat sat on the mat .\tLe chat est sur le tapis .\n" * 1000
    with pytest.raises(FormatError, match=r"^big\.tsv: The file has 52000 bytes; the limit is 50000\."):
        read(("big.tsv", content), limits=Limits(bytes=50_000))
    pairs, rows = read(("big.tsv", content), limits=Limits(bytes=60_000, pairs=999))
    assert (len(rows), told(pairs)) == (999, [("too_many_pairs", 1000)])
    assert "more than 999 pairs" in pairs.problems[0].message
    assert told(read(("big.tsv", content), limits=Limits(pairs=1000))[0]) == []


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.7 ...", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n" + bytes(60), "a picture"),
        (b"\x1f\x8b\x08" + bytes(60), "a gzip archive"),
        (b"<!DOCTYPE html><html><p>Hello", "a web page"),
        (bytes(range(256)) * 4 + bytes(300), "binary data"),
    ],
)
def test_what_is_no_text_is_named(content: bytes, kind: str) -> None:
    with pytest.raises(FormatError, match=kind):
        read(("upload", content))


def test_what_cannot_go_together_is_refused() -> None:
    tmx, opus = GOOD["tmx"].files[0], ("opus.zip", OPUS)
    for files, options, code in (
        ([], {}, "how_many_files"),
        ([("a", b"a"), ("b", b"b"), ("c", b"c")], {}, "how_many_files"),
        ([("a", b"")], {}, "empty_file"),
        ([tmx, ("b", b"b")], {}, "two_of_one"),
        ([opus, opus], {}, "two_of_one"),
        ([GOOD["subtitles"].files[0]], {}, "one_of_two"),
        ([("a", b"a")], {"format": "docx"}, "unknown_format"),
        ([("a", b"a")], {"encoding": "rot13"}, "unknown_encoding"),
        ([("a", b"a\tb")], {"format": "zip"}, "bad_zip"),
        ([("a.tsv", b"a\tb")], {"columns": (0, 2)}, "no_such_column"),
        ([("a.tsv", b"a\tb")], {"columns": ("en", "fr")}, "no_such_column"),
        ([("a.csv", b"en,fr\na,b")], {"columns": ("en", "de")}, "no_such_column"),
    ):
        with pytest.raises(FormatError) as refused:
            read(*files, **options)
        assert refused.value.problem.message.code == code


def test_a_file_without_pairs_says_so() -> None:
    pairs, rows = read(("a.tsv", b"a\t\n\n\tb\n"))
    assert rows == []
    assert ("no_pairs", None) in told(pairs)


def test_only_the_first_thousand_problems_are_kept_one_by_one() -> None:
    pairs, rows = read(("a.tsv", b"a\tb\n" + b"alone\n" * 3000), format="tsv")
    list(pairs.rows)
    assert (rows, len(pairs.problems)) == ([("a", "b")], 1001)
    assert pairs.problems[-1].sentence == "a.tsv: 2000 more problems like these were found and are not listed."


def test_languages_other_than_those_wanted_are_told() -> None:
    pairs, rows = read(*GOOD["inner newline"].files, languages=("en", "zh"))
    assert rows[0] == ("First", "Premier")
    assert [problem.message for problem in pairs.problems] == [
        "The languages found are en and fr; en and zh were asked for. The order of the file is kept."
    ]


def test_utf_16_without_a_mark() -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        for text in (UTF16, "Good evening\tBonsoir\ncafé\tcoffee\n", "你好，我叫小明。\n谢谢\n"):
            pairs, rows = read(("a.txt", text.encode(encoding)))
            assert pairs.encoding == encoding
            assert "\0" not in "".join(source + target for source, target in rows)


def test_packed_subfolders_and_three_languages() -> None:
    content = packed(
        [
            ("moses/v1/Corpus.de-en.de", b"Hallo\n"),
            ("moses/v1/Corpus.de-en.en", b"Hello\n"),
            ("moses/v1/Corpus.de-en.ids", b"1\n"),
            ("other/Small.en", b"x\n"),
            ("other/Small.fr", b"y\n"),
        ]
    )
    pairs, rows = read(("a.zip", content), languages=("en", "de"))
    assert (rows, pairs.languages) == ([("Hello", "Hallo")], ("en", "de"))
    assert told(pairs) == [("several_in_zip", None)]
    assert "other/Small.en, other/Small.fr" in pairs.problems[0].message


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ([("g.align", b"0-0 1-1\n\n2p1\n")], "links_alone"),
        ([("x.tsv", b"Hello\tBonjour\nTea\tThe\n"), ("g.align", b"0-0 1-x\n0-0\n")], "links_alone"),
        ([("x.tsv", b"Hello\tBonjour\n"), ("y.tsv", b"Tea\tThe\n")], "two_of_one"),
        ([("x.txt", b"Hello ||| Bonjour\n"), ("y.txt", b"Tea ||| The\n")], "two_of_one"),
        ([("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\nHello\n"), ("b.txt", b"Bonjour\n")], "one_of_two"),
        ([("a.vtt", b"WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHello\n")], "one_of_two"),
        ([("a.csv", b"\xef\xbb\xbf\r\n \r\n")], "empty_file"),
        ([("a.en", b"Hello\n"), ("a.fr", b"")], "empty_file"),
    ],
)
def test_files_that_cannot_be_pairs_are_refused_by_what_they_hold(files: list[tuple[str, bytes]], code: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_pairs([Named(name, content) for name, content in files])
    assert caught.value.problem.message.code == code


def test_subtitles_for_the_web_are_read() -> None:
    english = b"WEBVTT - a title\n\n00:00:01.000 --> 00:00:02.000 align:start\nHello\n"
    french = b"WEBVTT\n\nNOTE x\n\n00:00:01.000 --> 00:00:02.000\nBonjour\n"
    pairs = read_pairs([Named("a.en.vtt", english), Named("a.fr.vtt", french)])
    assert list(pairs.rows) == [("Hello", "Bonjour")]


def test_a_column_of_codes_is_no_header() -> None:
    rows = b"1,en,Hello,Bonjour,fr,0.9,http://x\n2,en,Tea please,The,fr,0.8,http://y\n"
    pairs = read_pairs(Named("x.csv", rows))
    assert (pairs.header, list(pairs.rows)) == (False, [("Hello", "Bonjour"), ("Tea please", "The")])


def test_two_encodings_in_one_file_are_doubted() -> None:
    pairs = read_pairs(Named("x.tsv", b"a\t" + "d\u00e9j\u00e0 vu\n".encode("latin-1") + "b\tth\u00e9\n".encode()))
    assert not pairs.sure
    assert {"windows-1252", "utf-8"} <= set(pairs.encodings)
