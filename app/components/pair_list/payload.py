"""One page of the list: what stands in its rows, and where it stands in the whole."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

LABELS: tuple[str, ...] = (
    "caption", "keys", "number", "source", "target", "open", "sort", "previous", "next", "page", "empty", "first", "last",
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column of numbers: how it is sorted by name, its heading, and what it means, for a tooltip."""

    id: str
    title: str
    about: str


@dataclass(frozen=True)
class Row:
    """A pair: its index in the study, from 0, both sides, its numbers as they are printed, and notes about it."""

    index: int
    source: str
    target: str
    cells: Sequence[str]
    notes: Sequence[str] = ()


def pack(
    rows: Sequence[Row],
    columns: Sequence[Column],
    *,
    sort: str,
    descending: bool,
    page: int,
    pages: int,
    size: int,
    total: int,
    opened: int | None,
    languages: tuple[str, str],
    text: Mapping[str, str],
) -> bytes:
    """A page (from 0) of at most `size` rows, of `total` in all, sorted by a column's id or by "index"; UTF-8 JSON.

    `opened` is the index of the pair that is shown below; `languages` are codes such as "en", for the browser.
    """
    for row in rows:
        if len(row.cells) != len(columns):
            raise ValueError(f"pair {row.index} has {len(row.cells)} cells for {len(columns)} columns; give one for each")
    header = {
        "rows": [asdict(row) for row in rows],
        "columns": [asdict(column) for column in columns],
        "sort": sort,
        "descending": descending,
        "page": page,
        "pages": pages,
        "size": size,
        "total": total,
        "opened": opened,
        "languages": list(languages),
        "text": {label: text[label] for label in LABELS},
    }
    return json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")


def unpack(message: bytes) -> dict[str, object]:
    """What `pack` put in."""
    found: dict[str, object] = json.loads(message)
    return found
