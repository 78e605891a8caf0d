"""The Alignment studio at the server with as many pairs as it takes: a click on its page, and how soon first results are there.

Without a browser: the page's script run again after a click, with links for every pair and gold for one in twenty.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from streamlit.testing.v1 import AppTest

from app import session
from app.session import studio_reading
from app.session.studio_work import Job, work
from benchmarks.pages import GOAL, REPETITIONS, WARM_UP, rerun
from benchmarks.timing import Figure, alone, run
from model.alignment.formats import GoldLinks
from model.translator import Translator

ROOT = Path(__file__).resolve().parents[1]
NAME = "en-fr"
PAIRS, COMPUTED, WITH_GOLD = session.MAX_PAIRS, 100, 20
ENGLISH, FRENCH = "The old man saw the red car {} .", "Le vieil homme a vu la voiture rouge {} ."
LINKS = frozenset({(0, 0), (1, 1), (2, 2), (3, 4)})
FIRST_GOAL = 1000  # milliseconds


def figures() -> Iterator[Figure]:
    atlas = session.load(NAME)
    assert isinstance(atlas, Translator)
    yield alone(f"first of {PAIRS:,} pairs aligned", [first_results(atlas) for _ in range(REPETITIONS)], FIRST_GOAL)
    study = aligned(atlas)
    app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=120)
    app.query_params["model"], app.query_params["lang"] = NAME, "en"
    app.session_state["atlas_study"] = study
    app.run()
    app.switch_page("views/studio.py")
    numbers = count(1)

    def sort() -> None:
        app.session_state["studio_sort"] = ("confidence", "entropy", "aer")[next(numbers) % 3]

    def search() -> None:
        app.session_state["studio_query"] = f"car {next(numbers)}"

    def open_pair() -> None:
        app.session_state["pair"] = next(numbers)

    def save() -> None:
        study.edits[next(numbers)] = GoldLinks(LINKS, LINKS)
        study.version += 1

    clicks: dict[str, Callable[[], None]] = {
        "list sorted": sort,
        "list searched": search,
        "another pair opened": open_pair,
        "links by hand saved": save,
    }
    for what, click in clicks.items():
        yield alone(f"Studio, {PAIRS:,} pairs, {what}", [after(click, app) for _ in range(WARM_UP + REPETITIONS)][WARM_UP:], GOAL)


def after(click: Callable[[], None], app: AppTest) -> float:
    """Seconds from a click to the last element that the page has written."""
    click()
    return rerun(app)


def brought(pairs: int) -> session.Study:
    """So many pairs, read as from a file."""
    lines = "".join(f"{ENGLISH.format(number)}\t{FRENCH.format(number)}\n" for number in range(pairs))
    upload = session.Upload((session.File("pairs.tsv", lines.encode()),), name="pairs.tsv")
    return studio_reading.read(upload, session.Reading(), NAME)


def first_results(atlas: Translator) -> float:
    """Seconds from the start of the work to the first pairs that a visitor sees."""
    study = brought(COMPUTED)
    start = time.perf_counter()
    work(Job("", study, atlas), lambda: not study.results)
    return time.perf_counter() - start


def aligned(atlas: Translator) -> session.Study:
    """A study that is done: of so many pairs a few were computed, and stand again and again with other numbers."""
    study = brought(COMPUTED)
    work(Job("", study, atlas), lambda: True)
    entries, results, flags = list(study.entries), list(study.forward), list(study.flags)
    for number in range(COMPUTED, PAIRS):
        one = number % COMPUTED
        source = f"{entries[one].source} {number}"
        study.entries.append(replace(entries[one], source=source))
        study.forward.append(replace(results[one], index=number, source=source))
        study.flags.append(flags[one])
    study.gold = [GoldLinks(LINKS, LINKS) if number % WITH_GOLD == 0 else None for number in range(PAIRS)]
    study.kept.clear()
    study.use(study.settings)
    study.state = "done"
    return study


if __name__ == "__main__":
    run(__doc__, figures)
