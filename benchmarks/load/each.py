"""Every control of every page, used a few times by one visitor who is alone: what each costs the server."""

import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.load import widgets
from benchmarks.load.actions import STUDIO, Mix, align, name_of
from benchmarks.load.server import Server
from benchmarks.load.visitor import Run, VisitError, Visitor
from benchmarks.load.widgets import Widget

TIMES = 4  # how often each is used, after one that computes what is kept afterwards


@dataclass(frozen=True)
class Cost:
    """Of one run: `cpu` is processor time of the server in ms (to some 3 ms), `milliseconds` what the visitor waits."""

    page: str
    what: str
    fragment: bool
    first: float
    milliseconds: float
    cpu: float
    kilobytes: float
    errors: tuple[str, ...]


async def each(server: Server, model: str, pages: Sequence[str]) -> list[Cost]:
    """All pages, the dearest action first."""
    found: list[Cost] = []
    mix = Mix(0, model, tuple(pages))
    for page in pages:
        async with Visitor(server.address) as visitor:
            first = await visitor.open(name_of(page), model=model, text=mix.next_sentence(), lang="en")
            if page == STUDIO:
                await align(visitor)
            found.append(await _repeated(server, page, "(whole page, nothing changed)", first, visitor, None, mix.chance))
            if box := visitor.named("sentence"):
                runs, before = [], server.usage().cpu
                for _ in range(TIMES):
                    runs.append(await visitor.set(box, widgets.typed(box, mix.next_sentence())))
                found.append(_cost(page, "(new sentence)", runs[0], runs, server.usage().cpu - before))
            for id in [one.id for one in visitor.widgets.values() if not one.around]:
                try:
                    if (cost := await _used(server, page, id, visitor, mix)) is not None:
                        found.append(cost)
                except VisitError as error:
                    found.append(Cost(page, Widget(id, "", None).key, False, 0.0, 0.0, 0.0, 0.0, (str(error),)))
    return sorted(found, key=lambda cost: -cost.cpu)


async def _used(server: Server, page: str, id: str, visitor: Visitor, mix: Mix) -> Cost | None:
    """A widget that is on the page still, set to something else again and again."""
    chosen = [one for one in mix.found(visitor) if one[0].id == id]
    if not chosen:
        return None
    first = await visitor.set(*chosen[0])
    return await _repeated(server, page, chosen[0][0].key, first, visitor, id, mix.chance, mix)


async def _repeated(
    server: Server,
    page: str,
    what: str,
    first: Run,
    visitor: Visitor,
    id: str | None,
    chance: random.Random,
    mix: Mix | None = None,
) -> Cost:
    runs, before = [], server.usage().cpu
    for _ in range(TIMES):
        if id is None or mix is None:
            runs.append(await visitor.again())
        elif chosen := [one for one in mix.found(visitor) if one[0].id == id]:
            runs.append(await visitor.set(*chosen[0]))
    return _cost(page, what, first, runs or [first], server.usage().cpu - before)


def _cost(page: str, what: str, first: Run, runs: Sequence[Run], cpu: float) -> Cost:
    return Cost(
        page,
        what,
        runs[0].fragment,
        1000 * first.seconds,
        1000 * statistics.median(run.seconds for run in runs),
        1000 * cpu / len(runs),
        statistics.median(run.received for run in runs) / 1000,
        tuple(error for run in (first, *runs) for error in run.exceptions[:1]),
    )


def table(costs: Sequence[Cost]) -> Iterator[str]:
    """The costs as lines."""
    yield f"{'page: control':<50}{'runs again':>11}{'processor':>11}{'p50':>9}{'first':>9}{'received':>10}  errors"
    for cost in costs:
        part = "fragment" if cost.fragment else "page"
        yield (
            f"{f'{cost.page}: {cost.what}'[:49]:<50}{part:>11}{cost.cpu:>8.0f} ms{cost.milliseconds:>6.0f} ms"
            f"{cost.first:>6.0f} ms{cost.kilobytes:>7.0f} kB  {'; '.join(cost.errors[:1])}"
        ).rstrip()
