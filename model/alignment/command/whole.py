"""Output that is no file to go on with: standard output, a file that is written as a whole, the pairs beside the links."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from model.alignment.command.job import Job
from model.alignment.command.options import UsageError
from model.alignment.command.output import Count, Lines
from model.alignment.command.tally import Tally
from model.alignment.corpus import Aligned
from model.alignment.formats import Pair
from model.alignment.formats.write import write_pairs

FORMATS = ("npz", "html")


def check_shared(options: argparse.Namespace) -> None:
    """Raises UsageError for what several processes cannot do."""
    if options.output == "-":
        raise UsageError("several processes need a file to put their shares together in; give --output FILE")
    if options.format == "npz":
        raise UsageError("the matrices of --format npz are written by one process; start it without torchrun")
    if "-" in options.pairs:
        raise UsageError("standard input reaches one process only; give files")


def to_stdout(rows: Iterator[Aligned], lines: Lines, count: Count) -> Tally:
    """The lines of the rows, as soon as they are known."""
    tally = Tally()

    def counted() -> Iterator[Aligned]:
        nonlocal tally
        for row in rows:
            tally = count(tally, row)
            yield row

    for line in lines(counted(), 1):
        sys.stdout.buffer.write(f"{line}\n".encode())
    sys.stdout.buffer.flush()
    return tally


def with_pairs(rows: Iterator[Aligned], path: Path, begun: int) -> Iterator[Aligned]:
    """The rows, each written to a file of pairs as it goes by; that file keeps its first `begun` lines."""
    with path.open("r+b" if begun else "wb") as file:
        for _ in range(begun):
            if not file.readline().endswith(b"\n"):
                raise UsageError(f"{path} has fewer lines than pairs are aligned; begin again without --resume")
        file.truncate(file.tell())
        for row in rows:
            write_pairs([Pair(row.source, row.target)], file, "tsv")
            file.flush()  # never behind the links
            yield row


def write(options: argparse.Namespace, job: Job, rows: Iterator[Aligned], path: Path, count: Count) -> Tally:
    """A file that is written as a whole: an HTML report, or the matrices of every pair."""
    raise UsageError("not yet")
