"""Alignment of a corpus from the command line: pairs per second with one process and two, and peak memory by length.

The pairs are sentences of our own, repeated. Each figure is of whole commands as a user starts them, all their processes added;
of the time the start (models loaded, input counted) is taken off, which a command of a few pairs shows.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import model
from benchmarks.timing import Figure, alone, in_turn
from model import Translator
from model.alignment.corpus import align
from model.alignment.formats import read_pairs

SAMPLE = Path("assets/examples/studio/en-fr.tsv")
FEW = 8
AT_ONCE, GOAL = 96, 320  # milliseconds: 300 pairs a second


def figures() -> Iterator[Figure]:
    """For the table of all benchmarks: pairs of the sample, in batches, in this process."""
    atlas = model.load("en-fr", device="cpu")
    assert isinstance(atlas, Translator)
    pairs = list(islice(cycle(read_pairs(SAMPLE).rows), AT_ONCE))
    (times,) = in_turn(lambda: list(align(atlas, pairs)))
    yield alone(f"alignment of {AT_ONCE} pairs of about 8 words", times, GOAL)


class Run(NamedTuple):
    """What one command took: wall clock, and the largest memory of any of its processes in MiB."""

    seconds: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="en-fr")
    parser.add_argument("--pairs", type=int, default=4000, help="of which the speed is measured (default: %(default)s)")
    parser.add_argument("--memory", type=int, nargs="*", default=[1_000, 100_000], help="lengths whose peak memory is measured")
    options = parser.parse_args()
    print(f"{options.model}, {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        speeds(options.model, options.pairs, Path(folder))
        memory(options.model, options.memory, Path(folder))


def speeds(name: str, pairs: int, folder: Path) -> None:
    """Pairs per second of one process and of two."""
    few, many = corpus(FEW, folder), corpus(pairs, folder)
    words = sum(len(line.split("\t")[0].split()) for line in many.read_text(encoding="utf-8").splitlines()) / pairs
    rates = {}
    for processes in (1, 2):
        start = command(name, few, processes).seconds
        rates[processes] = pairs / (command(name, many, processes).seconds - start)
        print(f"{processes} process{'es' if processes > 1 else '  '}  {rates[processes]:8.0f} pairs/s  "
              f"({words:.1f} source words a pair; {start:.1f} s to start)", flush=True)  # fmt: skip
    print(f"two processes are {rates[2] / rates[1]:.2f} times as quick\n", flush=True)


def memory(name: str, lengths: list[int], folder: Path) -> None:
    """Peak memory of one process, by the number of pairs."""
    for pairs in lengths:
        taken = command(name, corpus(pairs, folder), 1)
        print(f"{pairs:>9,} pairs  {taken.megabytes:6.0f} MiB at most  ({taken.seconds:.0f} s)", flush=True)


def corpus(pairs: int, folder: Path) -> Path:
    """A file of so many pairs."""
    path = folder / f"{pairs}.tsv"
    rows = list(read_pairs(SAMPLE).rows)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{row.source}\t{row.target}\n" for row in islice(cycle(rows), pairs))
    return path


def command(name: str, pairs: Path, processes: int) -> Run:
    """Run the command; raises CalledProcessError where it fails."""
    start = [sys.executable, "-m"]
    if processes > 1:
        start += ["torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "-m"]
    words = [*start, "model.alignment", str(pairs), "--model", name, "--output", str(pairs.with_suffix(".align")), "--quiet"]
    began = time.perf_counter()
    process = subprocess.Popen(words, env={**os.environ, "OMP_NUM_THREADS": "1"})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return Run(time.perf_counter() - began, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
