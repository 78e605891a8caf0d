"""A crowd for an hour: what grows, and whether everything is given back when all have left."""

import asyncio
import time

from benchmarks.load.crowd import Crowd
from benchmarks.load.server import Server
from benchmarks.load.table import at, error_of

AFTER = 150.0  # seconds that a server keeps who left, for those who come back, and some more


async def soak(server: Server, people: int, minutes: float, every: float) -> None:
    """Print a line every minute, and one more after all have left."""
    crowd = Crowd(server, people, every)
    print(
        f"{'minute':>6}{'memory':>10}{'sessions':>10}{'entries':>9}{'threads':>9}{'actions':>9}{'errors':>8}{'p50':>9}{'p95':>9}"
    )
    await _print(crowd, "start")
    crowd_task = asyncio.create_task(crowd.stay())
    end, minute = time.monotonic() + 60 * minutes, 0
    while time.monotonic() < end:
        await asyncio.sleep(min(60.0, max(0.0, end - time.monotonic())))
        minute += 1
        await _print(crowd, str(minute))
    crowd.stop.set()
    await crowd_task
    crowd.done.clear()
    await _print(crowd, "left")
    await asyncio.sleep(AFTER)
    async with asyncio.timeout(60):
        await crowd.come_and_go()  # a server forgets those who left when somebody comes
    await _print(crowd, "after")


async def _print(crowd: Crowd, name: str) -> None:
    used, done = await crowd.usage(), list(crowd.done)
    crowd.done.clear()
    times = [1000 * one.run.seconds for one in done if one.run] or [0.0]
    errors = sum(1 for one in done if error_of(one))
    print(
        f"{name:>6}{used.memory:>7.0f} MB{used.sessions:>10}{used.entries:>9}{used.threads:>9}{len(done):>9}{errors:>8}"
        f"{at(times, 0.5):>6.0f} ms{at(times, 0.95):>6.0f} ms",
        flush=True,
    )
