"""The work of the command line, from options to an exit code."""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from tqdm import tqdm

from model.alignment.command import journal, whole
from model.alignment.command.job import Job, prepare
from model.alignment.command.options import PROGRAM, UsageError, arguments
from model.alignment.command.output import Lines, Output
from model.alignment.command.processes import Processes, in_turns
from model.alignment.command.tally import Tally
from model.alignment.corpus import Aligned, align, translate_missing
from model.alignment.formats import GoldLinks, Pair
from model.alignment.formats.link_writing import lines_of
from model.checkpoint import CheckpointError

FINE, SOME_UNALIGNED, WRONG, INTERRUPTED = 0, 1, 2, 130
SHOWN = 20  # problems that are told one by one


def main(words: Sequence[str] | None = None) -> int:
    """Align as the words of the command line say; the exit code. Errors are one line on standard error, never a traceback."""
    processes = Processes()
    try:
        options = arguments(words)
        processes = Processes.join()
        with ExitStack() as opened:
            opened.callback(processes.leave)
            return Run(options, prepare(options, opened), processes).run()
    except KeyboardInterrupt:
        return _told("interrupted; with --output FILE the same command and --resume goes on", INTERRUPTED, processes)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that closing it does not fail again
        return WRONG
    except torch.OutOfMemoryError:
        return _told("error: the device has too little memory for such batches; lower --batch-tokens", WRONG, processes)
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        return _told(f"error: {reason}", WRONG, processes)
    except (ValueError, CheckpointError) as error:
        return _told(f"error: {error}", WRONG, processes)


def _told(message: str, code: int, processes: Processes) -> int:
    place = f" (process {processes.rank} of {processes.size})" if processes.size > 1 else ""
    sys.stderr.write(f"{PROGRAM}{place}: {' '.join(message.split())}\n")
    return code


class Run:
    """One process at work."""

    def __init__(self, options: argparse.Namespace, job: Job, processes: Processes) -> None:
        self.options, self.job, self.processes = options, job, processes
        self.gold: Iterator[GoldLinks] | None = None
        self.told = 0
        if processes.size > 1:
            whole.check_shared(options)

    def run(self) -> int:
        """Do this process's share, and as the first of several put all together; the exit code."""
        self.note(f"links: {self.job.about}")
        total = sum(1 for _ in self.job.rows())  # reads all once: what cannot be read is told before the work
        for problem in self.job.pairs.problems:
            self.problem(problem.sentence)
        if not total:
            raise UsageError("the input has no pair")
        if self.job.pairs.alone:
            self.note(f"the input holds sources alone: {self.job.atlas.name} translates them first")
        tally = self.alone(total) if self.processes.size == 1 else self.together(total)
        if tally is None:
            return FINE
        if tally.unaligned:
            self.note(f"{tally.unaligned} of {tally.pairs} pairs could not be aligned; their lines have no links")
        if self.job.gold is not None:
            for told in self.job.gold.problems:
                self.note(told.sentence)
            (sys.stdout if self.options.output != "-" else sys.stderr).write(f"{tally.report()}\n")
        return SOME_UNALIGNED if tally.unaligned else FINE

    def alone(self, total: int) -> Tally:
        """One process: straight to the output."""
        if self.options.format in whole.FORMATS:
            if self.options.resume:
                raise UsageError(
                    f"--format {self.options.format} is written as a whole and cannot be gone on with; leave --resume out"
                )
            rows = self.opened(self.progress(self.aligned(self.job.rows()), total), 0)
            return whole.write(self.options, self.job, rows, self.count)
        if self.options.output == "-":
            rows = self.opened(self.progress(self.aligned(self.job.rows()), total), 0)
            return whole.to_stdout(rows, self.lines(), self.count)
        path = Path(self.options.output)
        delayed = self.options.format == "json"
        output = Output(path, self.job.fingerprint, self.job.window, self.options.resume, delayed)
        begun = output.tally.pairs
        if begun:
            self.note(f"going on after {begun} of {total} pairs")
        rows = self.progress(self.aligned(islice(self.job.rows(), begun, None)), total, begun)
        tally = output.write(self.opened(rows, begun), self.lines(), self.count)
        output.finish()
        return tally

    def together(self, total: int) -> Tally | None:
        """One of several processes: a share to a file of its own; the first then puts the shares in order."""
        path = Path(self.options.output)
        share = Output(self.processes.shard(path), self.job.fingerprint, self.job.window, self.options.resume)
        begun = share.tally.pairs
        mine = islice(self.processes.mine(self.job.rows(), self.job.window), begun, None)
        rows = self.progress(self.aligned(mine), total // self.processes.size, begun)
        share.write(rows, lambda rows, first: journal.lines(rows), lambda tally, aligned: tally.after(aligned, None))
        self.processes.wait()
        return self.put_together(path, total) if self.processes.rank == 0 else None

    def put_together(self, path: Path, total: int) -> Tally:
        """The shares of all processes in the order of the input; they are removed when the output stands."""
        shards = [Output(self.processes.shard(path, rank), {}, self.job.window, False) for rank in range(self.processes.size)]
        if missing := [shard.path for shard in shards if not shard.path.exists()]:
            raise UsageError(f"{missing[0]} is not there: give an --output in a folder that all machines share")
        rows = self.opened(in_turns([journal.read(shard.path) for shard in shards], self.job.window), 0)
        if self.options.format in whole.FORMATS:
            tally = whole.write(self.options, self.job, rows, self.count)
        else:
            output = Output(path, self.job.fingerprint, self.job.window, False)
            tally = output.write(rows, self.lines(), self.count)
            output.finish()
        if tally.pairs != total:
            raise UsageError(f"{tally.pairs} of {total} pairs are in the files of the processes; begin again without --resume")
        for shard in shards:
            shard.finish()
            shard.path.unlink()
        return tally

    def aligned(self, rows: Iterable[Pair]) -> Iterator[Aligned]:
        """The rows aligned; sources that came alone are translated first."""
        job = self.job
        if job.pairs.alone:
            sources = (row.source for row in rows)
            rows = translate_missing(job.atlas, sources, job.batch_tokens, job.window, first_window=job.window)
        return align(job.atlas, rows, job.settings, job.reverse, job.batch_tokens, job.window, first_window=job.window)

    def opened(self, rows: Iterator[Aligned], begun: int) -> Iterator[Aligned]:
        """The rows on their way to the output, numbered on from those begun with; gold and the file of pairs stand there too."""
        rows = (replace(row, index=index) for index, row in enumerate(rows, begun))
        if self.job.gold is not None:
            self.gold = islice(self.job.gold.rows, begun, None)
        return rows if self.options.write_pairs is None else whole.with_pairs(rows, Path(self.options.write_pairs), begun)

    def lines(self) -> Lines:
        """How the format writes the lines of pairs."""
        return partial(_lines, self.options.format)

    def count(self, tally: Tally, aligned: Aligned) -> Tally:
        """Count a pair in order, and say what is wrong with it."""
        if aligned.problem is not None:
            self.problem(f"pair {tally.pairs + 1}: {aligned.problem}")
        return tally.after(aligned, None if self.gold is None else next(self.gold, None))

    def progress(self, rows: Iterator[Aligned], total: int, begun: int = 0) -> Iterator[Aligned]:
        """The rows with a bar on standard error."""
        hidden = self.options.quiet or self.processes.rank > 0
        return iter(tqdm(rows, total=total, initial=begun, disable=hidden, dynamic_ncols=True, mininterval=1.0, unit=" pairs"))

    def problem(self, message: str) -> None:
        """Tell a problem, but not a million of them."""
        self.told += 1
        if self.told <= SHOWN:
            self.note(message)
        elif self.told == SHOWN + 1:
            self.note("more problems like these are not told")

    def note(self, message: str) -> None:
        """A line on standard error, beside the bar."""
        if not self.options.quiet and self.processes.rank == 0:
            tqdm.write(message, file=sys.stderr)


def _lines(format: str, rows: Iterable[Aligned], first: int) -> Iterator[str]:
    return lines_of(rows, format, first)
