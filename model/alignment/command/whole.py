"""Output that is no file to go on with: standard output, a file that is written as a whole, the pairs beside the links."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from model.alignment import report, results
from model.alignment.choices import default_choice
from model.alignment.command.job import Job, languages
from model.alignment.command.options import UsageError
from model.alignment.command.output import Count, Lines
from model.alignment.command.tally import Tally
from model.alignment.corpus import Aligned, weights_of
from model.alignment.extract import WordWeights
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
    counted = Counted(rows, count)
    for line in lines(iter(counted), 1):
        sys.stdout.buffer.write(f"{line}\n".encode())
    sys.stdout.buffer.flush()
    return counted.tally


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


def write(options: argparse.Namespace, job: Job, rows: Iterator[Aligned], count: Count) -> Tally:
    """A file that is written as a whole, in place when it is complete: an HTML report, or the matrices of every pair."""
    counted = Counted(rows, count)
    if options.output == "-":
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a text stream in a command
        _report(job, counted, sys.stdout)
        return counted.tally
    path = Path(options.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    if options.format == "html":
        with new.open("w", encoding="utf-8", newline="\n") as page:
            _report(job, counted, page)
    else:
        with new.open("wb") as archive:
            results.matrices_npz(_matrices(job, counted), _caption(job), archive, job.settings.choice)
    new.replace(path)
    return counted.tally


class Counted:
    """Rows that are counted as they are taken."""

    def __init__(self, rows: Iterator[Aligned], count: Count) -> None:
        self.rows, self.count, self.tally = rows, count, Tally()

    def __iter__(self) -> Iterator[Aligned]:
        for row in self.rows:
            self.tally = self.count(self.tally, row)
            yield row


def _report(job: Job, rows: Iterable[Aligned], page: TextIO) -> None:
    report.html_report(rows, job.gold.rows if job.gold else None, _caption(job), "en", page)


def _matrices(job: Job, rows: Iterable[Aligned]) -> Iterator[tuple[Aligned, WordWeights]]:
    """The pairs that could be aligned with their matrices, computed again one by one: batches keep those of one head only."""
    for row in rows:
        if row.problem is None:
            yield row, weights_of(job.atlas, row.source, row.target, job.settings)


def _caption(job: Job) -> dict[str, str]:
    return report.caption_of(
        job.atlas.name,
        job.settings.choice or default_choice(job.atlas),
        job.settings,
        languages=languages(job.atlas.card) or (),
        reverse=job.reverse.name if job.reverse else "",
        files=job.pairs.files,
    )
