"""The two files of sentences in a zip archive as OPUS releases them (Moses format).

Names in an archive are compared and told, never used as paths, and an archive inside an archive is not opened.
"""

import io
import re
import struct
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import BinaryIO

from model.alignment.formats import languages as names
from model.alignment.formats.files import BLOCK, File
from model.alignment.formats.pairs import Limits
from model.alignment.formats.problem import FormatError, Problem, add

MOST_ENTRIES = 1000
HIGHEST_RATIO = 200  # unpacked to packed; text of a natural language is packed to a third
HARMLESS = 1 << 22  # bytes: so little may be packed as tightly as it likes
LARGEST = 1 << 36  # bytes unpacked, where no limit is set

_ERRORS = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, RuntimeError, ValueError, struct.error)
_DIRECTORY = 128  # bytes at most, on average, of an entry in the list of entries

Two = tuple[zipfile.ZipInfo, zipfile.ZipInfo]


class Packed(File):
    """A file in a zip archive."""

    def __init__(self, archive: File, entry: zipfile.ZipInfo) -> None:
        super().__init__(archive.given)
        self.archive, self.entry = archive, entry
        self.name = re.split(r"[/\\]", entry.filename)[-1]

    def open(self) -> BinaryIO:
        """A reader of the unpacked bytes, no more of them than the archive announced."""
        return io.BytesIO(b"".join(self.blocks()))

    @cached_property
    def start(self) -> bytes:
        """The first unpacked block."""
        return next(self.blocks(), b"")

    @cached_property
    def size(self) -> int:
        """The number of unpacked bytes, as the archive announces it."""
        return self.entry.file_size

    def blocks(self) -> Iterator[bytes]:
        """The unpacked bytes, a block at a time, none of odd length but the last."""
        with self.archive.open() as stream, _opened(stream, self.archive.name) as archive:
            try:
                with archive.open(self.entry) as entry:
                    while block := entry.read(BLOCK):
                        yield block
            except _ERRORS as error:
                raise FormatError.of("bad_zip", file=self.archive.name, reason=str(error)[:80]) from error


def pair_of_files(
    file: File, languages: tuple[str, str] | None, limits: Limits, problems: list[Problem]
) -> tuple[Packed, Packed]:
    """The two files whose names differ in the last part only, in the order of `languages` if these name them.

    Raises FormatError if there are none, and for an archive that would unpack to too much.
    """
    with file.open() as stream:
        _check_directory(stream, file.name)
        with _opened(stream, file.name) as archive:
            entries = archive.infolist()
    if len(entries) > MOST_ENTRIES:
        raise FormatError.of("zip_entries", file=file.name, given=len(entries), limit=MOST_ENTRIES)
    groups: dict[str, dict[str, zipfile.ZipInfo]] = defaultdict(dict)
    for entry in entries:
        stem, dot, suffix = entry.filename.rpartition(".")
        if dot and not entry.is_dir() and not entry.filename.startswith("__MACOSX/") and _is_language(stem, suffix):
            groups[stem][suffix] = entry
    pairs = {stem: group for stem, group in groups.items() if len(group) >= 2}
    if not pairs:
        held = ", ".join(entry.filename for entry in entries[:8]) or "nothing"
        workbook = any(entry.filename in ("[Content_Types].xml", "content.xml") for entry in entries)
        raise FormatError.of("workbook" if workbook else "no_pair_in_zip", file=file.name, given=held)
    stem = max(pairs, key=lambda stem: sum(entry.file_size for entry in pairs[stem].values()))
    two = _two(stem, pairs[stem], languages)
    left = sorted({entry.filename for group in pairs.values() for entry in group.values()} - {entry.filename for entry in two})
    if left:
        taken = ", ".join(entry.filename for entry in two)
        add(problems, "several_in_zip", file=file.name, given=len(pairs), taken=taken, left=", ".join(left[:8]))
    _check_sizes(two, file.name, limits)
    return Packed(file, two[0]), Packed(file, two[1])


def _is_language(stem: str, suffix: str) -> bool:
    """Whether the last part of a name is a language: one known, or one that the part before names (NAME.xx-yy.xx)."""
    before = re.split(r"[/\\]", stem)[-1].rpartition(".")[2]
    return bool(names.language(suffix)) or suffix in before.split("-")


def _two(stem: str, group: dict[str, zipfile.ZipInfo], languages: tuple[str, str] | None) -> Two:
    """Of files in several languages the two wanted, else the two that the name tells, else the first two."""
    by_language = {names.language(suffix) or suffix: entry for suffix, entry in group.items()}
    told = stem.rpartition(".")[2].split("-")
    for wanted in (languages or (), told):
        codes = [names.language(code) or code for code in wanted]
        if len(codes) == 2 and codes[0] != codes[1] and all(code in by_language for code in codes):
            return by_language[codes[0]], by_language[codes[1]]
    first, second, *_ = group.values()
    return first, second


def _opened(stream: BinaryIO, name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(stream)
    except _ERRORS as error:
        raise FormatError.of("bad_zip", file=name, reason=str(error)[:80]) from error


def _check_directory(stream: BinaryIO, name: str) -> None:
    """Refuse a list of entries that is too long before it is read into memory."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - (1 << 16) - 100))
    tail = stream.read()
    for signature, layout, place in ((b"PK\x05\x06", "<L", 12), (b"PK\x06\x06", "<Q", 40)):
        at = tail.find(signature)
        while at >= 0 and len(tail) >= at + place + struct.calcsize(layout):
            length = struct.unpack_from(layout, tail, at + place)[0]
            if length > MOST_ENTRIES * _DIRECTORY and length != 0xFFFFFFFF:
                raise FormatError.of("zip_entries", file=name, given=f"about {length // 64}", limit=MOST_ENTRIES)
            at = tail.find(signature, at + 1)
    stream.seek(0)


def _check_sizes(entries: Two, name: str, limits: Limits) -> None:
    total = sum(entry.file_size for entry in entries)
    limit = LARGEST if limits.bytes is None else limits.bytes
    for entry in entries:
        if entry.flag_bits & 1:
            raise FormatError.of("bad_zip", file=name, reason="it is encrypted")
        ratio = entry.file_size // max(1, entry.compress_size)
        if ratio > HIGHEST_RATIO and entry.file_size > HARMLESS:
            what, given = entry.filename, entry.file_size
            raise FormatError.of("zip_bomb", file=name, entry=what, given=given, ratio=ratio, limit=HIGHEST_RATIO)
    if total > limit:
        raise FormatError.of("zip_too_large", file=name, given=total, limit=limit)
