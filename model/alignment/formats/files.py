"""A file that was given, by path or as an open stream, to be read from its beginning as often as wanted."""

import io
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from model.alignment.formats.pairs import Limits
from model.alignment.formats.problem import FormatError

BLOCK = 1 << 16  # bytes read at once
_NOTHING = b" \t\r\n\0\xef\xbb\xbf\xfe\xff"  # white space, in UTF-16 as well, and byte order marks

# First bytes of what people take for text, and what to do with it.
_UNPACK, _SAVE = "unpack it first", "save it as text, CSV, TMX or JSON"
_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", "a gzip archive", _UNPACK),
    (b"BZh", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ", "an xz archive", _UNPACK),
    (b"7z\xbc\xaf", "a 7z archive", _UNPACK),
    (b"Rar!", "a rar archive", _UNPACK),
    (b"%PDF", "a PDF document", _SAVE),
    (b"\xd0\xcf\x11\xe0", "an old document of an office program", _SAVE),
    (b"\x89PNG", "a picture", _SAVE),
    (b"\xff\xd8\xff", "a picture", _SAVE),
    (b"\x7fELF", "a program", _SAVE),
    (b"SQLite format 3", "a database", _SAVE),
)


@runtime_checkable
class Stream(Protocol):
    """An open binary file, an upload for example. It has a `.name` as well, or goes without."""

    def read(self, size: int = -1, /) -> bytes: ...

    def seek(self, offset: int, whence: int = 0, /) -> int: ...


Given = str | Path | Stream


class File:
    """What was given under one name. The name is told and its suffix looked at; a stream's name is never a path."""

    def __init__(self, given: Given) -> None:
        self.given = given
        name = given if isinstance(given, str | Path) else getattr(given, "name", None)
        self.name = Path(str(name)).name if isinstance(name, str | Path) else "file"

    @property
    def suffix(self) -> str:
        """The last part of the name after its dot, in lower case, without the dot."""
        return self.name.rpartition(".")[2].lower() if "." in self.name else ""

    def open(self) -> BinaryIO:
        """A reader of its own from the beginning; several may read one stream in turns."""
        if isinstance(self.given, str | Path):
            try:
                return Path(self.given).open("rb")
            except (OSError, ValueError) as error:  # ValueError: a name with a NUL
                reason = getattr(error, "strerror", None) or str(error)
                raise FormatError.of("no_such_file", file=self.name, reason=reason) from error
        return io.BufferedReader(_Shared(self.given), BLOCK)

    @cached_property
    def start(self) -> bytes:
        """The first block of bytes; of a small file all."""
        with self.open() as stream:
            return stream.read(BLOCK)

    @cached_property
    def size(self) -> int:
        """The number of bytes."""
        if len(self.start) < BLOCK:
            return len(self.start)
        with self.open() as stream:
            return stream.seek(0, io.SEEK_END)

    def blocks(self) -> Iterator[bytes]:
        """The bytes, a block at a time."""
        yield self.start
        if self.size > len(self.start):
            with self.open() as stream:
                stream.seek(len(self.start))
                while block := stream.read(BLOCK):
                    yield block


class Pasted(io.BytesIO):
    """Text from the clipboard, with a name as a file has one."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode())
        self.name = name


def pasted(text: str, name: str = "pasted text") -> BinaryIO:
    """Pasted text as a file, to be given to `read_pairs`."""
    return Pasted(text, name)


def files_of(given: Given | Sequence[Given], limits: Limits) -> list[File]:
    """One file or two, none over the limit of bytes; raises FormatError."""
    several: list[Given] = [given] if isinstance(given, str | Path | Stream) else list(given)
    if len(several) not in (1, 2):
        raise FormatError.of("how_many_files", given=len(several))
    files = [File(one) for one in several]
    for file in files:
        size = file.size
        if limits.bytes is not None and size > limits.bytes:
            raise FormatError.of("too_large", file=file.name, given=size, limit=limits.bytes)
        blank = len(files) == 1 and size <= len(file.start) and not file.start.strip(_NOTHING)
        if not size or blank:  # of two files one may be blank lines, in step with the other
            raise FormatError.of("empty_file", file=file.name)
        for magic, kind, advice in _KINDS:
            if file.start.startswith(magic):
                raise FormatError.of("not_text", file=file.name, kind=kind, advice=advice)
    return files


class _Shared(io.RawIOBase):
    """A place of its own in a stream that others read as well; the stream stays open."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._place = stream, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            offset, whence = self._place + offset, io.SEEK_SET
        self._stream.seek(offset, whence)
        if whence == io.SEEK_END:
            self._place = self._stream.tell() if hasattr(self._stream, "tell") else len(_all(self._stream)) + offset
        else:
            self._place = offset
        return self._place

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # typeshed has no name for a writable buffer
        self._stream.seek(self._place)
        block = self._stream.read(len(buffer))
        buffer[: len(block)] = block
        self._place += len(block)
        return len(block)


def _all(stream: Stream) -> bytes:
    stream.seek(0)
    return stream.read()
