"""`read_pairs`: what is in this file, and how is it read?"""

from collections.abc import Iterator, Sequence
from typing import Literal

from model.alignment.formats import encodings, lines, parallel, tables
from model.alignment.formats.files import Given, files_of
from model.alignment.formats.pairs import PAIR_FORMATS, Entry, Limits, Pairs
from model.alignment.formats.problem import FormatError, Problem, Problems

Column = int | str


def read_pairs(
    files: Given | Sequence[Given],
    format: str | None = None,
    encoding: str | None = None,
    columns: tuple[Column, Column] | None = None,
    header: bool | None = None,
    *,
    languages: tuple[str, str] | None = None,
    match: Literal["time", "number"] = "time",
    limits: Limits | None = None,
) -> Pairs:
    """Sentence pairs from a path or an open stream, or from two whose lines belong together; the rest is detected."""
    if format is not None and format not in PAIR_FORMATS:
        raise FormatError.of("unknown_format", given=format, choices=", ".join(PAIR_FORMATS))
    limits = limits or Limits()
    opened = files_of(files, limits)
    found = [encodings.detect(file) for file in opened]
    used = [encodings.canonical(encoding, opened[0].name) if encoding else one.name for one in found]
    sure = all(one.sure for one in found) or encoding is not None
    problems = Problems()
    if len(opened) == 2:
        two, both = (opened[0], opened[1]), (used[0], used[1])
        parallel.check_counts(two, both, problems)

        def read(problems: list[Problem]) -> Iterator[Entry]:
            return parallel.two_files(two, both, problems)

        format = "lines"
    else:
        first = lines.sample(opened[0], used[0])
        tabs = sum("\t" in line for line in first)
        bars = sum(" ||| " in line for line in first)
        format = format or ("tsv" if tabs * 2 >= len(first) else "bars" if bars * 2 >= len(first) else "lines")

        def read(problems: list[Problem]) -> Iterator[Entry]:
            if format == "tsv":
                return tables.tsv(opened[0], used[0], (0, 1), bool(header), problems)
            if format == "bars":
                return parallel.bars(opened[0], used[0], problems)
            return parallel.alone(opened[0], used[0], problems)

    return Pairs(
        read,
        format,
        used[0],
        tuple(file.name for file in opened),
        encodings=found[0].plausible,
        sure=sure,
        alone=format == "lines" and len(opened) == 1,
        limits=limits,
        problems=problems,
    )
