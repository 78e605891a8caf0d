"""How the studio takes links from a head: the threshold of the model's card, the largest weight, both directions at once."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import session
from app.components.alignment import unpack
from app.session import studio_export, studio_reading
from app.session.studio_work import Job, work
from model.alignment import corpus
from model.alignment.corpus import Settings
from model.alignment.extract import Choice
from model.alignment.formats import GoldLinks
from model.alignment.heads import scoreboard
from model.alignment.metrics import Counts
from model.translator import Translator
from tests.app.conftest import OpenApp, shipping, shown
from tests.model import tiny

PAIRS = b"I love you .\tJe t' aime .\nThe red car is here .\tLa voiture rouge est l\xc3\xa0 .\n"
GOLD = b"0-0 1-2 2-1 3-3\n0-0 1-2 2-1 3-3 4-4 5-5\n"
OWN = Choice(1, 2, "read")
CARD = '[[guided]]\nlayer = 1\nhead = 2\nrow = "read"\n[[guided]]\nlayer = 0\nhead = 1\nrow = "produced"\n'
CHOSEN = """
[alignment]
note = "of a test"
pairs = 2
[alignment.chosen]
layer = 1
head = 2
row = "read"
aer = 0.2
interval = [0.1, 0.3]
threshold = 0.3
aer_threshold = 0.1
[alignment.diagonal]
aer = 0.5
interval = [0.4, 0.6]
"""


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Tiny models of both directions; the card of one names a threshold."""
    folder = tmp_path_factory.mktemp("models")
    for name, card in (("en-fr", CARD + CHOSEN), ("fr-en", CARD)):
        tiny.save_checkpoint(folder / name)
        (folder / name / "card.toml").write_text(f'name = "{name}"\n{card}', encoding="utf-8")
    with shipping(folder):
        yield folder


def models_of(found: session.Study) -> tuple[Translator, Translator]:
    atlas, reverse = session.load(found.model), session.load("fr-en")
    assert isinstance(atlas, Translator)
    assert isinstance(reverse, Translator)
    return atlas, reverse


def study(settings: Settings | None = None) -> session.Study:
    """A study whose work is done, with the settings of a first visit or others."""
    upload = session.Upload((session.File("p.tsv", PAIRS),), session.File("gold.align", GOLD), "p.tsv")
    made = studio_reading.read(upload, session.Reading(), "en-fr")
    made.settings = settings or made.settings
    atlas, reverse = models_of(made)
    assert work(Job("", made, atlas, reverse if made.settings.symmetrize else None), lambda: True)
    made.state = "done"
    return made


def opened(open_app: OpenApp, found: session.Study) -> AppTest:
    app = open_app("studio")
    app.session_state["atlas_study"] = found
    app.run()
    assert not app.exception, app.exception
    return app


def links(found: session.Study) -> list[set[tuple[int, int]]]:
    return [{link[:2] for link in one.links} for one in found.results]


def expected(found: session.Study, settings: Settings) -> list[set[tuple[int, int]]]:
    atlas, reverse = models_of(found)
    pairs = [(entry.source, entry.target) for entry in found.entries]
    aligned = corpus.align(atlas, pairs, settings, reverse if settings.symmetrize else None)
    return [{link[:2] for link in one.links} for one in aligned]


def picture(app: AppTest) -> dict[str, Any]:
    (packed,) = [part.proto.bytes for part in app.get("bidi_component") if b'"diagonal"' in part.proto.bytes]
    return unpack(packed)[0]


def test_the_cards_threshold_holds_everywhere_and_another_head_goes_without(open_app: OpenApp) -> None:
    found = study()
    assert (found.settings.choice, found.settings.threshold) == (OWN, 0.3)
    above = expected(found, found.settings)
    assert links(found) == above != expected(found, replace(found.settings, threshold=None))
    app = opened(open_app, found)
    assert any("weight above 0.3" in one.label for one in app.expander)
    assert "the threshold 0.3, unless you choose" in shown(app)
    assert "Every cell links by the largest weight" in shown(app)
    assert picture(app)["defaults"]["threshold"] == 0.3
    gold = [row for row in found.gold if row]
    counts = Counts.of(above, [row.sure for row in gold], [row.possible for row in gold])
    assert f"{counts.alignment_error_rate:.3f}, precision {counts.precision:.3f}" in shown(app)
    file = studio_export.links_file(found, "pharaoh").decode()
    assert [len(line.split()) for line in file.splitlines()] == [len(row) for row in above]
    assert studio_export.caption_of(found)["links"] == "> 0.3"

    app.selectbox(key="studio_head").select("0").run()
    assert (found.settings.choice, found.settings.threshold) == (replace(OWN, head=0), None)
    assert links(found) == expected(found, found.settings)  # at once
    assert any("largest weight of a row" in one.label for one in app.expander)
    app.selectbox(key="studio_head").select("2").run()
    assert found.settings.threshold == 0.3
    assert links(found) == above
    app.toggle(key="studio_threshold_on").set_value(False).run()
    assert found.settings.threshold is None


def test_both_directions_at_once_are_offered_need_the_models_and_are_named(open_app: OpenApp) -> None:
    app = opened(open_app, study())
    found: session.Study = app.session_state["atlas_study"]
    assert "both models must read the pairs again" in shown(app)
    app.selectbox(key="studio_symmetrize").select("joint").run()
    assert not app.exception, app.exception
    assert (found.settings.symmetrize, found.settings.threshold) == ("joint", None)
    assert found.stale()
    assert not found.links_follow()
    assert not [one for one in app.toggle if one.key == "studio_threshold_on"]  # it has a rule of its own

    done = study(found.settings)
    assert links(done) == expected(done, done.settings)
    app = opened(open_app, done)
    assert any("joint: weights averaged with fr-en" in one.label for one in app.expander)
    shown_ = picture(app)
    assert shown_["defaults"]["second"] == "joint"
    assert shown_["joint"]["heads"] == [[1, 2, "read"], [0, 1, "produced"]]
    caption = studio_export.caption_of(done)
    assert "joint" in caption["symmetrization"]
    assert "0.45" in caption["links"]
    app.selectbox(key="studio_symmetrize").select("intersection").run()
    assert links(done) == expected(done, done.settings)  # from what was computed


def test_what_is_counted_follows_links_by_hand() -> None:
    found = study()
    before = session.head_scores(found)
    assert before is not None
    assert not session.study_table(found).edited.any()
    own = GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))
    found.edits[1] = own
    found.version += 1

    rows = [found.gold[0], own]
    expected_scores, scores = scoreboard(found.forward, rows), session.head_scores(found)
    assert scores is not None
    np.testing.assert_array_equal(scores.counts, expected_scores.counts)
    assert (scores.diagonal, scores.pairs) == (expected_scores.diagonal, 2)
    gold = [row for row in rows if row]
    counts = Counts.of(links(found), [row.sure for row in gold], [row.possible for row in gold])
    assert session.corpus_counts(found) == (counts, 2)
    table = session.study_table(found)
    assert table.numbers["aer"][1] == Counts.of(links(found)[1], own.sure, own.possible).alignment_error_rate
    assert table.edited.tolist() == [False, True]

    found.edits.clear()
    found.version += 1
    again = session.head_scores(found)
    assert again is not None
    np.testing.assert_array_equal(again.counts, before.counts)
    assert not session.study_table(found).edited.any()
