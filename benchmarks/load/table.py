"""The figures as lines of a table."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from benchmarks.load.actions import Done, Kind
from benchmarks.load.crowd import Result

NAMES: dict[Kind, str] = {
    "control": "a control on a cached trace",
    "part": "opening a part to be measured",
    "new": "a new sentence",
    "page": "another page",
    "arrival": "arriving by a link",
}
GOALS: dict[int, dict[Kind, int]] = {  # ms that 95 of 100 stay under, without a training
    30: {"control": 60, "new": 150, "page": 150},
    60: {"control": 100, "new": 250, "page": 250},
}
HEADER = f"{'people':<16}{'action':<34}{'count':>6}{'p50':>10}{'p95':>10}{'longest':>10}{'errors':>8}{'goal':>11}"


def lines(result: Result) -> Iterator[str]:
    """One crowd: each kind of action, then the server."""
    people = f"{result.people}{' + training' if result.training else ''}"
    for kind, name in NAMES.items():
        yield _line(people, name, [done for done in result.done if done.kind == kind], _goal(result, kind))
        people = ""
    for name, chosen in _parts(result.done).items():
        yield _line("", f"  {name}", chosen, None)
    used = (result.ended.cpu - result.begun.cpu) / result.seconds
    errors = Counter(error_of(done) for done in result.done if error_of(done))
    yield from (f"{'':<16}{count} x {error}" for error, count in errors.most_common(5))
    yield (
        f"{'':<16}{len(result.done)} actions in {result.seconds:.0f} s; processor {used:.2f} cores; memory "
        f"{result.ended.memory:.0f} MB (most {result.peak:.0f}); {result.ended.sessions} sessions, "
        f"{result.ended.threads} threads, {result.ended.entries} entries in caches\n"
    )


def _parts(done: Sequence[Done]) -> dict[str, list[Done]]:
    """Of the controls and of what is new: where they ran."""
    controls = [one for one in done if one.kind == "control" and one.run]
    return {
        "control in a fragment": [one for one in controls if one.run and one.run.fragment],
        "control of a whole page": [one for one in controls if one.run and not one.run.fragment],
        "new in the studio": [one for one in done if one.kind == "new" and one.page == "studio"],
    }


def _goal(result: Result, kind: Kind) -> int | None:
    return None if result.training else GOALS.get(result.people, {}).get(kind)


def _line(people: str, name: str, done: Sequence[Done], goal: int | None) -> str:
    times = [1000 * one.run.seconds for one in done if one.run]
    errors = sum(1 for one in done if error_of(one))
    start = f"{people:<16}{name:<34}{len(done):>6}"
    if not times:
        return f"{start}{'':>30}{errors:>8}"
    late = at(times, 0.95)
    verdict = f"{f'< {goal} ms':>11}  {'met' if late < goal else 'MISSED'}" if goal else ""
    return f"{start}{statistics.median(times):>7.0f} ms{late:>7.0f} ms{max(times):>7.0f} ms{errors:>8}{verdict}"


def at(times: Sequence[float], share: float) -> float:
    """The time that this share stays at or under."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def error_of(done: Done) -> str:
    """What went wrong: the connection, or an exception on the page."""
    return done.error or (done.run.exceptions[0] if done.run and done.run.exceptions else "")


def slowest(done: Sequence[Done], most: int) -> Iterator[str]:
    """The actions that took longest in the middle, with page and widget."""
    groups: defaultdict[tuple[str, str, str], list[Done]] = defaultdict(list)
    for one in done:
        if one.run:
            groups[one.kind, one.page, one.what].append(one)
    ranked = sorted(groups.items(), key=lambda item: -_middle(item[1]))[:most]
    yield f"{'slowest':<50}{'count':>6}{'p50':>10}{'longest':>10}{'received':>10}  run again"
    for (kind, page, what), ones in ranked:
        runs = [one.run for one in ones if one.run]
        longest, received = 1000 * max(run.seconds for run in runs), statistics.median(run.received for run in runs) / 1000
        name, part = (
            f"{page}: {what}" if kind == "control" else f"{page}: {kind}, {what}",
            "fragment" if runs[0].fragment else "page",
        )
        yield f"{name[:49]:<50}{len(runs):>6}{_middle(ones):>7.0f} ms{longest:>7.0f} ms{received:>7.0f} kB  {part}"


def _middle(done: Sequence[Done]) -> float:
    return 1000 * statistics.median(one.run.seconds for one in done if one.run)
