"""Sentence pairs as they come out of a file, and what was understood of the file."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from model.alignment.formats.problem import FormatError, Message, Problem, Problems

PAIR_FORMATS = ("lines", "tsv", "csv", "bars", "anki", "jsonl", "json", "tmx", "xliff", "srt", "zip")

# What parts lines for other readers, though not here: inside a line it is a space.
_BREAKS = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")


class Pair(NamedTuple):
    """A sentence and its translation: NFC, one line each."""

    source: str
    target: str


@dataclass(frozen=True)
class Entry:
    """A pair with its place in the file (`line`, from 1), its credit (`note`) and its links (Pharaoh) if the file has them."""

    source: str
    target: str
    line: int
    note: str = ""
    links: str = ""


@dataclass(frozen=True)
class Limits:
    """How much of a file is read: bytes, unpacked as well, and pairs. None: no limit."""

    bytes: int | None = None
    pairs: int | None = None


@dataclass(frozen=True)
class Pairs:
    """A file of sentence pairs, understood and ready to be read, as often as wanted, in constant memory.

    `sure` is False where encoding or format were guessed on thin evidence: ask. `alone`: sources without targets. `columns`: of a
    table, source and target from 0; twice the same where it has sources alone or both sides in one cell.
    """

    read: Callable[[list[Problem]], Iterator[Entry]] = field(repr=False)
    format: str
    encoding: str = "utf-8"
    files: tuple[str, ...] = ()
    delimiter: str | None = None
    header: bool = False
    columns: tuple[int, int] | None = None
    names: tuple[str, ...] = ()
    languages: tuple[str, str] = ("", "")
    encodings: tuple[str, ...] = ("utf-8",)
    sure: bool = True
    alone: bool = False
    limits: Limits = Limits()
    problems: Problems = field(default_factory=Problems)

    @property
    def entries(self) -> Iterator[Entry]:
        """A new reading from the beginning; problems are noted as they are met."""
        name = self.files[0] if self.files else ""
        problems = self.problems.again(name)
        waiting: Entry | None = None
        try:
            for count, entry in enumerate(self.read(problems)):
                if waiting is not None:
                    if count == self.limits.pairs:  # told before the last is given, for who takes no more than the limit
                        problems.append(Problem(entry.line, Message.of("too_many_pairs", limit=count)))
                        break
                    yield waiting
                waiting = entry
        except FormatError as error:
            if waiting is not None:
                yield waiting
            raise FormatError(error.problem.of_file(name)) from error
        if waiting is not None:
            yield waiting

    @property
    def rows(self) -> Iterator[Pair]:
        """A new reading from the beginning, source and target only."""
        return (Pair(entry.source, entry.target) for entry in self.entries)

    @property
    def in_step(self) -> Iterator[Pair]:
        """`rows` with an empty pair for every line that was left out, so that row i stays line i of files with a line a pair.

        Lines left out behind the last pair are among them.
        """
        line = 1 + self.header
        for entry in self.entries:
            yield from (Pair("", "") for _ in range(line, entry.line))
            yield Pair(entry.source, entry.target)
            line = entry.line + 1
        if self.format != "lines":  # of two files lines are left out behind the last only where they are blank
            yield from (Pair("", "") for _ in range(line, self.problems.last_line + 1))


def one_line(text: str) -> str:
    """`text` in NFC, with a space for every line break, Unicode's and the form feed among them."""
    if _BREAKS.search(text):
        text = _BREAKS.sub(" ", text)
    return unicodedata.normalize("NFC", text)
