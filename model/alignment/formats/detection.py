"""What a file is: by its first bytes, then by its first lines; its name decides only between what these allow."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress

from model.alignment.formats import delimited, tables
from model.alignment.formats.columns import is_header
from model.alignment.formats.files import File
from model.alignment.formats.problem import FormatError

_XML = re.compile(r"\s*(?:<\?xml\b|<!--|<!DOCTYPE\b|<(?:\w+:)?(?:tmx|xliff)\b)", re.IGNORECASE)
_PAGE = re.compile(r"\s*(?:<!DOCTYPE\s+html\b|<html\b)", re.IGNORECASE)
_ROOT = re.compile(r"<(?:\w+:)?(tmx|xliff)\b", re.IGNORECASE)
_JSON = re.compile(r'\s*[\[{]\s*["\[{\]}]')
_TIMES = re.compile(r"\s*\d{1,3}:\d\d:\d\d[,.]\d{1,3}\s*-->")
_SUFFIXES = {"tmx": "tmx", "xlf": "xliff", "xliff": "xliff", "mqxliff": "xliff", "sdlxliff": "xliff"}


def is_zip(start: bytes) -> bool:
    """Whether a file begins as a zip archive does."""
    return start.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"))


def format_of(file: File, first: Sequence[str]) -> tuple[str, bool]:
    """The format of one file of text, by its first lines and its name, and whether that is beyond doubt."""
    text = "\n".join(first)
    filled = [line for line in first if line.strip()]
    if _PAGE.match(text):
        raise FormatError.of("not_text", file=file.name, kind="a web page", advice="save its sentences as text or CSV")
    if _XML.match(text):
        root = _ROOT.search(text)
        return (root[1].lower() if root else _SUFFIXES.get(file.suffix, "tmx")), root is not None
    if _JSON.match(text) and (form := _json(filled, file.suffix)):
        return form, True
    if tables.is_anki(first):
        return "anki", True
    if tables.separator_line(first[0] if first else "")[1]:
        return "csv", True
    if filled and filled[0].startswith("WEBVTT"):
        return "srt", True
    if any(map(_TIMES.match, filled)) and (file.suffix == "srt" or filled[0].strip().isdecimal()):
        return "srt", True
    return _lines_or_table(file.suffix, filled)


def _json(filled: Sequence[str], suffix: str) -> str | None:
    """JSON Lines if the first line is a value and others follow; prose that begins with a bracket is neither."""
    with suppress(ValueError, RecursionError):
        if not isinstance(json.loads(filled[0]), dict | list):
            return None
        return "jsonl" if (len(filled) > 1 and filled[1].lstrip()[:1] in "{[") or suffix in ("jsonl", "ndjson") else "json"
    if suffix in ("jsonl", "ndjson"):
        return "jsonl"
    return "json" if suffix == "json" or len(filled) > 1 or not filled[0].rstrip().endswith((".", "!", "?")) else None


def _lines_or_table(suffix: str, filled: Sequence[str]) -> tuple[str, bool]:
    bars = sum(" ||| " in line for line in filled)
    tabs = sum("\t" in line for line in filled)
    enough = max(1, len(filled)) * 0.5
    if bars >= enough and bars >= tabs:
        return "bars", bars == len(filled)
    if suffix == "csv":
        return "csv", True
    if tabs >= enough or suffix == "tsv":
        return "tsv", True
    return ("csv", False) if filled and _written_as_csv(filled) else ("lines", not tabs and not bars)


def _written_as_csv(filled: Sequence[str]) -> bool:
    """Whether lines of a file not called .csv are a table all the same: a header with two languages, or all cells quoted."""
    for delimiter in (",", ";"):
        dialect = delimited.dialect(filled, delimiter)
        rows = [cells for _, cells in delimited.rows(enumerate(filled, 1), dialect, [])]
        if len(rows[0]) > 1 and dialect.width == len(rows[0]) and is_header([cell.strip() for cell in rows[0]]):
            return True
        if len(filled) > 1 and dialect.width > 1 and all(line.startswith('"') and f'"{delimiter}"' in line for line in filled):
            return True
    return False
