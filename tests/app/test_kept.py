"""What a server keeps: caches have an end, and what a session brought goes with the session."""

import gc
import re
import weakref
from itertools import product
from pathlib import Path

from streamlit.runtime.caching import get_resource_cache_stats_provider

from app import session
from app.session import computed
from tests.app.conftest import OpenApp
from tests.app.test_studio import bring, study_of

ROOT = Path(__file__).resolve().parents[2]
CACHE = re.compile(r"@st\.cache_\w+\b\(?([^\n]*)\n(?:async )?def (\w+)\(\s*([^)]?)")
WHOLE_SERVER = {"_load", "_apart"}  # asked only for the names of the shipped models, and for one of two paces


def entries(name: str) -> int:
    """How many entries one of our caches holds; of resources Streamlit counts one byte each."""
    families = get_resource_cache_stats_provider().get_stats().values()
    return sum(stat.byte_length for stats in families for stat in stats if stat.cache_name == name)


def test_every_cache_that_is_asked_for_something_has_an_end() -> None:
    endless = []
    for path in (ROOT / "app").rglob("*.py"):
        for options, name, asked in CACHE.findall(path.read_text("utf-8")):
            endless += [name] if asked and "max_entries" not in options else []
    assert set(endless) <= WHOLE_SERVER


def test_a_full_cache_forgets_the_oldest_sentence() -> None:
    words = [word.strip() for word in session.load("toy").tokenizers.source.pieces if word.strip().isalpha()]
    written = [" ".join(three) for three in product(words, repeat=3)][:110]
    for sentence in written:
        computed.trace("toy", sentence, words[0])
    assert entries("app.session.computed._short_trace") <= 96
    assert computed.trace("toy", written[-1], words[0]) is computed.trace("toy", written[-1], words[0])


def test_a_study_goes_with_its_session(open_app: OpenApp) -> None:
    app = bring(open_app("studio", model="en-fr"), ("a.tsv", b"I love you.\tJe t'aime.\nThe cat sleeps.\tLe chat dort.\n"))
    app.button(key="studio_start").click().run()
    left = weakref.ref(study_of(app))
    while left().under_way:  # type: ignore[union-attr]
        app.run()
    app.run()
    del app
    gc.collect()
    assert left() is None
