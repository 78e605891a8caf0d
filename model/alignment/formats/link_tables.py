"""Links as a table (TSV) and as JSON: our own formats, which carry a weight for each link and the words that it joins.

TSV, a row a link, a pair without links a row with its number alone; pairs from 1, words from 0:

    pair  source  target  mark  weight  source_word  target_word
    1     0       0       S     0.93    the          la

JSON, an array with one object a line, so that it is written and read as a stream:

    {"pair": 1, "source_words": ["the"], "target_words": ["la"], "links": [{"source": 0, "target": 0, "weight": 0.93}]}

A link that is possible only has the mark P. Of a table of others the columns pair (or sentence), source and target suffice;
of other JSON the key links (or sure and possible) with [source, target] or [source, target, weight], or a Pharaoh line.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from model.alignment import pharaoh
from model.alignment.formats.link_notations import Found, Item, Lines, Tell, quoted, together
from model.alignment.pharaoh import Link

COLUMNS = ("pair", "source", "target", "mark", "weight", "source_word", "target_word")
_NUMBERS = ("pair", "sentence")
_EXAMPLE = '{"links": [[0, 0, 0.9]]}'


class Written(NamedTuple):
    """One pair as it is written: its links with their weights (None: unknown), the sure ones among them, and its words."""

    links: Mapping[Link, float | None]
    sure: frozenset[Link]
    source_words: Sequence[str] = ()
    target_words: Sequence[str] = ()


def table(rows: Iterable[Written], first: int = 1) -> Iterator[str]:
    """The lines of the table; from a later pair on without the names of the columns."""
    if first == 1:
        yield "\t".join(COLUMNS)
    for number, row in enumerate(rows, first):
        if not row.links:
            yield "\t".join([str(number), *[""] * (len(COLUMNS) - 1)])
        for (i, j), weight in sorted(row.links.items()):
            cells = (number, i, j, "S" if (i, j) in row.sure else "P", decimal(weight))
            yield "\t".join([*map(str, cells), _word(row.source_words, i), _word(row.target_words, j)])


def json_lines(rows: Iterable[Written], first: int = 1) -> Iterator[str]:
    """The lines of the JSON array; from a later pair on behind the lines, commas included, of those before it."""
    before = "[" if first == 1 else ""
    for number, row in enumerate(rows, first):
        if before:
            yield before
        before = f"{json.dumps(record(number, row), ensure_ascii=False)},"
    if before:
        yield before.removesuffix(",")
    yield "]"


def record(number: int, row: Written) -> dict[str, Any]:
    """One pair as an object."""
    links = []
    for (i, j), weight in sorted(row.links.items()):
        link: dict[str, Any] = {"source": i, "target": j}
        if known := decimal(weight):
            link["weight"] = float(known)
        if (i, j) not in row.sure:
            link["mark"] = "P"
        links.append(link)
    words: dict[str, Any] = {}
    if row.source_words or row.target_words:
        words = {"source_words": list(row.source_words), "target_words": list(row.target_words)}
    return {"pair": number, **words, "links": links}


def decimal(weight: float | None) -> str:
    """A weight with six decimals at most; empty if unknown."""
    if weight is None or not math.isfinite(weight):
        return ""
    return f"{weight:.6f}".rstrip("0").rstrip(".")


def read_table(lines: Lines, tell: Tell) -> Iterator[Found]:
    """The pairs of a table; rows of one pair that follow each other are put together."""
    return together(_table_rows(lines, tell))


def _table_rows(lines: Lines, tell: Tell) -> Iterator[Found]:
    columns: dict[str, int] = {}
    for number, line in lines:
        cells = line.split("\t")
        if not line.strip():
            continue
        if not columns:
            columns = {name.strip().lower(): index for index, name in enumerate(cells)}
            if not is_header(line):
                tell(number, "links_header", given=quoted([line.strip()]))
                return
            continue
        try:
            pair, items = _row(cells, columns)
        except ValueError:
            tell(number, "unreadable_links", items=quoted([line]), count=1, example="1, 0, 0 (pair, source, target)")
        else:
            yield Found(number, items, pair)


def is_header(line: str) -> bool:
    """Whether this line names the columns that a table of links needs."""
    names = {name.strip().lower() for name in line.split("\t")}
    return {"source", "target"} <= names and any(name in names for name in _NUMBERS)


def _row(cells: Sequence[str], columns: Mapping[str, int]) -> tuple[int, list[Item]]:
    cell = {name: cells[index].strip() if index < len(cells) else "" for name, index in columns.items()}
    pair = _index(next(cell[name] for name in _NUMBERS if name in cell))
    if not cell["source"] and not cell["target"]:
        return pair, []
    mark = cell.get("mark", "").upper() or "S"
    if mark not in ("S", "P"):
        raise ValueError(mark)
    weight = float(cell["weight"]) if cell.get("weight") else None
    return pair, [Item(_index(cell["source"]), _index(cell["target"]), mark == "S", _finite(weight))]


def read_json(lines: Lines, tell: Tell) -> Iterator[Found]:
    """The pairs of an array that holds an object a line, of JSON Lines, or of any other JSON (which is then read whole)."""
    rest = iter(lines)
    head: list[tuple[int, str]] = []
    alone: list[bool] = []  # of the first lines that hold something: whether it is an object; the very first may be damaged
    for number, line in rest:
        head.append((number, line))
        if line.strip() not in ("", "["):
            alone.append(_object(line) is not None)
        if len(alone) == 3:
            break
    if not (any(alone[:1]) or alone[1:] == [True, True]):
        yield from _of_whole([line for _, line in chain(head, rest)], tell)
        return
    for number, line in chain(head, rest):
        if line.strip() in ("", "[", "]"):
            continue
        if (made := _object(line)) is not None:
            yield _of_object(number, made, tell)
        else:  # keeps its place
            tell(number, "unreadable_links", items=quoted([line.strip()]), count=1, example=_EXAMPLE)
            yield Found(number, [])


def _object(line: str) -> dict[str, Any] | None:
    """The object that stands alone on a line, if one does."""
    try:
        made = _loads(line.strip().removesuffix(","))
    except ValueError:
        return None
    return made if isinstance(made, dict) else None


def _of_whole(lines: Sequence[str], tell: Tell) -> Iterator[Found]:
    try:
        made = _loads("\n".join(lines))
    except ValueError:
        tell(1, "unreadable_links", items=quoted([line.strip() for line in lines[:1]]), count=len(lines), example=_EXAMPLE)
        return
    for each in made if isinstance(made, list) else [made]:
        yield _of_object(1, each, tell)


def _of_object(line: int, made: object, tell: Tell) -> Found:
    """The links of one object; a list of links, or a Pharaoh line, stands for an object with these links."""
    given: Mapping[str, Any] = made if isinstance(made, dict) else {"links": made}
    number = given.get("pair", given.get("sentence"))
    items: list[Item] = []
    bad: list[str] = []
    for key, sure in (("possible", False), ("links", True), ("sure", True)):
        links = given.get(key, [])
        for link in links.split() if isinstance(links, str) else links if isinstance(links, list) else [links]:
            try:
                items.append(_link(link, sure))
            except (KeyError, ValueError):
                bad.append(json.dumps(link, ensure_ascii=False))
    if bad:
        tell(line, "unreadable_links", items=quoted(bad), count=len(bad), example=_EXAMPLE)
    return Found(line, items, number if isinstance(number, int) and not isinstance(number, bool) and number >= 0 else None)


def _link(link: object, sure: bool) -> Item:
    if isinstance(link, str):
        certain, possible = pharaoh.parse(link)
        ((i, j),) = possible
        return Item(i, j, sure and (i, j) in certain)
    if isinstance(link, dict):
        weight = link.get("weight")
        return Item(_index(link["source"]), _index(link["target"]), sure and link.get("mark", "S") == "S", _finite(weight))
    if isinstance(link, list) and len(link) in (2, 3):
        return Item(_index(link[0]), _index(link[1]), sure, _finite(link[2] if len(link) == 3 else None))
    raise ValueError(link)


def _index(value: object) -> int:
    """A position as a whole number that is not negative."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9:
        return value
    raise ValueError(value)


def _finite(weight: object) -> float | None:
    if weight is None:
        return None
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
        raise ValueError(weight)
    return float(weight)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _word(words: Sequence[str], index: int) -> str:
    return words[index] if index < len(words) else ""
