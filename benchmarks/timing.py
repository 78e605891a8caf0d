"""How all benchmarks measure and print: warm-up, repetitions in turn with the rival, medians, one table.

A and B are run A B A B ..., so that whatever else the machine does at a moment disturbs both alike. Times are wall clock;
a ratio is the median of the ratios of neighbouring runs.
"""

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

Benchmark = Callable[[], Iterator["Figure"]]
SECONDS, LEAST, WARM_UP = 4.0, 15, 3  # one comparison: how long, at least how many repetitions, how many before timing
BUSY = 0.15  # a spread above this says that other programs disturbed the measurement


@dataclass(frozen=True)
class Figure:
    """One line of the table: a time of ours in milliseconds, beside a rival's or alone.

    `goal` is the largest ratio to the rival, or without a rival the longest time; `strictly` if the goal itself is too much.
    A spread is half the distance between the quartiles, relative to the median.
    """

    what: str
    milliseconds: float
    spread: float
    rival: str = ""
    rival_milliseconds: float = 0.0
    rival_spread: float = 0.0
    ratio: float | None = None
    goal: float | None = None
    strictly: bool = False

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        value = self.milliseconds if self.ratio is None else self.ratio
        return "met" if value < self.goal or (value == self.goal and not self.strictly) else "MISSED"


def in_turn(*calls: Callable[[], object], seconds: float = SECONDS, least: int = LEAST) -> list[list[float]]:
    """The times of each call in seconds, all called in turn for about so long, at least so often."""
    for _ in range(WARM_UP):
        for call in calls:
            call()
    times: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + seconds
    while len(times[0]) < least or time.perf_counter() < end:
        for call, measured in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            measured.append(time.perf_counter() - start)
    return times


def compare(
    what: str,
    ours: Callable[[], object],
    rival: Callable[[], object],
    name: str,
    goal: float | None = None,
    strictly: bool = False,
) -> Figure:
    """Our time beside the rival's."""
    first, second = in_turn(ours, rival)
    ratio = statistics.median(a / b for a, b in zip(first, second, strict=True))
    return Figure(what, *median_and_spread(first), name, *median_and_spread(second), ratio, goal, strictly)


def alone(what: str, times: Sequence[float], goal: float | None = None) -> Figure:
    """A time that has no rival, from its measurements in seconds."""
    return Figure(what, *median_and_spread(times), goal=goal, strictly=True)


def median_and_spread(times: Sequence[float]) -> tuple[float, float]:
    """The median in milliseconds, and the spread."""
    low, middle, high = statistics.quantiles(times, n=4)
    return 1000 * statistics.median(times), (high - low) / 2 / middle


def header() -> str:
    """What was measured with, and the names of the columns."""
    return (
        f"torch {torch.__version__}, {torch.get_num_threads()} of {os.cpu_count()} cores, {platform.machine()}, "
        f"{platform.system()}, Python {platform.python_version()}; medians +- half the distance between the quartiles\n\n"
        f"{'':<58}{'ours':>17}{'rival':>19}  {'':<22}{'ratio':>7}{'goal':>11}"
    )


def line(figure: Figure) -> str:
    """The figure as a line of the table."""
    ours, rival, ratio, goal = _time(figure.milliseconds, figure.spread), "", "", ""
    if figure.ratio is not None:
        rival, ratio = _time(figure.rival_milliseconds, figure.rival_spread), f"{figure.ratio:.3f}"
    if figure.goal is not None:
        goal = f"{'<' if figure.strictly else '<='} {figure.goal:g}{'' if ratio else ' ms'}"
    busy = "  (busy machine)" if max(figure.spread, figure.rival_spread) > BUSY else ""
    return f"{figure.what:<58}{ours:>17}{rival:>19}  {figure.rival:<22}{ratio:>7}{goal:>11}  {figure.verdict}{busy}".rstrip()


def _time(milliseconds: float, spread: float) -> str:
    return f"{milliseconds:.2f} ms +-{100 * spread:2.0f}%"


def show(figures: Iterable[Figure]) -> list[Figure]:
    """Print each figure as soon as it is measured; all of them."""
    shown = []
    for figure in figures:
        print(line(figure), flush=True)
        shown.append(figure)
    return shown


def run(description: str | None, *benchmarks: Benchmark) -> None:
    """The command line of one benchmark or several: one table."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch, for us and the rivals (1, as in the server)")
    torch.set_num_threads(parser.parse_args().threads)
    print(header(), flush=True)
    figures = [figure for benchmark in benchmarks for figure in show(benchmark())]
    verdicts = [figure.verdict for figure in figures if figure.verdict]
    print(f"\n{verdicts.count('met')} of {len(verdicts)} goals met")
