"""A crowd of visitors: they arrive one after the other, do something every few seconds, and leave."""

import asyncio
import contextlib
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from websockets.exceptions import WebSocketException

from app.views.anatomy import ORDER
from benchmarks.load import widgets
from benchmarks.load.actions import Done, Mix, name_of
from benchmarks.load.sentences import MODELS
from benchmarks.load.server import Server, Usage
from benchmarks.load.visitor import PATIENCE, VisitError, Visitor

ARRIVAL = 0.25  # seconds between two who arrive
ALONE = 0.25  # seconds between actions of somebody who is alone: nobody else is there to be waited for


@dataclass
class Result:
    """What a crowd met with; `begun` and `ended` are the server at the beginning and the end of `seconds`."""

    people: int
    training: bool
    seconds: float
    begun: Usage
    ended: Usage
    peak: float
    done: list[Done] = field(default_factory=list)


class Crowd:
    """So many people on these pages (None: all of them), each of whom acts about `every` seconds."""

    def __init__(
        self, server: Server, people: int, every: float, pages: Sequence[str] | None = None, *, training: bool = False
    ) -> None:
        self.server, self.people, self.training = server, people, training
        self.every = min(every, ALONE) if people == 1 else every
        self.pages = tuple(pages or ORDER)
        self.done: list[Done] = []
        self.stop = asyncio.Event()
        self.arrived = 0

    async def measure(self, seconds: float, settle: float = 0.0) -> Result:
        """Let all arrive and act for `settle` seconds that do not count, then measure for so long, then let all leave."""
        async with asyncio.TaskGroup() as group:
            for number in range(self.people):
                group.create_task(self._visit(number))
            if self.training:
                group.create_task(self._train())
            latest = time.perf_counter() + PATIENCE + self.people
            while self.arrived < self.people and time.perf_counter() < latest:
                await asyncio.sleep(0.1)
            await asyncio.sleep(settle)
            begun, start = await self.usage(), time.perf_counter()
            arrivals, self.done = self.done, []
            peak = begun.memory
            while time.perf_counter() - start < seconds:
                await asyncio.sleep(min(5.0, seconds))
                peak = max(peak, (await self.usage()).memory)
            ended, took = await self.usage(), time.perf_counter() - start
            self.stop.set()
        found = [done for done in arrivals if done.kind == "arrival"] + self.done
        return Result(self.people, self.training, took, begun, ended, peak, found)

    async def stay(self) -> None:
        """Be there until `stop` is set."""
        async with asyncio.TaskGroup() as group:
            for number in range(self.people):
                group.create_task(self._visit(number))

    async def come_and_go(self) -> None:
        """One visitor who looks at the first page and leaves."""
        async with Visitor(self.server.address) as visitor:
            await visitor.open()

    async def usage(self) -> Usage:
        return await asyncio.to_thread(self.server.usage)

    async def _visit(self, number: int) -> None:
        """One visitor from coming to leaving; who loses the connection comes again."""
        chance = random.Random(number)
        await self._wait(number * ARRIVAL)
        mix = Mix(number, MODELS[number % len(MODELS)], self.pages)
        page, counted = self.pages[number % len(self.pages)], False
        while not self.stop.is_set():
            try:
                async with Visitor(self.server.address) as visitor:
                    run = await visitor.open(name_of(page), model=mix.model, text=mix.next_sentence(), lang="en")
                    self.done.append(Done("arrival", page, "opened", run))
                    self.arrived, counted = self.arrived + (not counted), True
                    await self._go_on(visitor, mix, chance)
            except (VisitError, OSError, WebSocketException) as error:
                self.done.append(Done("arrival", page, "lost", None, f"{type(error).__name__}: {error}"))
                await self._wait(1.0)

    async def _go_on(self, visitor: Visitor, mix: Mix, chance: random.Random) -> None:
        due = time.perf_counter() + chance.uniform(0, self.every)
        while not self.stop.is_set():
            await self._wait(due - time.perf_counter())
            if self.stop.is_set():
                return
            self.done.append(await mix.act(visitor))
            due = max(due, time.perf_counter() - self.every) + chance.uniform(0.5 * self.every, 1.5 * self.every)

    async def _train(self) -> None:
        """Somebody who trains a model and watches."""
        async with Visitor(self.server.address) as visitor:
            await visitor.open("training", model="en-fr", lang="en")
            begin = visitor.named("training_begin")
            if begin is None:
                raise VisitError("no training can be begun here")
            await visitor.set(begin, widgets.pressed(begin))
            await self.stop.wait()

    async def _wait(self, seconds: float) -> None:
        """So long, or until all leave."""
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stop.wait(), seconds)
