"""Which column of a table is the source, which the target, and what the others are for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from model.alignment.formats import languages as names
from model.alignment.formats.parallel import LINKS
from model.alignment.formats.problem import FormatError

Column = int | str  # an index from 0, the name in the header, or a language

_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)?")
_CREDIT = re.compile(r"\bCC[- ]BY|\bCC0|tatoeba\.org|https?://|\bAttribution:", re.IGNORECASE)
_LINKS = frozenset({"links", "alignment", "alignments", "pharaoh"})
_OTHER = names.ASIDE | {"text", "texte", "sentence", "phrase", "句子", "文本"}


@dataclass(frozen=True)
class Layout:
    """What the columns mean. `columns`: source and target, from 0; equal if there are sources alone. `named`: by a header."""

    columns: tuple[int, int]
    header: bool
    names: tuple[str, ...]
    languages: tuple[str, str]
    links: int | None = None
    sure: bool = True

    @property
    def alone(self) -> bool:
        return self.columns[0] == self.columns[1]


def is_header(cells: Sequence[str]) -> bool:
    """Whether a first row names its columns: two languages, source and target, or one of these among usual names."""
    languages = [names.language(cell) if " " in cell.strip() else names.language_in(cell) for cell in cells]
    sides = [names.side(cell) for cell in cells]
    plain = {cell.strip().casefold() for cell in cells}
    if {"la"} < plain <= {"la", "it", "he"}:  # two words that happen to be codes
        return False
    if len(set(filter(None, languages))) > 1 or len(set(filter(None, sides))) > 1:
        return True
    if len(cells) > 1 and len([language for language in languages if language]) > 1:  # "French", "français": a pair of words
        return False
    if len(cells) == 1 and plain <= _OTHER:
        return True
    known = [bool(language or side) for language, side in zip(languages, sides, strict=True)]
    return any(known) and all(meant or cell.strip().casefold() in _OTHER for meant, cell in zip(known, cells, strict=True))


def layout(
    rows: Sequence[Sequence[str]],
    columns: tuple[Column, Column] | None,
    header: bool | None,
    languages: tuple[str, str] | None,
    file: str,
    names_given: Sequence[str] = (),
) -> Layout:
    """The meaning of the columns, from the first rows and what was asked for; raises FormatError for a column not there."""
    first = rows[0] if rows else []
    headed = is_header(first) and not _stands_again(rows) if header is None else header
    titles = [cell.strip() for cell in (first if headed else names_given)]
    body = rows[1:] if headed else rows
    width = max([len(titles), *map(len, body)], default=0)
    found = [names.language_in(title) for title in titles] + [""] * (width - len(titles))
    links = _links(titles, body, width)
    sure = True
    if columns is not None:
        if len(columns) != 2:
            raise FormatError.of("which_columns", file=file, given=len(columns))
        chosen = _index(columns[0], titles, width, file), _index(columns[1], titles, width, file)
    else:
        named = _by_name(titles, found, languages)
        by_content, sure = _by_content(body, width, links)
        chosen, sure = (named, True) if named else (by_content, sure)
    if links in chosen:
        links = None
    return Layout(chosen, headed, tuple(titles), (found[chosen[0]], found[chosen[1]]) if width else ("", ""), links, sure)


def _stands_again(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a language that the first row names stands below it as well: a column of codes, and no header."""
    first, *others = rows
    named = [index for index, cell in enumerate(first) if names.language_in(cell)]
    return any(row != first and index < len(row) and row[index] == first[index] for row in others for index in named)


def _index(column: Column, titles: Sequence[str], width: int, file: str) -> int:
    if isinstance(column, int):
        if 0 <= column < width:
            return column
    else:
        wanted = column.strip().casefold()
        for index, title in enumerate(titles):
            if title.casefold() == wanted:
                return index
        for index, title in enumerate(titles):
            if names.language(title) and names.language(title) == names.language(column):
                return index
    choices = ", ".join(titles) or f"0 to {width - 1}"
    raise FormatError.of("no_such_column", file=file, given=column, count=width, choices=choices)


def _by_name(titles: Sequence[str], found: Sequence[str], languages: tuple[str, str] | None) -> tuple[int, int] | None:
    if languages:
        wanted = [names.language(language) or language for language in languages]
        if wanted[0] != wanted[1] and all(language in found for language in wanted):
            return found.index(wanted[0]), found.index(wanted[1])
    sides = [names.side(title) for title in titles]
    if "source" in sides and "target" in sides:
        return sides.index("source"), sides.index("target")
    known = [index for index, language in enumerate(found) if language]
    other = [index for index in known if found[index] != found[known[0]]]
    if other:
        return known[0], other[0]
    if known and "target" in sides and sides.index("target") != known[0]:
        return known[0], sides.index("target")
    if known and "source" in sides and sides.index("source") != known[0]:
        return sides.index("source"), known[0]
    return None


def _links(titles: Sequence[str], body: Sequence[Sequence[str]], width: int) -> int | None:
    """The column that holds an alignment for each pair."""
    for index, title in enumerate(titles):
        if title.casefold() in _LINKS:
            return index
    for index in range(2, width):
        cells = _column(body, index)
        if cells and all(map(LINKS.fullmatch, cells)):
            return index
    return None


def _by_content(body: Sequence[Sequence[str]], width: int, links: int | None) -> tuple[tuple[int, int], bool]:
    """The first two columns that hold text, rather than numbers, codes, credits or links; and whether that is beyond doubt."""
    if width < 2:
        return (0, 0), True
    if width == 2:
        return (0, 1), True
    texts = [index for index in range(width) if index != links and _is_text(_column(body, index))]
    if len(texts) == 1:
        return (texts[0], texts[0]), False
    return ((texts[0], texts[1]), len(texts) == 2) if texts else ((0, 1), False)


def _column(body: Sequence[Sequence[str]], index: int) -> list[str]:
    return [row[index].strip() for row in body if len(row) > index and row[index].strip()]


def _is_text(cells: Sequence[str]) -> bool:
    if not cells or all(map(_NUMBER.fullmatch, cells)):
        return False
    if len(cells) > 1 and len(set(cells)) == 1 and len(cells[0]) <= 3:  # a code of the language, on each row
        return False
    return sum(_CREDIT.search(cell) is not None for cell in cells) * 2 < len(cells)
