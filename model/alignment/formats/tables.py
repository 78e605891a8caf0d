"""Tables of sentence pairs: TSV, CSV and the text exports of Anki."""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import Literal

from model.alignment.formats import delimited, lines, records
from model.alignment.formats.columns import Column, Layout, layout
from model.alignment.formats.delimited import Dialect, Row
from model.alignment.formats.files import File
from model.alignment.formats.pairs import Entry, one_line
from model.alignment.formats.parallel import LINKS, missing
from model.alignment.formats.problem import Problem, add

_SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "colon": ":", "pipe": "|", "space": " "}
_SETTING = re.compile(r"#([a-z ]+):(.*)")
_BREAK = re.compile(r"<(?:br|hr|/?p|/?div|/?li|/?tr)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>|<!--|-->|\[(?:sound|anki):[^\[\]]*\]", re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """How a table is read: what stands before its rows, its dialect, its columns; `keys` if one column holds dictionaries."""

    file: File
    encoding: str
    format: Literal["tsv", "csv", "anki"]
    dialect: Dialect
    layout: Layout
    skip: int = 0
    clean: Callable[[str], str] = one_line
    keys: records.Keys | None = None
    aside: frozenset[int] = frozenset()  # columns that are of no use to a reader

    def entries(self, problems: list[Problem]) -> Iterator[Entry]:
        """The pairs. Blank rows between others stay in step, rows without both sides are noted and left out."""
        blank: list[int] = []
        for number, cells in self._rows(problems):
            if not any(map(str.strip, cells)):
                blank.append(number)
                continue
            entry = self._entry(number, cells, problems)
            if entry is not None:
                yield from (Entry("", "", empty) for empty in blank)
                blank = []
                yield entry

    def _rows(self, problems: list[Problem]) -> Iterator[Row]:
        numbered = lines.numbered(self.file, self.encoding, problems)
        body = dropwhile(lambda line: line[0] <= self.skip, numbered) if self.skip else numbered
        rows = delimited.rows(body, self.dialect, problems, self.file.name)
        if self.layout.header:
            next(rows, None)
        return rows

    def _entry(self, number: int, cells: Sequence[str], problems: list[Problem]) -> Entry | None:
        source, target = self.layout.columns
        name, given, width = self.file.name, len(cells), self.dialect.width
        if given <= max(source, target):
            add(problems, "few_cells", number, file=name, given=given, needed=max(source, target) + 1)
            return None
        if self.keys is not None:
            return records.of_cell(cells[source], self.keys, number, name, problems)
        if given > width and any(map(str.strip, cells[width:])):
            kept = not self.dialect.quoted
            values = {"given": given, "needed": width, "delimiter": self.dialect.delimiter}
            add(problems, "more_cells" if kept else "many_cells", number, file=name, **values)
            if not kept:
                return None
        left, right = self.clean(cells[source]), "" if self.layout.alone else self.clean(cells[target])
        if not (left.strip() and (right.strip() or self.layout.alone)):
            add(problems, missing(left, right), number, file=name)
            return None
        links = cells[self.layout.links].strip() if self.layout.links is not None and self.layout.links < given else ""
        if links and not LINKS.fullmatch(links):
            add(problems, "links_cell", number, file=name, given=links[:60])
            links = ""
        used = {source, target, self.layout.links, *self.aside}
        note = " · ".join(one_line(cell).strip() for index, cell in enumerate(cells) if index not in used and cell.strip())
        return Entry(left, right, number, note, links)


def open_table(
    file: File,
    encoding: str,
    format: Literal["tsv", "csv", "anki"],
    columns: tuple[Column, Column] | None = None,
    header: bool | None = None,
    languages: tuple[str, str] | None = None,
    delimiter: str | None = None,
) -> Table:
    """Understand a table from its first lines and what was asked for; raises FormatError for a column that is not there."""
    first = lines.sample(file, encoding)
    if format == "anki":
        return _open_anki(file, encoding, first, columns, languages, delimiter)
    skip, named = separator_line(first[0]) if first and format == "csv" else (0, None)
    delimiter = delimiter or named or ("\t" if format == "tsv" else None)
    dialect = delimited.dialect(first[skip:], delimiter, quoted=format == "csv")
    rows = _sample(first[skip:], dialect)
    keys = records.in_cells(rows, languages) if columns is None else None
    if keys is not None:
        column, title = keys.column, rows[0][keys.column].strip()
        found = Layout((column, column), not title.startswith("{"), tuple(rows[0]), keys.languages)
        return Table(file, encoding, format, dialect, found, skip, keys=keys)
    if format == "csv" and columns is None:  # a comma in some rows makes no column
        rows = [row[: dialect.width] for row in rows]
    found = layout(rows, columns, header, languages, file.name)
    dialect = replace(dialect, width=max(dialect.width, len(found.names), *(column + 1 for column in found.columns)))
    return Table(file, encoding, format, dialect, found, skip)


def separator_line(line: str) -> tuple[int, str | None]:
    """Whether the first line tells the delimiter as Excel reads it (`sep=;`): the lines to skip, and the delimiter."""
    match = re.fullmatch(r'"?sep=(.)"?', line, re.IGNORECASE)
    return (1, match[1]) if match else (0, None)


def is_anki(first: Sequence[str]) -> bool:
    """Whether a file begins with settings as Anki writes them."""
    match = _SETTING.fullmatch(first[0]) if first else None
    return match is not None and match[1] in ("separator", "html", "notetype", "deck", "tags", "columns", "guid column")


def _open_anki(
    file: File,
    encoding: str,
    first: Sequence[str],
    columns: tuple[Column, Column] | None,
    languages: tuple[str, str] | None,
    delimiter: str | None,
) -> Table:
    settings: dict[str, str] = {}
    for line in first:
        match = _SETTING.fullmatch(line)
        if match is None:
            break
        settings[match[1]] = match[2]
    skip = len(settings)
    said = settings.get("separator", "tab")
    delimiter = delimiter or _SEPARATORS.get(said.strip().lower(), said[:1] or "\t")
    dialect = delimited.dialect(first[skip:], delimiter)
    aside = [int(value) - 1 for name, value in settings.items() if name.endswith(" column") and value.strip().isdecimal()]
    titles = settings["columns"].split(delimiter) if "columns" in settings else ()
    rows = [["" if index in aside else cell for index, cell in enumerate(row)] for row in _sample(first[skip:], dialect)]
    found = layout(rows, columns, False, languages, file.name, titles)
    plain = settings.get("html", "true").strip().lower() == "false"
    tags = int(settings["tags column"]) - 1 if settings.get("tags column", "").strip().isdecimal() else None
    hidden = frozenset(index for index in aside if index != tags)
    return Table(file, encoding, "anki", dialect, found, skip, one_line if plain else without_html, aside=hidden)


def without_html(cell: str) -> str:
    """A field of a card as it reads: no tags, no sounds, a space for a line break, entities decoded."""
    text = _TAG.sub("", _BREAK.sub(" ", cell))
    return one_line(html.unescape(re.sub(r"[ \t\r\n\f]+", " ", text)).strip(" "))


def _sample(first: Sequence[str], dialect: Dialect) -> list[list[str]]:
    return [cells for _, cells in delimited.rows(enumerate(first, 1), dialect, []) if any(map(str.strip, cells))]
