"""From `make run` on a set-up machine to the first page painted: until the server answers, is warm, and Translate is there.

The server starts as `make run` starts it; a browser that is open already goes to it as soon as it answers. Cold: what the server
reads was put out of the page cache before, as far as no other program holds it. The browser has never seen the page.
"""

import os
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.timing import Figure, alone, run
from tests.browser import application

REPETITIONS, GOAL = 3, 6000
PAINTED = """() => [...document.querySelectorAll('*')].some(host =>
    Number(host.shadowRoot?.querySelector('.attention-map')?.dataset.paintedAt) > 0)"""


class Times(NamedTuple):
    """Seconds since the process was started."""

    answered: float
    warm: float
    painted: float


def figures() -> Iterator[Figure]:
    for name in ("warm", "cold"):
        times = []
        for _ in range(REPETITIONS):
            if name == "cold":
                drop_caches()
            times.append(start())
        answered, warm, painted = zip(*times, strict=True)
        yield alone(f"make run until it answers, {name} page cache", answered)
        yield alone(f"make run until it is warm, {name} page cache", warm)
        yield alone(f"make run until Translate is painted, {name} page cache", painted, GOAL)


def start() -> Times:
    """One start, in a browser of its own."""
    warm: list[float] = []
    with tempfile.TemporaryDirectory() as folder, application.launch() as browser:
        visit = application.Visit(browser, "")
        began = time.perf_counter()
        with application.serve(Path(folder, "server.log"), asked="/") as visit.address:
            answered = time.perf_counter() - began

            def wait() -> None:
                with urllib.request.urlopen(f"{visit.address}{application.HEALTH}", timeout=60):
                    warm.append(time.perf_counter() - began)

            waiting = threading.Thread(target=wait)
            waiting.start()
            visit.page.goto(f"{visit.address}/")
            visit.page.wait_for_function(PAINTED, polling=20)
            painted = time.perf_counter() - began
            waiting.join()
            application.settle(visit.page)
            visit.close()
    return Times(answered, warm[0], painted)


def drop_caches() -> None:
    """Ask the system to forget the files that a start reads, so that they are read from the disk again."""
    subprocess.run(["sync"], check=True)
    for folder in (".venv", "app", "model", "assets"):
        for file in (application.ROOT / folder).rglob("*"):
            if file.is_file():
                opened = os.open(file, os.O_RDONLY)
                os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(opened)


if __name__ == "__main__":
    run(__doc__, figures)
