"""JSON, whole or one record a line (JSON Lines), in the shapes that data sets of translations have."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from model.alignment.formats import languages as names
from model.alignment.formats import lines, records
from model.alignment.formats.encodings import WRONG, decoder
from model.alignment.formats.files import File
from model.alignment.formats.pairs import Entry
from model.alignment.formats.problem import FormatError, Problem, add
from model.alignment.formats.records import Key, Keys

LARGEST = 1 << 28  # bytes of JSON that is no JSON Lines, and so must be held in memory
_LOOKED_AT = 100  # records, to find the keys
_SPACE = " \t\r\n"

Record = tuple[int, Any]  # the line on which it begins, and its value


@dataclass(frozen=True)
class Records:
    """A file of records and where each has its texts."""

    file: File
    encoding: str
    by_line: bool
    keys: Keys

    def entries(self, problems: list[Problem]) -> Iterator[Entry]:
        """The pairs of the records; those that have none are noted and left out."""
        for line, record in _records(self.file, self.encoding, self.by_line, problems):
            if not isinstance(record, Mapping | list):
                add(problems, "no_record", line, file=self.file.name, given=str(record)[:60])
                continue
            entry = records.entry_of(record, self.keys, line, self.file.name, problems)
            if entry is not None:
                yield entry


def open_records(
    file: File, encoding: str, by_line: bool, languages: tuple[str, str] | None, wanted: Sequence[Key] | None
) -> Records:
    """Find the keys in the first records; raises FormatError if no record has a pair."""
    given: object = "nothing"
    noted: list[Problem] = []
    for _, record in islice(_records(file, encoding, by_line, noted), _LOOKED_AT):
        keys = records.keys_of(record, languages, wanted)
        if keys is not None:
            return Records(file, encoding, by_line, keys)
        given = ", ".join(map(str, record)) if isinstance(record, Mapping) else record
    if noted:
        raise FormatError(noted[0])
    raise FormatError.of("no_record_at_all", file=file.name, given=str(given)[:80])


def _records(file: File, encoding: str, by_line: bool, problems: list[Problem]) -> Iterator[Record]:
    if by_line:
        yield from _lines(file, encoding, problems)
        return
    for line, value, listed in _values(file, encoding, problems):
        yield from [(line, value)] if listed else _inside(line, value, file)


def _lines(file: File, encoding: str, problems: list[Problem]) -> Iterator[Record]:
    for number, line in lines.numbered(file, encoding, problems):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            _note(error, number, file, problems)


def _values(file: File, encoding: str, problems: list[Problem]) -> Iterator[tuple[int, Any, bool]]:
    """The values of a file one after the other: those of its outermost list (True), or those that follow without one."""
    if file.size > LARGEST:
        raise FormatError.of("json_large", file=file.name, given=file.size, limit=LARGEST)
    text = decoder(encoding).decode(b"".join(file.blocks()), final=True).removeprefix("\ufeff")
    if WRONG.search(text):
        line = text.count("\n", 0, WRONG.search(text).start()) + 1  # type: ignore[union-attr]  # just found
        add(problems, "bad_byte_in_json", line, file=file.name, encoding=encoding)
        text = WRONG.sub("\ufffd", text)
    scanner = json.JSONDecoder()
    place, line, counted = _after(text, 0, _SPACE), 1, 0
    listed = text.startswith("[", place)
    place = _after(text, place + listed, _SPACE)
    while place < len(text) and not (listed and text[place] == "]"):
        line, counted = line + text.count("\n", counted, place), place
        try:
            value, place = scanner.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            _note(error, line, file, problems)
            return
        yield line, value, listed
        place = _after(text, place, _SPACE)
        if listed and place < len(text) and text[place] not in ",]":
            wrong = json.JSONDecodeError("a comma or ] was needed", text, place)
            _note(wrong, wrong.lineno, file, problems)
            return
        place = _after(text, place, _SPACE + ",")
    if listed and place >= len(text):
        end = json.JSONDecodeError("the list is not closed: the file is cut", text, len(text))
        _note(end, end.lineno, file, problems)


def _after(text: str, place: int, skipped: str) -> int:
    while place < len(text) and text[place] in skipped:
        place += 1
    return place


def _inside(line: int, value: Any, file: File) -> Iterator[Record]:
    """The records in an outermost value: itself, the list that it holds, its columns side by side, or texts keyed by texts."""
    if not isinstance(value, Mapping) or (records.keys_of(value) is not None and _is_record(value)):
        yield line, value
        return
    columns = {str(key): list(column.values()) if isinstance(column, Mapping) else column for key, column in value.items()}
    lists = {key: column for key, column in columns.items() if isinstance(column, list)}
    texts = {key: column for key, column in lists.items() if column and isinstance(column[0], str)}
    if len(texts) >= 2:
        counts = {len(column) for column in texts.values()}
        if len(counts) > 1:
            shown = ", ".join(f"{key}: {len(column)}" for key, column in texts.items())
            raise FormatError.of("unequal_lists", line, file=file.name, given=shown)
        for row in zip(*texts.values(), strict=True):
            yield line, dict(zip(texts, row, strict=True))
    elif lists:
        longest = max(lists.values(), key=len)
        yield from ((line, record) for record in longest)
    else:
        yield from ((line, list(item)) for item in value.items())


def _is_record(value: Mapping[str, Any]) -> bool:
    """Whether an object is one pair; texts under keys that name no language and no side are pairs, key and value."""
    if any(isinstance(inner, Mapping | list) for inner in value.values()):
        return all(not isinstance(inner, list) for inner in value.values()) and isinstance(value.get("translation"), Mapping)
    return any(names.language_in(key) or names.side(key) for key in value)


def _note(error: Exception, line: int, file: File, problems: list[Problem]) -> None:
    if isinstance(error, RecursionError):
        add(problems, "too_deep", line, file=file.name)
    else:
        column = getattr(error, "colno", 1)
        add(problems, "bad_json", line, file=file.name, reason=getattr(error, "msg", str(error))[:80], column=column)
