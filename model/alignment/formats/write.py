"""`write_pairs`: sentence pairs in a form that `read_pairs` reads as the same pairs, and other programs too."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import BinaryIO

from model.alignment.formats.pairs import Pair, one_line
from model.alignment.formats.problem import FormatError, Problem
from model.alignment.formats.xml import write_tmx, write_xliff

Two = tuple[str, str]

_SURROGATE = re.compile("[\ud800-\udfff]")


def write_pairs(
    pairs: Iterable[Pair | Two], file: BinaryIO | Sequence[BinaryIO], format: str, languages: Two = ("en", "fr")
) -> list[Problem]:
    """Write pairs as UTF-8, one at a time; "lines" needs two files. Returns what could not be written as it is.

    A line break in a text becomes a space, as it does when read; so does a tab in TSV. Raises FormatError for a format that
    is not written, and for `|||` in a text where that is the separator.
    """
    plain = (Pair(_plain(pair[0]), _plain(pair[1])) for pair in pairs)
    if isinstance(file, Sequence):
        if format != "lines" or len(file) != 2:
            raise FormatError.of("how_many_files", given=len(file))
        for pair in plain:
            for side, stream in zip(pair, file, strict=True):
                stream.write(f"{side}\n".encode())
        return []
    if format in ("tmx", "xliff"):
        return (write_tmx if format == "tmx" else write_xliff)(plain, file, languages)
    if format not in _WRITERS:
        known = (*_WRITERS, "tmx", "xliff", "lines (to two files)")
        raise FormatError.of("unwritten_format", given=format, choices=", ".join(known))
    for line in _WRITERS[format](plain, languages):
        file.write(f"{line}\n".encode())
    return []


def _tsv(pairs: Iterable[Pair], languages: Two) -> Iterator[str]:
    for pair in pairs:
        yield "\t".join(side.replace("\t", " ") for side in pair)


def _csv(pairs: Iterable[Pair], languages: Two) -> Iterator[str]:
    for row in chain([_keys(languages)], pairs):
        yield ",".join('"' + side.replace('"', '""') + '"' for side in row)


def _bars(pairs: Iterable[Pair], languages: Two) -> Iterator[str]:
    for number, (source, target) in enumerate(pairs, 1):
        if "|||" in source or "|||" in target:
            raise FormatError.of("bars_in_text", pair=number)
        yield f"{source} ||| {target}"


def _jsonl(pairs: Iterable[Pair], languages: Two) -> Iterator[str]:
    for pair in pairs:
        yield json.dumps({"translation": dict(zip(_keys(languages), pair, strict=True))}, ensure_ascii=False)


def _json(pairs: Iterable[Pair], languages: Two) -> Iterator[str]:
    before = "["
    for record in _jsonl(pairs, languages):
        yield before + record
        before = ","
    yield "]" if before == "," else "[]"


def _keys(languages: Two) -> Two:
    """What the two sides are called: by their languages, if these are known and two."""
    return languages if all(languages) and languages[0] != languages[1] else ("source", "target")


def _plain(text: str) -> str:
    return _SURROGATE.sub("\ufffd", one_line(text))


_WRITERS: dict[str, Callable[[Iterable[Pair], Two], Iterator[str]]] = {
    "tsv": _tsv,
    "csv": _csv,
    "bars": _bars,
    "jsonl": _jsonl,
    "json": _json,
}
