"""Plain text: two files whose lines belong together, one file with ` ||| ` between the sides, or sources alone."""

import re
from collections.abc import Iterator

from model.alignment.formats import lines
from model.alignment.formats.files import File
from model.alignment.formats.pairs import Entry, one_line
from model.alignment.formats.problem import FormatError, Problem, add

LINKS = re.compile(r"[0-9]+[-p?][0-9]+(?: +[0-9]+[-p?][0-9]+)*")  # Pharaoh

_LINKS_OR_NUMBERS = re.compile(rf"{LINKS.pattern}|[-+0-9.eE ]*")
_BARS = re.compile(r"(?:^| )\|\|\|(?: |$)")


def alone(file: File, encoding: str, problems: list[Problem]) -> Iterator[Entry]:
    """One source on each line; blank lines stay in step."""
    for number, line in lines.numbered(file, encoding, problems):
        yield Entry(one_line(line), "", number)


def check_counts(files: tuple[File, File], encodings: tuple[str, str], problems: list[Problem]) -> None:
    """Raises FormatError if two files have unequal numbers of lines; blank ones too many at an end are noted only."""
    counts = [lines.count(file, encoding) for file, encoding in zip(files, encodings, strict=True)]
    if counts[0] == counts[1]:
        return
    longer = counts.index(max(counts))
    for number, line in lines.numbered(files[longer], encodings[longer], []):
        if number > min(counts) and line.strip():
            source, target = counts
            raise FormatError.of(
                "unequal_counts", source=source, target=target, source_file=files[0].name, target_file=files[1].name
            )
    name = files[longer].name
    add(problems, "surplus_blank", min(counts) + 1, file=name, count=abs(counts[0] - counts[1]), longer=name)


def two_files(files: tuple[File, File], encodings: tuple[str, str], problems: list[Problem]) -> Iterator[Entry]:
    """Line i of both files; a blank line on one side is noted and stays, so that all stay in step."""
    source, target = (lines.numbered(file, encoding, problems) for file, encoding in zip(files, encodings, strict=True))
    for (number, left), (_, right) in zip(source, target, strict=False):  # counted before: what is left over is blank
        for line, other, code, file in ((left, right, "empty_source", files[0]), (right, left, "empty_target", files[1])):
            if not line.strip() and other.strip():
                add(problems, code, number, file=file.name)
        yield Entry(one_line(left), one_line(right), number)


def bars(file: File, encoding: str, problems: list[Problem]) -> Iterator[Entry]:
    """`source ||| target` on each line, perhaps links or numbers after them; a line without both sides is noted and left out."""
    blank: list[int] = []
    for number, line in lines.numbered(file, encoding, problems):
        parts = _BARS.split(line)
        if not line.strip():
            blank.append(number)
            continue
        if len(parts) == 1:
            add(problems, "no_bars", number, file=file.name)
        elif not all(_LINKS_OR_NUMBERS.fullmatch(part.strip()) for part in parts[2:]):
            add(problems, "many_bars", number, file=file.name, given=len(parts))
        elif not (parts[0].strip() and parts[1].strip()):
            add(problems, missing(parts[0], parts[1]), number, file=file.name)
        else:
            yield from (Entry("", "", empty) for empty in blank)
            rest = [part.strip() for part in parts[2:]]
            links = next(filter(LINKS.fullmatch, rest), "")
            yield Entry(one_line(parts[0]), one_line(parts[1]), number, " · ".join(part for part in rest if part != links), links)
            blank = []


def missing(source: str, target: str) -> str:
    """The code of the message about an empty side."""
    if source.strip():
        return "empty_target"
    return "empty_source" if target.strip() else "both_empty"
