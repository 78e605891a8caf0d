"""From `make run` on a set-up machine to the first page painted: seconds until the server answers, and until Translate is there.

The server starts as `make run` starts it; a browser that is open already goes to it as soon as it answers. Cold: what the server
reads was put out of the page cache before, as far as no other program holds it; the browser has never seen the page. Warm: as
the start before left it.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Figure, alone, run
from tests.browser import application

REPETITIONS, GOAL = 3, 6000
PAINTED = """() => [...document.querySelectorAll('*')].some(host =>
    Number(host.shadowRoot?.querySelector('.attention-map')?.dataset.paintedAt) > 0)"""


def figures() -> Iterator[Figure]:
    for name, prepare in {"warm": lambda: None, "cold": drop_caches}.items():
        times = []
        for _ in range(REPETITIONS):
            prepare()
            times.append(start())
        answered, painted = zip(*times, strict=True)
        yield alone(f"make run until the server answers, {name} page cache", answered)
        yield alone(f"make run until Translate is painted, {name} page cache", painted, GOAL)


def start() -> tuple[float, float]:
    """Seconds from the start of the process until it answers, and until the first page is painted, in a browser of its own."""
    with tempfile.TemporaryDirectory() as folder, application.launch() as browser:
        visit = application.Visit(browser, "")
        began = time.perf_counter()
        with application.serve(Path(folder, "server.log")) as visit.address:
            answered = time.perf_counter() - began
            visit.page.goto(f"{visit.address}/")
            visit.page.wait_for_function(PAINTED, polling=20)
            painted = time.perf_counter() - began
            application.settle(visit.page)
            visit.close()
    return answered, painted


def drop_caches() -> None:
    """Ask the system to forget the files that a start reads, so that they are read from the disk again."""
    subprocess.run(["sync"], check=True)
    for folder in (application.ROOT / ".venv", application.ROOT / "app", application.ROOT / "model", application.ROOT / "assets"):
        for file in folder.rglob("*"):
            if file.is_file():
                opened = os.open(file, os.O_RDONLY)
                os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(opened)


if __name__ == "__main__":
    run(__doc__, figures)
