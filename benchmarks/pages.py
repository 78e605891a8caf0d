"""The server's part of every page at L = 64: a page switch on a cached trace, and one typical control of the page.

One visitor alone on a running server, over its WebSocket, without a browser: from the click to the last element that is sent.
What the browser adds is in `heads`; what all controls of all pages cost prints `python -m benchmarks.load --each en-fr`.
"""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import model
from app.views.anatomy import ORDER
from benchmarks.heads import NAME, SOURCE, TARGET, text_of
from benchmarks.load.actions import Mix, name_of
from benchmarks.load.visitor import Run, Visitor
from benchmarks.timing import Figure, alone, run
from tests.browser import application

LENGTH, PAGE_GOAL, CONTROL_GOAL = 64, 100, 60
REPETITIONS, WARM_UP = 9, 2
CONTROLS = ("button_group", "selectbox", "slider", "number_input", "checkbox")  # not what opens a part that is measured then


def figures() -> Iterator[Figure]:
    atlas = model.load(NAME, device="cpu")
    source = text_of(LENGTH - 1, SOURCE, lambda text: len(atlas.tokenizers.source.encode(text)))
    target = text_of(LENGTH - 1, TARGET, lambda text: len(atlas.tokenizers.target.encode(text)))
    with tempfile.TemporaryDirectory() as folder, application.serve(Path(folder, "server.log")) as address:
        for page in ORDER:
            yield from asyncio.run(of_page(address, page, source, target))


async def of_page(address: str, page: str, source: str, target: str) -> list[Figure]:
    """Another page and back to this one, again and again; then its first control, set to something else again and again."""
    mix = Mix(0, NAME, ORDER)
    async with Visitor(address) as visitor:
        await visitor.open(name_of(page), model=NAME, lang="en", text=source, target=target)
        switched = []
        for _ in range(WARM_UP + REPETITIONS):
            await visitor.follow(name_of("cost" if page == "translate" else "translate"))
            switched.append(await visitor.follow(name_of(page)))
        found = [figure(f"Server, to the page {page}, L = {LENGTH}", switched, PAGE_GOAL)]
        control = next((one.id for one, _ in mix.found(visitor) if one.kind in CONTROLS), "")
        used, key, part = [], "", ""
        for _ in range(WARM_UP + REPETITIONS):
            for widget, state in [one for one in mix.found(visitor) if one[0].id == control]:
                key, part = widget.key, "a part" if widget.fragment else "the page"
                used.append(await visitor.set(widget, state))
        return found + ([figure(f"Server, {page}: {key} ({part} again)", used, CONTROL_GOAL)] if used else [])


def figure(what: str, runs: list[Run], goal: float) -> Figure:
    if errors := [error for run in runs for error in run.exceptions]:
        raise RuntimeError(errors[0])
    return alone(what, [run.seconds for run in runs][WARM_UP:], goal)


if __name__ == "__main__":
    run(__doc__, figures)
