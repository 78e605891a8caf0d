"""Rows and cells of delimited text, with quotation marks believed only where they are used as CSV uses them.

A cell in quotation marks begins with one and ends with one before a delimiter or the end of its row; those inside are
doubled. Any other quotation mark is a character: a row that lost one must not swallow the rows that follow.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from model.alignment.formats.problem import Problem, add

DELIMITERS = (",", ";", "\t")
MOST_LINES = 100  # over which one cell in quotation marks may run
MOST_CHARACTERS = 1 << 16

Row = tuple[int, list[str]]  # the number of the row's first line, and its cells


class Cells(NamedTuple):
    """One row. `opened`: a quotation mark that begins a cell is not closed. `stray`: there are others out of place."""

    cells: list[str]
    opened: bool = False
    stray: bool = False


@dataclass(frozen=True)
class Dialect:
    """How a table is written: its delimiter, whether quotation marks enclose cells, how many cells most rows have.

    `strays`: some quotation marks are out of place, so that one at a cell's beginning is the less to be believed.
    """

    delimiter: str
    quoted: bool = True
    width: int = 0
    strays: bool = False


@lru_cache(maxsize=16)
def _patterns(delimiter: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    body = ' *"([^"]*(?:""[^"]*)*)'
    return re.compile(rf'{body}"(?={re.escape(delimiter)}|\Z)'), re.compile(rf"{body}\Z")


def cells_of(text: str, delimiter: str) -> Cells:
    """The cells of one row."""
    closed, unclosed = _patterns(delimiter)
    cells: list[str] = []
    opened = stray = False
    place, length = 0, len(text)
    while True:
        match = closed.match(text, place)
        if match:
            cells.append(match[1].replace('""', '"'))
            end = match.end()
        else:
            opened = opened or unclosed.match(text, place) is not None
            end = text.find(delimiter, place)
            end = length if end < 0 else end
            stray = stray or '"' in text[place:end]
            cells.append(text[place:end])
        if end == length:
            return Cells(cells, opened, stray)
        place = end + 1


def rows(lines: Iterable[tuple[int, str]], dialect: Dialect, problems: list[Problem], file: str = "") -> Iterator[Row]:
    """The rows of numbered lines. A quotation mark that is never closed, and one closed lines later in doubt, are noted."""
    if not dialect.quoted:
        return ((number, text.split(dialect.delimiter)) for number, text in lines)
    return ((number, row.cells) for number, row in _parsed(lines, dialect, problems, file))


def _parsed(
    lines: Iterable[tuple[int, str]], dialect: Dialect, problems: list[Problem], file: str = ""
) -> Iterator[tuple[int, Cells]]:
    waiting: deque[tuple[int, str]] = deque()
    source = iter(lines)
    delimiter = dialect.delimiter
    while line := waiting.popleft() if waiting else next(source, None):
        number, text = line
        row = cells_of(text, delimiter) if '"' in text else Cells(text.split(delimiter))
        if not row.opened:
            yield number, row
            continue
        following, whole = _closed(text, waiting, source, delimiter)
        complete = len(row.cells) == dialect.width  # by itself, the mark taken as a character
        if whole is not None and not (complete and (dialect.strays or len(whole.cells) != dialect.width)):
            if complete:
                add(problems, "long_quote", number, file=file, last=following[-1][0])
            yield number, whole
            continue
        waiting.extendleft(reversed(following))
        add(problems, "stray_quote", number, file=file)
        yield number, row


def _closed(
    text: str, waiting: deque[tuple[int, str]], source: Iterator[tuple[int, str]], delimiter: str
) -> tuple[list[tuple[int, str]], Cells | None]:
    """The lines after `text` up to the one that closes its open cell, and the whole row; no row if none does so properly."""
    following: list[tuple[int, str]] = []
    length = len(text)
    while len(following) < MOST_LINES and length < MOST_CHARACTERS:
        line = waiting.popleft() if waiting else next(source, None)
        if line is None:
            break
        following.append(line)
        length += len(line[1])
        if '"' in line[1]:
            whole = cells_of("\n".join([text, *(line for _, line in following)]), delimiter)
            if not whole.opened:
                return following, None if whole.stray else whole
    return following, None


def dialect(lines: Sequence[str], delimiter: str | None = None, quoted: bool = True) -> Dialect:
    """The dialect of a table from its first lines: the delimiter that makes the most rows equally wide."""
    candidates = DELIMITERS if delimiter is None else (delimiter,)
    return max((_tried(lines, candidate, quoted) for candidate in candidates), key=lambda tried: tried[0])[1]


def _tried(lines: Sequence[str], delimiter: str, quoted: bool) -> tuple[tuple[bool, float, float], Dialect]:
    """How well a delimiter fits: two cells at least; the share of rows of the usual width; not followed by a space."""
    parsed = [row for _, row in _parsed(enumerate(lines, 1), Dialect(delimiter), [])] if quoted else []
    found = [row.cells for row in parsed] if quoted else [line.split(delimiter) for line in lines]
    widths = Counter(len(cells) for cells in found if any(map(str.strip, cells)))
    width, times = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
    strays = any(row.stray and not row.opened for row in parsed)
    text = "\n".join(lines)
    spaced = text.count(delimiter + " ") / max(1, text.count(delimiter))
    fit = (True, round(times / max(1, widths.total()), 2), -spaced) if width > 1 else (False, 0.0, 0.0)
    return fit, Dialect(delimiter, quoted, width, strays)
