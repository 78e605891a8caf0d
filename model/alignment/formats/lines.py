"""Lines of text, told by number: parted at line feed, carriage return and both together, and nowhere else."""

import io
from collections.abc import Iterator

from model.alignment.formats.encodings import WRONG, decoder
from model.alignment.formats.files import File
from model.alignment.formats.problem import FormatError, Problem, add

LONGEST = 1 << 22  # characters; no sentence is so long, but a binary file or JSON on one line may be


def numbered(file: File, encoding: str, problems: list[Problem]) -> Iterator[tuple[int, str]]:
    """Each line with its number from 1, without its end; a byte that is wrong is noted and becomes U+FFFD."""
    for number, line in enumerate(_lines(file, encoding), 1):
        if not line.isascii() and (wrong := WRONG.search(line)):
            _tell(file, encoding, number, line, wrong.start(), problems)
            line = WRONG.sub("\ufffd", line)
        yield number, line


def sample(file: File, encoding: str, most: int = 1000) -> list[str]:
    """The first lines, for a look at what the file is; of those longer than usual only the beginning of the file."""
    text = "".join(_texts([file.start], encoding))
    lines = WRONG.sub("\ufffd", text).split("\n")
    if len(lines) > 1:  # the last one is cut, or empty
        last = lines.pop()
        if file.size <= len(file.start) and last:
            lines.append(last)
    return lines[:most]


def count(file: File, encoding: str) -> int:
    """The number of lines; what follows the last line end is a line if there is anything."""
    ends, last = 0, ""
    for text in _texts(file.blocks(), encoding):
        ends += text.count("\n")
        last = text[-1:] or last
    return ends + (last not in ("", "\n"))


def _texts(blocks: Iterator[bytes] | list[bytes], encoding: str) -> Iterator[str]:
    """The text a block at a time, line ends all "\\n", without a byte order mark."""
    newlines = io.IncrementalNewlineDecoder(decoder(encoding), translate=True)
    first = True
    for block in blocks:
        text = newlines.decode(block)
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        yield text
    yield newlines.decode(b"", final=True)


def _lines(file: File, encoding: str) -> Iterator[str]:
    rest: list[str] = []
    length = number = 0
    for text in _texts(file.blocks(), encoding):
        head, *lines = text.split("\n")
        rest.append(head)
        length += len(head)
        if length > LONGEST:
            raise FormatError.of("line_too_long", number + 1, file=file.name, limit=LONGEST)
        if lines:
            yield "".join(rest)
            yield from lines[:-1]
            number += len(lines)
            rest, length = [lines[-1]], len(lines[-1])
    if last := "".join(rest):
        yield last


def _tell(file: File, encoding: str, number: int, line: str, place: int, problems: list[Problem]) -> None:
    value = ord(line[place]) - 0xDC00
    byte = len(line[:place].encode(encoding, "replace")) + 1
    add(problems, "bad_bytes", number, file=file.name, byte=byte, value=f"0x{value:02X}", encoding=encoding)
