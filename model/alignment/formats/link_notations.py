"""Notations of links, one sentence after another, with positions as they stand in the file.

    pharaoh    0-0 1-2 2p1            a line a pair, from 0; `p` or `?` in place of the dash: possible only
    tsinghua   1:1/1 2:3/0            a line a pair, from 1; /1 sure, /0 possible, a share between them is a weight
    naacl      1 2 3 P                a line a link: sentence, source, target, S or P, confidence; from 1
    giza       # Sentence pair (1) ... / target / NULL ({ }) the ({ 1 }) ...    three lines a pair, from 1 (GIZA++ A3)

Where positions count from 1, 0 stands for no word at all.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple, Protocol, runtime_checkable

from model.alignment import pharaoh

Lines = Iterable[tuple[int, str]]  # each with its number, from 1

NAMED = 3  # so many unreadable items of a line are quoted

_TSINGHUA = re.compile(r"([0-9]{1,9}):([0-9]{1,9})/(1|0|0?\.[0-9]{1,20}|[01]\.0*)")
_SENTENCE = re.compile(r"#\s*Sentence pair\s*\(([0-9]{1,9})\)")
_GIZA_WORD = re.compile(r"\s*(\S+) \(\{((?:\s+[0-9]{1,9})*)\s*\}\)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_SHARE = re.compile(r"[0-9]{0,9}\.?[0-9]{1,20}(?:[eE]-?[0-9]{1,3})?")


class Item(NamedTuple):
    """One link as written."""

    source: int
    target: int
    sure: bool = True
    weight: float | None = None


class Found(NamedTuple):
    """The links of one sentence; `number` is the one that the file gives it, where it numbers them."""

    line: int
    items: list[Item]
    number: int | None = None


@runtime_checkable
class Tell(Protocol):
    """Takes what is wrong: the line, a code of formats.problem.MESSAGES, the values of its sentence."""

    def __call__(self, line: int | None, code: str, /, **values: object) -> None: ...


def read_pharaoh(lines: Lines, tell: Tell) -> Iterator[Found]:
    """A line a pair; items that are no link are told, the others count."""
    for number, line in lines:
        try:
            yield Found(number, _of_pharaoh(line))
        except ValueError:
            yield Found(number, _each(number, line.split(), _of_pharaoh, "0-0 1-2 2p1", tell))


def read_tsinghua(lines: Lines, tell: Tell) -> Iterator[Found]:
    """A line a pair, as above."""
    for number, line in lines:
        yield Found(number, _each(number, line.split(), _of_tsinghua, "1:1/1 2:3/0", tell))


def read_naacl(lines: Lines, tell: Tell) -> Iterator[Found]:
    """A line a link; lines of one sentence that follow each other are put together, a missing mark is S."""
    return together(_naacl_lines(lines, tell))


def _naacl_lines(lines: Lines, tell: Tell) -> Iterator[Found]:
    for number, line in lines:
        if not line.strip():
            continue
        if (link := _of_naacl(line)) is None:
            tell(number, "unreadable_links", items=quoted([line.strip()]), count=1, example="1 2 3 S")
        else:
            yield Found(number, [link[1]], link[0])


def together(found: Iterable[Found]) -> Iterator[Found]:
    """Links of the same sentence that follow each other as one, at the line of the first."""
    for number, same in groupby(found, key=lambda one: one.number):
        first, *rest = same
        yield Found(first.line, [*first.items, *(item for one in rest for item in one.items)], number)


def read_giza(lines: Lines, tell: Tell) -> Iterator[Found]:
    """Three lines a pair. A pair whose lines are not three, or whose last cannot be read, keeps its place without links."""
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if _SENTENCE.match(line):
            if block:
                yield _of_giza(block, tell)
            block = [(number, line)]
        elif block:
            block.append((number, line))
        elif line.strip():
            tell(number, "unreadable_links", items=quoted([line.strip()]), count=1, example="# Sentence pair (1)")
    if block:
        yield _of_giza(block, tell)


def is_giza(line: str) -> bool:
    """Whether a pair of GIZA++ begins with this line."""
    return _SENTENCE.match(line) is not None


def quoted(items: list[str]) -> str:
    """What could not be read, for a message: the first few, long ones with an ellipsis."""
    shown = [repr(item if len(item) <= 40 else f"{item[:40]}…") for item in items[:NAMED]]
    return ", ".join(shown + ["…"] * (len(items) > NAMED))


def _each(number: int, parts: list[str], read: "Reader", example: str, tell: Tell) -> list[Item]:
    items: list[Item] = []
    bad: list[str] = []
    for part in parts:
        try:
            items += read(part)
        except ValueError:
            bad.append(part)
    if bad:
        tell(number, "unreadable_links", items=quoted(bad), count=len(bad), example=example)
    return items


@runtime_checkable
class Reader(Protocol):
    """Reads one item of a line; ValueError if it is none."""

    def __call__(self, text: str, /) -> list[Item]: ...


def _of_pharaoh(text: str) -> list[Item]:
    sure, possible = pharaoh.parse(text)
    return [Item(i, j, (i, j) in sure) for i, j in possible]


def _of_tsinghua(text: str) -> list[Item]:
    if (match := _TSINGHUA.fullmatch(text)) is None:
        raise ValueError(text)
    share = float(match[3])
    return [Item(int(match[1]), int(match[2]), share > 0, None if share in (0.0, 1.0) else share)]


def _of_naacl(line: str) -> tuple[int, Item] | None:
    """Sentence and link of `sentence source target [S|P] [confidence]`."""
    fields = line.split()
    if not 3 <= len(fields) <= 5 or not all(map(_NUMBER.fullmatch, fields[:3])):
        return None
    mark, share = "S", None
    for field in fields[3:]:
        if field.upper() in ("S", "P") and field is fields[3]:
            mark = field.upper()
        elif _SHARE.fullmatch(field) and field is fields[-1]:
            share = float(field)
        else:
            return None
    sentence, source, target = map(int, fields[:3])
    return sentence, Item(source, target, mark == "S", share)


def _of_giza(block: list[tuple[int, str]], tell: Tell) -> Found:
    first, head = block[0]
    sentence = _SENTENCE.match(head)
    number = int(sentence[1]) if sentence else None
    rest = [(line, text) for line, text in block[1:] if text.strip()]
    if len(block) == 3:
        rest = block[1:]  # an empty target is a line without words
    if len(rest) != 2:
        tell(first, "giza_block", given=len(rest) + 1)
        return Found(first, [], number)
    line, text = rest[1]
    items: list[Item] = []
    at = source = 0
    while match := _GIZA_WORD.match(text, at):
        items += [Item(source, int(target)) for target in match[2].split()]
        at, source = match.end(), source + 1
    if text[at:].strip() or not text.lstrip().startswith("NULL "):
        tell(
            line,
            "unreadable_links",
            items=quoted([text[at:].strip() or text.strip()]),
            count=1,
            example="NULL ({ 2 }) the ({ 1 })",
        )
        return Found(first, [], number)
    return Found(first, items, number)
