"""The studio's part on heads: the best one named and taken, other aligners beside it, the pairs on which two differ opened."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import session
from app.components.matrices import unpack
from app.session import studio_reading
from app.session.studio_work import Job, work
from model.alignment import statistical
from model.alignment.baseline import diagonal
from model.alignment.heads import scoreboard
from model.alignment.metrics import Counts
from model.translator import Translator
from tests.app.conftest import OpenApp, payload, said, shipping, shown
from tests.model import tiny

PAIRS = (
    b"I love you .\tJe t' aime .\nThe red car is here .\tLa voiture rouge est l\xc3\xa0 .\n"
    b"She read 3 books .\tElle a lu 3 livres .\nWhere is the caf\xc3\xa9 ?\tO\xc3\xb9 est le caf\xc3\xa9 ?\n"
)
GOLD = b"0-0 1-2 2-1 3-3\n0-0 1-2 2-1 3-3 4-4 5-5\n0-0 1-1 1-2 2-3 3-4 4-5\n0-0 1-1 2-2 3-3 4-4\n"
CARD = """name = "en-fr"
[[guided]]
layer = 1
head = 2
row = "read"
"""


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Tiny models: two from English to French, and one back."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("en-fr", "en-fr-rotary", "fr-en"):
        tiny.save_checkpoint(folder / name)
        (folder / name / "card.toml").write_text(CARD if name == "en-fr" else f'name = "{name}"\n', encoding="utf-8")
    with shipping(folder):
        yield folder


def study(gold: bytes | None) -> session.Study:
    """A study whose work is done."""
    links = session.File("gold.align", gold) if gold else None
    made = studio_reading.read(
        session.Upload((session.File("pairs.tsv", PAIRS),), links, "pairs.tsv"), session.Reading(), "en-fr"
    )
    atlas = session.load(made.model)
    assert isinstance(atlas, Translator)
    assert work(Job("", made, atlas), lambda: True)
    made.state = "done"
    return made


def opened(open_app: OpenApp, found: session.Study, **parameters: str) -> AppTest:
    app = open_app("studio", **parameters)
    app.session_state["atlas_study"] = found
    app.run()
    assert not app.exception, app.exception
    return app


def ended(app: AppTest) -> AppTest:
    """Run until nothing is under way."""
    for _ in range(100):
        _, there = app.session_state["atlas_rivals"]
        app.run()
        assert not app.exception, app.exception
        if not any(rival.under_way for rival in there.values()):
            return app.run()
    raise AssertionError("the work does not end")


def test_with_gold_the_best_head_is_named_and_can_be_taken(open_app: OpenApp) -> None:
    found = study(GOLD)
    app = opened(open_app, found)
    board = scoreboard(found.forward, found.gold)
    expected = board.best
    assert expected is not None
    page = shown(app)
    assert "over all pairs that have gold links (4)" in page
    header, values = unpack(payload(app, "studio_heads_matrix"))
    (drawn,) = header["matrices"]
    assert drawn["numbers"], "each rate stands in its cell"
    assert drawn["rows"]["labels"][0] == "layer 1, produced"
    assert drawn["columns"]["labels"][-1] == "mean"
    assert values["scores"].min() == pytest.approx(board.rate(expected), abs=1e-6)
    assert header["text"]["hint"] == "Point at a cell for its exact value; the frame is the best one."
    assert "because its AER of" in page
    assert "Guided, by the model's card: layer 2, head 3, read row" in page
    app.button(key="studio_heads_use").click().run()
    assert found.settings.choice == expected
    assert app.session_state["atlas_kept_heads"] == {"en-fr": expected}, "kept for whatever is brought next"
    assert "Links come from" in shown(app)
    assert not [button for button in app.button if button.key == "studio_heads_use"]


def test_the_diagonal_stands_beside_the_model_with_precision_recall_and_interval(open_app: OpenApp) -> None:
    found = study(GOLD)
    words = shown(opened(open_app, found), between=" ")
    assert "Precision Recall AER 95 % interval of AER" in " ".join(words.split())
    straight = [diagonal(len(pair.source_words), len(pair.target_words)) for pair in found.forward]
    gold = [row for row in found.gold if row]
    counts = Counts.of(straight, [row.sure for row in gold], [row.possible for row in gold])
    row = rf"diagonal\s+{counts.precision:.2f}\s+{counts.recall:.2f}\s+{counts.alignment_error_rate:.3f}\s+[\d.]+ – [\d.]+\s+4\s"
    assert re.search(row, words)


def test_a_statistical_aligner_learns_on_a_button_and_says_how_little_it_had(open_app: OpenApp) -> None:
    app = opened(open_app, study(GOLD))
    app.selectbox(key="studio_aligner").select("hmm").run()
    app.button(key="studio_learn").click().run()
    page = shown(ended(app))
    assert "HMM, forward" in page
    assert "HMM, both joined" in page
    assert "learned from few pairs (4)" in page


def test_without_a_library_the_page_says_what_to_install(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistical, "available", lambda: ())
    page = shown(opened(open_app, study(GOLD)))
    assert "pip install -r requirements-align.txt" in page


def test_without_gold_the_other_direction_is_offered_and_heads_are_scored_by_agreement(open_app: OpenApp) -> None:
    app = opened(open_app, study(None))
    assert "There are no gold links" in shown(app)
    app.button(key="studio_heads_reverse").click().run()
    page = shown(ended(app))
    assert "the two directions are compared (pairs: 4)" in page
    assert "because its two directions agree most" in page
    assert "fr-en (the other way)" in page


def test_two_models_are_compared_and_the_pair_on_which_they_differ_most_opens(open_app: OpenApp) -> None:
    app = opened(open_app, study(None))
    app.button(key="studio_other").click().run()
    ended(app)
    app.selectbox(key="studio_side_second").select("diagonal").run()
    assert "and diagonal agree at" in shown(app)
    first = next(button for button in app.button if (button.key or "").startswith("studio_open_"))
    number = int(first.label.rpartition(" ")[2])
    first.click().run()
    assert app.query_params.get("pair", "0") == str(number - 1)


def test_a_file_of_links_is_compared_and_its_name_is_text(open_app: OpenApp) -> None:
    app = opened(open_app, study(GOLD))
    name = "<b>_links_</b>.align"
    app.file_uploader(key="studio_rival_file").upload(name, b"0-0\n0-0 1-2\n99-0\n0-0\n", "text/plain").run()
    html = said(app)
    assert "&lt;b&gt;_links_&lt;/b&gt;.align" in html
    assert "<b>_links_</b>" not in html
    assert "Problems in" in html


def test_it_speaks_chinese(open_app: OpenApp) -> None:
    page = shown(opened(open_app, study(GOLD), lang="zh"))
    assert "第 2 层第 3 头，读入行" in page
    assert "对角线" in page
