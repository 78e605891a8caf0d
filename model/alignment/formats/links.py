"""Links between the words of sentence pairs, read from files of many formats.

What a position counts is a word of `words.split(text, split_punctuation=False)`: what space or tab separates, and each
Chinese character alone. The first number of a link is the source word (`reverse=True`: the target word).
"""

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any, NamedTuple

from model.alignment import words
from model.alignment.formats import link_notations as notations
from model.alignment.formats.files import File, Given
from model.alignment.formats.link_detection import LINK_FORMATS, READERS, detect, silent, text_lines
from model.alignment.formats.link_notations import Found, Tell
from model.alignment.formats.link_tables import Written
from model.alignment.formats.problem import Message, Problem, Problems
from model.alignment.pharaoh import Link

BASES = {"naacl": 1, "giza": 1, "tsinghua": 1, "tsv": 0, "json": 0}  # of Pharaoh it is found out
NUMBERED = ("naacl", "giza", "tsv", "json")  # the file says which sentence a link belongs to
MAX_GAP = 100_000  # sentence numbers may skip this many where the number of pairs is not known

Sizes = Iterator[tuple[int, int] | None]  # words of source and target, pair by pair; None where there are no pairs


class GoldLinks(NamedTuple):
    """The links of one pair from 0: `sure` inside `possible`."""

    sure: frozenset[Link]
    possible: frozenset[Link]


class Alignments:
    """What `read_alignments` found; the file is read while `rows` (or `weighted`) is iterated, each time from its beginning.

    `problems` fills while reading; what was found out about the whole file stands there at once. `null_links` counts links
    to no word at all, which are left out.
    """

    def __init__(self, file: Given, pairs: Any, base: int | None, format: str | None, reverse: bool) -> None:
        self._file, self._pairs, self._reverse = File(file), pairs, reverse
        self.problems = Problems()
        self.null_links = 0
        self.format = format or detect(self._lines(), self._file.name)
        self._first_number, self._in_order = self._numbers()
        self.base = BASES.get(self.format, 0) if base is None else base
        if base is None and self.format == "pharaoh":
            self._detect_base()
        self.problems = Problems(self.problems)  # what is told once is no part of what a reading tells

    @property
    def rows(self) -> Iterator[GoldLinks]:
        """The links of each pair, in order."""
        for row in self.weighted:
            yield GoldLinks(row.sure, frozenset(row.links))

    @property
    def weighted(self) -> Iterator[Written]:
        """The same with the weight of each link, None where the file gives none."""
        self.null_links = 0
        return _Reading(self).rows()

    @property
    def name(self) -> str:
        """What the file is called."""
        return self._file.name

    def _lines(self) -> Iterator[tuple[int, str]]:
        return text_lines(self._file)

    def _found(self, tell: Tell) -> Iterator[Found]:
        found = READERS[self.format](self._lines(), tell)
        return found if self._in_order else iter(_sorted(found))

    def _sizes(self) -> Sizes:
        """How many words the two texts of each pair have; without pairs None for ever."""
        if self._pairs is None:
            return repeat(None)
        rows = getattr(self._pairs, "rows", self._pairs)
        return ((_count(source), _count(target)) for source, target in rows)

    def _numbers(self) -> tuple[int, bool]:
        """The number of the first sentence (0 or 1), and whether sentences come in the order of their numbers."""
        if self.format not in NUMBERED:
            return 1, True
        last, lowest, in_order = -1, 1, True
        for one in READERS[self.format](self._lines(), silent):
            if one.number is not None:
                in_order &= one.number > last
                last, lowest = one.number, min(lowest, one.number)
        if lowest == 0:
            self._tell(None, "links_sentences_from_zero")
        return lowest, in_order

    def _detect_base(self) -> None:
        """Positions count from 1 if no link names a 0 and fewer links then point behind the last word."""
        outside = outside_from_1 = links = 0
        for one, size in zip(self._found(silent), self._sizes(), strict=False):
            for item in one.items:
                if 0 in item[:2]:
                    return
                i, j = self.positions(item)
                links += 1
                outside += bool(size and (i >= size[0] or j >= size[1]))
                outside_from_1 += bool(size and (i > size[0] or j > size[1]))
        if outside_from_1 < outside:
            self.base = 1
            self._tell(None, "links_from_one", count=outside - outside_from_1)
        elif links:
            self._tell(None, "links_perhaps_from_one")

    def positions(self, item: notations.Item) -> Link:
        """Source and target as the file counts them."""
        return (item.target, item.source) if self._reverse else (item.source, item.target)

    def _tell(self, line: int | None, code: str, /, **values: object) -> None:
        self.problems.append(Problem(line, Message.of(code, **values, file=self.name)))


class _Reading:
    """One pass over the file, in step with the pairs."""

    def __init__(self, read: Alignments) -> None:
        self.read = read
        self.problems = read.problems.again()
        self.outside = self.outside_swapped = 0

    def tell(self, line: int | None, code: str, /, **values: object) -> None:
        self.problems.add(code, line, **values, file=self.read.name)

    def rows(self) -> Iterator[Written]:
        found, sizes = self.read._found(self.tell), self.read._sizes()
        number = self.read._first_number
        missing = given = 0
        one = next(found, None)
        for size in sizes:
            while one and size is None and (one.number or 0) - number > MAX_GAP:
                self.tell(one.line, "links_far", number=one.number, expected=number)
                one = next(found, None)
            if one is None and (size is None or self.read.format not in NUMBERED):
                missing += 0 if size is None else 1 + sum(1 for _ in sizes)
                break
            if one is None or (one.number is not None and one.number > number):
                missing += 1
                yield Written({}, frozenset())
            else:
                yield self._checked(one, number, size)
                one, given = next(found, None), given + 1
            number += 1
        self._finish(given, missing, int(one is not None) + sum(1 for _ in found))

    def _checked(self, one: Found, number: int, size: tuple[int, int] | None) -> Written:
        """The links of one pair from 0, without those that lead nowhere."""
        base = self.read.base
        links: dict[Link, float | None] = {}
        sure, outside = set(), []
        for item in one.items:
            i, j = (position - base for position in self.read.positions(item))
            if i < 0 or j < 0:
                self.read.null_links += 1
            elif size and (i >= size[0] or j >= size[1]):
                outside.append(f"{item.source}-{item.target}")
            else:
                links[i, j] = item.weight
                sure |= {(i, j)} if item.sure else set()
            self.outside_swapped += bool(size and i >= 0 and j >= 0 and (j >= size[0] or i >= size[1]))
        if size and outside:
            self.outside += len(outside)
            shown = notations.quoted(outside)
            self.tell(one.line, "links_outside", pair=number, links=shown, count=len(outside), sources=size[0], targets=size[1])
        return Written(links, frozenset(sure))

    def _finish(self, given: int, missing: int, left: int) -> None:
        """What can be said only at the end of the file."""
        if missing and self.read.format in NUMBERED:
            self.tell(None, "links_skipped", count=missing, total=given + missing)
        elif missing:
            self.tell(None, "links_fewer", given=given, needed=given + missing)
        if left:
            self.tell(None, "links_more", left=left, pairs=given + missing)
        if self.outside > self.outside_swapped:
            self.tell(None, "links_perhaps_reversed", count=self.outside, swapped=self.outside_swapped)
        if self.read.null_links:
            self.tell(None, "links_to_nothing", count=self.read.null_links)


def read_alignments(
    file: Given, pairs: Any = None, base: int | None = None, format: str | None = None, reverse: bool = False
) -> Alignments:
    """The links of a file: a path, or a binary stream that can go back to its beginning.

    `pairs` (a `Pairs`, or a list of (source, target)) shows which links lead nowhere, and whether positions count from 1;
    without it both stay unknown. `base` says from what positions count, `reverse` that the target stands first. Raises
    FormatError if the file cannot be opened or nothing in it is a link.
    """
    if format is not None and format not in LINK_FORMATS:
        raise ValueError(f"format={format!r} is unknown; choose one of {', '.join(LINK_FORMATS)}")
    if base not in (None, 0, 1):
        raise ValueError(f"base={base!r} is unknown; positions count from 0 or from 1")
    if isinstance(pairs, Iterator):  # they are gone through more than once
        pairs = list(pairs)
    return Alignments(file, pairs, base, format, reverse)


def _count(text: str) -> int:
    return len(words.split(text, split_punctuation=False))


def _sorted(found: Iterable[Found]) -> list[Found]:
    """Sentences whose lines stand in another order than their numbers, in order; those of one sentence put together."""
    together: dict[int, Found] = {}
    for one in found:
        if one.number is None:
            continue
        first = together.setdefault(one.number, Found(one.line, [], one.number))
        first.items.extend(one.items)
    return [together[number] for number in sorted(together)]
