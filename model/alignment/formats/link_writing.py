"""Links written to files, in formats that `read_alignments` and other programs read."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from model.alignment import pharaoh
from model.alignment.formats import link_tables as tables
from model.alignment.formats.link_tables import Written


def write_alignments(rows: Iterable[Any], file: BinaryIO | str | PathLike[str], format: str) -> None:
    """Write the links of pairs, one after another, to a path or a binary stream.

    A row is (sure, possible), a `Written`, or what has `links` of (source, target, weight) and the words, as `Aligned` has.
    Pharaoh, NAACL, Tsinghua and the table and JSON of `link_tables`; weights stand in NAACL, TSV and JSON.
    """
    lines = lines_of(rows, format)
    if isinstance(file, str | PathLike):
        with Path(file).open("wb") as stream:
            stream.writelines(f"{line}\n".encode() for line in lines)
    else:
        file.writelines(f"{line}\n".encode() for line in lines)


def lines_of(rows: Iterable[Any], format: str, first: int = 1) -> Iterator[str]:
    """What `write_alignments` writes, line by line; from pair `first` on as it goes on behind the pairs before it.

    The lines of a pair come before the next pair is taken from `rows`; in JSON, where a comma tells of the next, after that.
    """
    if format not in WRITERS:
        raise ValueError(f"format={format!r} cannot be written; choose one of {', '.join(WRITERS)}")
    return WRITERS[format](map(written, rows), first)


def written(row: Any) -> Written:
    """A row of any kind as what is written."""
    if isinstance(row, Written):
        return row
    if (links := getattr(row, "links", None)) is None:
        sure, possible = row
        return Written(dict.fromkeys({*sure, *possible}), frozenset(sure))
    weights = {(link.source, link.target): link.weight for link in links}
    return Written(weights, frozenset(weights), row.source_words, row.target_words)


def _pharaoh(rows: Iterable[Written], first: int = 1) -> Iterator[str]:
    return (pharaoh.render(row.sure, row.links) for row in rows)


def _tsinghua(rows: Iterable[Written], first: int = 1) -> Iterator[str]:
    for row in rows:
        yield " ".join(f"{i + 1}:{j + 1}/{int((i, j) in row.sure)}" for i, j in sorted(row.links))


def _naacl(rows: Iterable[Written], first: int = 1) -> Iterator[str]:
    for number, row in enumerate(rows, first):
        for (i, j), weight in sorted(row.links.items()):
            mark = "S" if (i, j) in row.sure else "P"
            yield f"{number} {i + 1} {j + 1} {mark} {tables.decimal(weight)}".rstrip()


WRITERS: Mapping[str, Callable[[Iterable[Written], int], Iterator[str]]] = {
    "pharaoh": _pharaoh,
    "naacl": _naacl,
    "tsinghua": _tsinghua,
    "tsv": tables.table,
    "json": tables.json_lines,
}
