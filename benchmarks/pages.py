"""The server's part of every page at L = 64: the script run again for a cached trace, as a widget's change asks for it.

Without a browser: from the change to the last element that the page has written. What the browser adds is in `heads`.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from streamlit.testing.v1 import AppTest

import model
from app.views.anatomy import ORDER
from benchmarks.heads import NAME, SOURCE, TARGET, text_of
from benchmarks.timing import Figure, alone, run

ROOT = Path(__file__).resolve().parents[1]
LENGTH, GOAL = 64, 100
REPETITIONS, WARM_UP = 15, 3


def figures() -> Iterator[Figure]:
    atlas = model.load(NAME, device="cpu")
    source = text_of(LENGTH - 1, SOURCE, lambda text: len(atlas.tokenizers.source.encode(text)))
    target = text_of(LENGTH - 1, TARGET, lambda text: len(atlas.tokenizers.target.encode(text)))
    for page in ORDER:
        app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
        for name, value in {"model": NAME, "lang": "en", "text": source, "target": target}.items():
            app.query_params[name] = value
        app.run()
        app.switch_page(f"views/{page}.py")
        yield alone(f"Server, the page {page}, L = {LENGTH}", [rerun(app) for _ in range(WARM_UP + REPETITIONS)][WARM_UP:], GOAL)


def rerun(app: AppTest) -> float:
    """Seconds for one run of the page's script."""
    start = time.perf_counter()
    app.run()
    seconds = time.perf_counter() - start
    if app.exception:
        raise RuntimeError(app.exception[0].message)
    return seconds


if __name__ == "__main__":
    run(__doc__, figures)
