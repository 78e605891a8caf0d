"""Subtitles: cues matched by time or by number, and every damaged one told of with its line."""

import io
from datetime import timedelta
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srt import Subtitle, compose

from model.alignment.formats.pairs import one_line
from model.alignment.formats.problem import FormatError, Problem
from model.alignment.formats.subtitles import read_srt

# Case 120 of the public record.
ENGLISH = (
    b"\xef\xbb\xbf1\r\n00:00:01,000 --> 00:00:02,000\r\nHello .\r\n\r\n"
    b"2\r\n00:00:03,000 --> 00:00:04,000\r\n<i>I am\r\nlate .</i>"
    b"\r\n\r\n3\r\n00:00:04,100 --> 00:00:05,000\r\nSorry .\r\n"
)
FRENCH = (
    b"\n1\n00:00:01,000 --> 00:00:02,000\nBonjour .\n\n"
    b"2\n00:00:03,000 --> 00:00:05,000\nJe suis en retard ,\nd\xc3\xa9sol\xc3\xa9 .\n"
)


def read(
    source: bytes, target: bytes, match: Literal["time", "number"] = "time"
) -> tuple[list[tuple[str, str, int]], list[Problem]]:
    problems: list[Problem] = []
    entries = read_srt(io.BytesIO(source), io.BytesIO(target), match, problems, names=("a.srt", "b.srt"))
    return [(entry.source, entry.target, entry.line) for entry in entries], problems


def told(problems: list[Problem]) -> list[tuple[str, int | None, str]]:
    return [(problem.file, problem.line, problem.message.code) for problem in problems]


def cue(number: int, start: float, end: float, text: str) -> bytes:
    return Subtitle(number, timedelta(seconds=start), timedelta(seconds=end), text).to_srt(strict=False).encode()


def test_cues_shown_together_are_one_pair() -> None:
    expected = [("Hello .", "Bonjour .", 1), ("I am late . Sorry .", "Je suis en retard , désolé .", 5)]
    assert read(ENGLISH, FRENCH) == (expected, [])
    pairs, problems = read(FRENCH, ENGLISH)
    assert [pair[:2] for pair in pairs] == [(target, source) for source, target, _ in expected]
    assert problems == []


def test_by_number_the_counts_are_told_and_what_is_left_over() -> None:
    pairs, problems = read(ENGLISH, FRENCH, "number")
    assert pairs == [("Hello .", "Bonjour .", 1), ("I am late .", "Je suis en retard , désolé .", 5)]
    assert told(problems) == [("", None, "srt_counts"), ("a.srt", 10, "srt_alone")]
    assert "3 and 2 cues" in problems[0].message


def test_a_little_overlap_does_not_chain_the_whole_film() -> None:
    source = b"".join(cue(i, i, i + 1, f"s{i}") for i in range(20))
    target = b"".join(cue(i, i + 0.2, i + 1.2, f"t{i}") for i in range(20))
    assert [pair[:2] for pair in read(source, target)[0]] == [(f"s{i}", f"t{i}") for i in range(20)]


def test_cues_without_a_partner_are_told_with_their_file_and_line() -> None:
    source = cue(1, 1, 2, "one") + cue(2, 10, 11, "only here")
    target = cue(1, 1, 2, "un") + cue(2, 20, 21, "seulement ici")
    pairs, problems = read(source, target)
    assert pairs == [("one", "un", 1)]
    assert told(problems) == [("a.srt", 5, "srt_alone"), ("b.srt", 5, "srt_alone")]
    assert "only here" in problems[0].message


@pytest.mark.parametrize(
    ("damaged", "code"),
    [
        (b"2\n00:00:0x,000 --> 00:00:04,000\nLost .\n\n", "srt_damaged"),
        (b"2\nLost .\n\n", "srt_damaged"),
        (b"2\n00:00:03,000 -> 00:00\nLost .\n\n", "srt_damaged"),
        (b"2\n99999999999999:00:03,000 --> 00:00:04,000\nLost .\n\n", "srt_damaged"),
        (b"2\n00:00:05,000 --> 00:00:03,000\nLost .\n\n", "srt_backwards"),
    ],
)
def test_a_damaged_cue_is_told_and_the_rest_is_read(damaged: bytes, code: str) -> None:
    source = cue(1, 1, 2, "one") + damaged + cue(3, 8, 9, "three")
    target = cue(1, 1, 2, "un") + cue(3, 8, 9, "trois")
    for match in ("time", "number"):
        pairs, problems = read(source, target, match)
        assert pairs == [("one", "un", 1), ("three", "trois", 5 + damaged.count(b"\n"))]
        assert told(problems) == [("a.srt", 5, code)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<i>I am</i> <b>here</b> <font color='#fff'>now</font>", "I am here now"),
        (r"{\an8}Up {\i1}there{\i0}", "Up there"),
        ("one<br/>two\\Nthree", "one two three"),
        ("3 < 5 > 2 {sic} <3 a<b", "3 < 5 > 2 {sic} <3 a<b"),
        ("with\n\na blank line", "with a blank line"),
        ("42", "42"),
        ("- Who ?\n- Me .", "- Who ? - Me ."),
    ],
)
def test_the_text_of_a_cue(text: str, shown: str) -> None:
    pairs, problems = read(cue(1, 1, 2, text) + cue(2, 5, 6, "x"), cue(1, 1, 2, "y") + cue(2, 5, 6, "z"))
    assert [pair[:2] for pair in pairs] == [(shown, "y"), ("x", "z")]
    assert problems == []


def test_habits_of_editors() -> None:
    """Dots for commas, no numbers, no blank line between cues, lone carriage returns, other encodings, cues out of order."""
    target = cue(1, 1, 2, "un") + cue(2, 3, 4, "deux")
    for source in (
        b"00:00:01.000 --> 00:00:02.000\none\n\n00:00:03.000 --> 00:00:04.000\ntwo",
        b"1\n00:00:01,000 --> 00:00:02,000\none\n2\n00:00:03,000 --> 00:00:04,000\ntwo",
        (cue(1, 1, 2, "one") + cue(2, 3, 4, "two")).replace(b"\n", b"\r"),
        (cue(1, 1, 2, "one") + cue(2, 3, 4, "two")).decode().encode("utf-16"),
        b"\n\n \n" + cue(2, 3, 4, "two") + cue(1, 1, 2, "one"),
        cue(1, 1, 2, "one") + cue(2, 3, 4, "two").replace(b"4,000", b"4,000 X1:10 X2:20"),
    ):
        pairs, problems = read(source, target)
        assert [pair[:2] for pair in pairs] == [("one", "un"), ("two", "deux")]
        assert problems == []


def test_numbers_that_stand_twice_give_way_to_the_order() -> None:
    source = cue(1, 1, 2, "one") + cue(1, 3, 4, "two")
    target = cue(7, 1, 2, "un") + cue(8, 3, 4, "deux")
    assert [pair[:2] for pair in read(source, target, "number")[0]] == [("one", "un"), ("two", "deux")]


def test_what_would_take_for_ever_is_refused() -> None:
    together = b"".join(cue(i, 1, 9, "x") for i in range(400))
    with pytest.raises(FormatError, match="match them by number"):
        read(together, together)
    assert len(read(together, together, "number")[0]) == 400
    for filler in (b" " * 60_000, b"1" * 60_000, b"\n" * 60_000, b"1:1:1:" * 15_000, b"-" * 60_000, b"<i" * 30_000):
        assert read(cue(1, 1, 2, "one") + filler, cue(1, 1, 2, "un"))[0]


TEXTS = st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="<>{}\\"), min_size=1, max_size=12).filter(
    lambda text: any(map(str.isalpha, text)) and "-->" not in text
)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6))
def test_what_the_library_writes_is_read_again(pairs: list[tuple[str, str]]) -> None:
    sides = [
        compose([Subtitle(i + 1, timedelta(seconds=i), timedelta(seconds=i + 0.9), pair[side]) for i, pair in enumerate(pairs)])
        for side in (0, 1)
    ]
    for match in ("time", "number"):
        found, problems = read(sides[0].encode(), sides[1].encode(), match)
        assert [pair[:2] for pair in found] == [tuple(one_line(side).strip() for side in pair) for pair in pairs]
        assert problems == []


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [b"1", b"2\n", b"\n", b"00:00:01,000", b" --> ", b"00:00:02,5", b"text", b"\xff", b"\r", b"-", b"9" * 30]
        ),
        max_size=40,
    )
)
def test_damaged_files_give_messages_and_never_a_traceback(parts: list[bytes]) -> None:
    pairs, problems = read(b"".join(parts) or b"-", FRENCH)
    assert all(source and target for source, target, _ in pairs)
    assert all(problem.message for problem in problems)
