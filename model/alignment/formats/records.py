"""Pairs in records: objects of JSON, their lines, and dictionaries that a table holds as text."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from model.alignment.formats import languages as names
from model.alignment.formats.pairs import Entry, one_line
from model.alignment.formats.problem import Problem, add

Key = str | int

_OUTER = ("translation", "translations")
_LINKS = ("links", "alignment", "alignments")
_NOTES = ("note", "attribution", "credit", "comment")
_SURROGATE = re.compile("[\ud800-\udfff]")

# A flat dictionary as Python writes it, and nothing else, before any of it reaches the parser of Python.
_ESCAPE = r"\\(?:[\\'\"abfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4})"
_TEXT = rf"(?:'(?:[^'\\\n]|{_ESCAPE})*'|\"(?:[^\"\\\n]|{_ESCAPE})*\")"
_VALUE = rf"(?:{_TEXT}|None|True|False|-?[0-9]{{1,18}}(?:\.[0-9]{{1,18}})?)"
_DICTIONARY = re.compile(rf"\s*\{{\s*{_TEXT}\s*:\s*{_VALUE}(?:\s*,\s*{_TEXT}\s*:\s*{_VALUE})*\s*,?\s*\}}\s*")
_LONGEST_CELL = 1 << 16


@dataclass(frozen=True)
class Keys:
    """Where a record has its texts: inside `outer` if that is not None, at `source` and `target` (None: sources alone)."""

    outer: str | None
    source: Key
    target: Key | None
    languages: tuple[str, str] = ("", "")
    sure: bool = True
    column: int = 0  # of the table, for dictionaries in cells

    @property
    def named(self) -> tuple[str, ...]:
        return tuple(str(key) for key in (self.source, self.target) if isinstance(key, str))


def keys_of(record: object, languages: tuple[str, str] | None = None, wanted: Sequence[Key] | None = None) -> Keys | None:
    """Where a record has source and target: by the keys wanted, by language, by side, or its only two texts."""
    if isinstance(record, Sequence) and not isinstance(record, str):
        return Keys(None, 0, 1) if len(record) >= 2 and isinstance(record[0], str) and isinstance(record[1], str) else None
    if not isinstance(record, Mapping):
        return None
    outer = next((key for key in _OUTER if isinstance(record.get(key), Mapping)), None)
    if outer is None and not any(isinstance(value, str) for value in record.values()):
        outer = next((key for key, value in record.items() if isinstance(value, Mapping)), None)
    inner = record if outer is None else record[outer]
    texts = [key for key, value in inner.items() if isinstance(key, str) and isinstance(value, str)]
    chosen = _chosen(texts, languages, wanted)
    return None if chosen is None else replace(chosen, outer=outer)


def _chosen(texts: list[str], languages: tuple[str, str] | None, wanted: Sequence[Key] | None) -> Keys | None:
    found = {key: names.language_in(key) for key in texts}
    if wanted is not None:
        exact = [next((key for key in texts if key == want or found[key] == names.language(str(want))), None) for want in wanted]
        source, target = exact[0], exact[1]
        return None if source is None or target is None else Keys(None, source, target, (found[source], found[target]))
    if languages:
        both = [next((key for key in texts if found[key] == (names.language(one) or one)), None) for one in languages]
        if both[0] is not None and both[1] is not None and both[0] != both[1]:
            return Keys(None, both[0], both[1], (found[both[0]], found[both[1]]))
    sides = {names.side(key): key for key in reversed(texts) if names.side(key)}
    if "source" in sides and "target" in sides:
        return Keys(None, sides["source"], sides["target"], (found[sides["source"]], found[sides["target"]]))
    known = [key for key in texts if found[key]]
    other = [key for key in known if found[key] != found[known[0]]]
    if other:
        return Keys(None, known[0], other[0], (found[known[0]], found[other[0]]))
    plain = [key for key in texts if key.casefold() not in names.ASIDE]
    if len(plain) >= 2:
        return Keys(None, plain[0], plain[1], (found[plain[0]], found[plain[1]]), sure=False)
    return Keys(None, plain[0], None, (found[plain[0]], ""), sure=False) if plain else None


def entry_of(record: Any, keys: Keys, line: int, file: str, problems: list[Problem]) -> Entry | None:
    """The pair of one record; what is missing or no text is noted."""
    inner = record.get(keys.outer) if keys.outer is not None and isinstance(record, Mapping) else record
    texts: list[str] = []
    for key in (keys.source, keys.target):
        if key is None:
            texts.append("")
            continue
        value = _value(inner, key)
        if not isinstance(value, str):
            add(problems, "missing_key", line, file=file, needed=key, given=_described(inner))
            return None
        if _SURROGATE.search(value):
            add(problems, "lone_surrogate", line, file=file)
            value = _SURROGATE.sub("\ufffd", value)
        texts.append(one_line(value))
    source, target = texts
    if not source.strip() or not (target.strip() or keys.target is None):
        code = "empty_target" if source.strip() else "empty_source" if target.strip() else "both_empty"
        add(problems, code, line, file=file)
        return None
    return Entry(source, target, line, _first(record, _NOTES), _first(record, _LINKS))


def in_cells(rows: Sequence[Sequence[str]], languages: tuple[str, str] | None) -> Keys | None:
    """The keys of dictionaries that a table holds as text, if one of its columns has nothing else (but a title)."""
    body = rows[1:] if len(rows) > 1 else rows
    for column in range(min(map(len, body), default=0)):
        cells = [row[column] for row in body if row[column].strip()]
        if sum(cell.lstrip().startswith("{") for cell in cells) * 2 > len(cells):
            found = (keys_of(record, languages) for record in map(dictionary, cells) if record)
            keys = next((keys for keys in found if keys and keys.target), None)
            if keys is not None:
                return replace(keys, column=column)
    return None


def of_cell(cell: str, keys: Keys, line: int, file: str, problems: list[Problem]) -> Entry | None:
    """The pair of a dictionary written in a cell."""
    record = dictionary(cell)
    if record is None:
        add(problems, "bad_dictionary", line, file=file)
        return None
    return entry_of(record, keys, line, file, problems)


def dictionary(text: str) -> dict[str, object] | None:
    """The dictionary that Python wrote as `text`: flat, of texts, numbers and None. Nothing is ever evaluated."""
    if len(text) > _LONGEST_CELL or not _DICTIONARY.fullmatch(text):
        return None
    try:
        found: dict[str, object] = ast.literal_eval(text.strip())
    except (SyntaxError, ValueError):  # a number such as 007, a NUL
        return None
    return found


def _value(inner: object, key: Key) -> object:
    if isinstance(key, int):
        return inner[key] if isinstance(inner, list) and len(inner) > key else None
    return inner.get(key) if isinstance(inner, Mapping) else None


def _described(inner: object) -> str:
    if isinstance(inner, Mapping):
        return ", ".join(str(key)[:20] for key in list(inner)[:6]) or "no keys"
    return {list: "a list", str: "a text", type(None): "nothing"}.get(type(inner), "a number")


def _first(record: object, keys: Iterable[str]) -> str:
    if not isinstance(record, Mapping):
        return ""
    value = next((record[key] for key in keys if isinstance(record.get(key), str)), "")
    return one_line(_SURROGATE.sub("\ufffd", value))
