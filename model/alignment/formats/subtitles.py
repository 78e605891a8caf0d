"""Subtitles in two languages (SRT), matched by the time they are shown, or by number.

`srt` reads times and numbers. Where a cue begins and ends is found here, line by line: a damaged cue is then one problem
with its line, not the end of the file.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import BinaryIO, Literal

import srt

from model.alignment.formats.encodings import decode
from model.alignment.formats.pairs import Entry, one_line
from model.alignment.formats.problem import FormatError, Problem, add

Match = Literal["time", "number"]

BELONGS = 0.5  # of the shorter cue that must fall into the other's time
MOST_AT_ONCE = 50  # cues of the other language looked at for one cue, on average
_LONGEST = 200  # characters of a line with a number or times

_TIMES = re.compile(r"[0-9][:.,][0-9A-Za-z ]{1,9}[^\n]{0,20}-[- ] *>")
_NUMBER = re.compile(r"\s{0,9}-?[0-9]{1,9}(?:\.[0-9]{0,9})?\s{0,9}")
_TAG = re.compile(r"</?(?:[ibus]|em|strong|font|ruby|rt|rp|c|v|span)(?:[\s.][^<>]*)?>|\{\\[^{}]*\}|\{/?[ibus]\}", re.IGNORECASE)
_WEB_HEAD = re.compile(r"\AWEBVTT[^\r\n]*")  # the first line of subtitles for the web, which are written alike
_LINE_BREAK = re.compile(r"<br ?/?>|\\[Nn]", re.IGNORECASE)


@dataclass(frozen=True)
class Cue:
    """A subtitle: its printed number if it has one, the time it is shown, its text in one line, its line in the file."""

    number: int | None
    start: timedelta
    end: timedelta
    text: str
    line: int


Group = tuple[list[Cue], list[Cue]]


def read_srt(
    source: BinaryIO,
    target: BinaryIO,
    match: Match,
    problems: list[Problem],
    *,
    encodings: tuple[str | None, str | None] = (None, None),
    names: tuple[str, str] = ("", ""),
) -> Iterator[Entry]:
    """The pairs of two subtitle files, in the order in which they are shown, each with the source's line.

    By "time", cues that are shown together are one pair: those of which at least half of the shorter falls into the other's
    time, and all that hang together so, joined by spaces. By "number", cues with the same printed number are, or where
    numbers are missing or stand twice those at the same place. Cues without a partner are added to `problems`.
    """
    sides = []
    for stream, encoding, name in zip((source, target), encodings, names, strict=True):
        sides.append(read_cues(decode(stream, encoding), problems, name))
    if match == "number" and len(sides[0]) != len(sides[1]):
        add(problems, "srt_counts", source=len(sides[0]), target=len(sides[1]))
    groups = _by_time(*sides) if match == "time" else _by_number(*sides)
    for group in groups:
        if group[0] and group[1]:
            first, second = (" ".join(cue.text for cue in cues) for cues in group)
            yield Entry(first, second, group[0][0].line)
            continue
        for cues, name in zip(group, names, strict=True):
            for cue in cues:
                add(problems, "srt_alone", cue.line, file=name, text=cue.text[:60])


def read_cues(text: str, problems: list[Problem], name: str = "") -> list[Cue]:
    """The cues of a file in the order of their times; damaged ones are added to `problems`."""
    cues = []
    for line, block in _blocks(re.split(r"\r\n|\n|\r", _WEB_HEAD.sub("", text))):
        cue = _cue(line, block)
        if isinstance(cue, Cue):
            cues.append(cue)
        elif cue:
            add(problems, cue, line, file=name, text=block[0][:60])
    return sorted(cues, key=lambda cue: (cue.start, cue.end))


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """The lines of each cue, with the number of the first.

    A cue begins at a line with times, or at the number before it; or, its times being lost, at a number after a blank line.
    """
    starts = [0]
    for index, line in enumerate(lines):
        before = lines[index - 1] if index else ""
        if _TIMES.search(line[:_LONGEST]):
            starts.append(index - 1 if _NUMBER.fullmatch(before) else index)
        elif not before.strip() and _NUMBER.fullmatch(line):
            starts.append(index)
    for start, end in itertools.pairwise((*dict.fromkeys(starts), len(lines))):
        block = lines[start:end]
        first = next((index for index, line in enumerate(block) if line.strip()), None)
        if first is not None:
            yield start + first + 1, block[first:]


def _cue(line: int, block: Sequence[str]) -> Cue | str:
    """The cue that stands in these lines, "" where it has no text, or the code of what is wrong with it."""
    numbered = _NUMBER.fullmatch(block[0]) is not None
    head, body = block[: 1 + numbered], block[1 + numbered :]
    try:
        cue = next(srt.parse("\n".join(part[:_LONGEST] for part in head) + "\n.\n\n"))
    except (srt.SRTParseError, ValueError, OverflowError, StopIteration):
        return "srt_damaged"
    if cue.end < cue.start:
        return "srt_backwards"
    text = one_line(" ".join(_TAG.sub("", _LINE_BREAK.sub(" ", part)).strip() for part in body if part.strip())).strip()
    return Cue(cue.index, cue.start, cue.end, text, line) if text else ""


def _belong(cue: Cue, other: Cue) -> bool:
    """Whether at least half of the shorter one's time falls into the other's."""
    shared = min(cue.end, other.end) - max(cue.start, other.start)
    shorter = min(cue.end - cue.start, other.end - other.start)
    return shared >= shorter * BELONGS


def _by_time(source: Sequence[Cue], target: Sequence[Cue]) -> list[Group]:
    """The cues that hang together, in the order of their times; both sides are given in that order."""
    partners = _partners(source, target)
    groups: list[Group] = []
    while partners:
        members, waiting = set(), [next(iter(partners))]
        while waiting:
            member = waiting.pop()
            if member in partners:
                members.add(member)
                waiting.extend(partners.pop(member))
        sides = ([cues[place] for side, place in sorted(members) if side == which] for which, cues in enumerate((source, target)))
        groups.append((next(sides), next(sides)))
    return sorted(groups, key=lambda group: min(cue.start for cue in (*group[0], *group[1])))


def _partners(source: Sequence[Cue], target: Sequence[Cue]) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """For each cue, named by its side (0 or 1) and place, those of the other side that belong to it."""
    found: dict[tuple[int, int], list[tuple[int, int]]] = {(0, place): [] for place in range(len(source))}
    found |= {(1, place): [] for place in range(len(target))}
    shown: list[int] = []  # of the target: those that may still be on the screen
    coming = looked_at = 0
    for place, cue in enumerate(source):
        while coming < len(target) and target[coming].start <= cue.end:
            shown.append(coming)
            coming += 1
        shown = [other for other in shown if target[other].end >= cue.start]
        looked_at += len(shown)
        if looked_at > MOST_AT_ONCE * (len(source) + len(target)):
            raise FormatError.of("srt_at_once", cue.line)
        for other in shown:
            if _belong(cue, target[other]):
                found[0, place].append((1, other))
                found[1, other].append((0, place))
    return found


def _by_number(source: Sequence[Cue], target: Sequence[Cue]) -> list[Group]:
    """The cues of one printed number; those at one place where a number is missing or stands twice."""
    numbers = [[cue.number for cue in cues] for cues in (source, target)]
    if any(None in side or len(set(side)) < len(side) for side in numbers):
        both = itertools.zip_longest(source, target)
        return [([cue] if cue else [], [other] if other else []) for cue, other in both]
    found: dict[int | None, Group] = {}
    for which, cues in enumerate((source, target)):
        for cue in cues:
            found.setdefault(cue.number, ([], []))[which].append(cue)
    return list(found.values())
