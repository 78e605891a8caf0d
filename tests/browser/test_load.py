"""Many people at once on the real server, over its WebSocket: they come, act, bring files, leave; nothing of them stays."""

import asyncio
import random
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.load import widgets
from benchmarks.load.actions import CONTROLS, Mix, name_of
from benchmarks.load.sentences import MODELS
from benchmarks.load.server import Server, Usage, counters, entries
from benchmarks.load.visitor import Run, Visitor

PEOPLE, ACTIONS = 8, 3
PAGES = ("heads", "studio", "translate", "masks", "studio", "tokens", "rotary", "decoding")
PAIRS = "I love you.\tJe t'aime.\nThe cat sleeps.\tLe chat dort.\n"


def test_everything_is_given_back_when_all_have_left(server: str) -> None:
    measured = Server.at(server)
    at_once(visit(server, 99, "studio"))  # what is made once for all, as the thread that looks after trainings, is there
    before = measured.usage()
    runs = at_once(crowd(server))
    assert [error for run in runs for error in run.exceptions] == []
    after = wait_for(measured, before)
    assert after.sessions <= before.sessions
    assert after.threads <= before.threads + 2  # the web server's own come and go
    held = entries(counters(server))
    assert held["app.session.computed._short_trace"] <= 96
    assert after.entries < before.entries + 12 * PEOPLE * (ACTIONS + 1)  # a few for every sentence, none for a visitor


def at_once(work: Coroutine[Any, Any, list[Run]]) -> list[Run]:
    """Run it in a thread of its own: that of the tests belongs to the browser's loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


async def crowd(address: str) -> list[Run]:
    """All at once, each on a page of their own; how each of their actions went."""
    visits = await asyncio.gather(*(visit(address, number, page) for number, page in enumerate(PAGES)))
    return [run for runs in visits for run in runs]


async def visit(address: str, number: int, page: str) -> list[Run]:
    """One visitor from coming to leaving: on a page controls and a sentence, in the studio a file that is aligned and left."""
    mix = Mix(number, MODELS[number % len(MODELS)], PAGES)
    async with Visitor(address) as visitor:
        if page == "studio":
            return [await visitor.open(page, model="en-fr", lang="en"), *await bring(visitor)]
        runs = [await visitor.open(name_of(page), model=mix.model, text=mix.next_sentence(), lang="en")]
        mix.chance = Half(number)
        for _ in range(ACTIONS):
            done = await mix.act(visitor)
            assert done.run is not None
            runs.append(done.run)
        return runs


class Half(random.Random):
    """Chance that never goes to another page."""

    def random(self) -> float:
        return super().random() * (CONTROLS + 0.1)


async def bring(visitor: Visitor) -> list[Run]:
    """A file is brought and aligned."""
    box = visitor.named("studio_files")
    assert box is not None
    runs = [await visitor.upload(box, "pairs.tsv", PAIRS.encode())]
    begin = visitor.named("studio_start")
    assert begin is not None, "the file was not read"
    runs.append(await visitor.set(begin, widgets.pressed(begin)))
    async with asyncio.timeout(60):
        while (pairs := visitor.named("studio_pairs")) is None:
            await asyncio.sleep(0.1)
    return [*runs, await visitor.set(pairs, widgets.told(pairs, "ask", {"open": 1}))]


def wait_for(measured: Server, before: Usage) -> Usage:
    """What the server holds once it has noticed that all are gone."""
    for _ in range(100):
        found = measured.usage()
        if found.sessions <= before.sessions and found.threads <= before.threads + 2:
            break
        time.sleep(0.1)
    return found
