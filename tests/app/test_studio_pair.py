"""One pair of the studio: what the page hands to the picture is what the model says, and what comes back is checked."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app import session
from app.components.alignment import identity, unpack
from app.session import studio_opened, studio_reading
from app.session.studio_work import Job, work
from app.text import sentences
from app.views import studio_pair
from model.alignment import corpus, extract
from model.alignment.formats import GoldLinks
from model.translator import Translator
from tests.app.conftest import shipping, shown
from tests.model import tiny

PAIRS = b"the cat saw the cat .\tle chat a vu le chat .\nthe <b> ran\tle $x$ court\nthe dog\tle chien\n"
GOLD = b"0-0 1-1 2p2\n\n\n"
CARD = '[[guided]]\nlayer = 1\nhead = 2\nrow = "read"\n'


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Tiny models of both directions."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("en-fr", "fr-en"):
        tiny.save_checkpoint(folder / name)
        (folder / name / "card.toml").write_text(f'name = "{name}"\n{CARD if name == "en-fr" else ""}', encoding="utf-8")
    with shipping(folder):
        yield folder


def study(gold: bytes | None = GOLD) -> session.Study:
    """A study whose work is done."""
    links = session.File("gold.align", gold) if gold else None
    made = studio_reading.read(session.Upload((session.File("p.tsv", PAIRS),), links, "p.tsv"), session.Reading(), "en-fr")
    atlas = session.load(made.model)
    assert isinstance(atlas, Translator)
    assert work(Job("", made, atlas), lambda: True)
    made.state = "done"
    return made


def opened(found: session.Study, **parameters: str) -> AppTest:
    """The section of the page, for a visitor with this study."""
    app = AppTest.from_function(_section, default_timeout=60)
    for name, value in parameters.items():
        app.query_params[name] = value
    app.session_state["atlas_study"] = found
    app.run()
    assert not app.exception, app.exception
    return app


def _section() -> None:
    from app import session
    from app.views import linked, studio_pair

    session.begin_run()
    found = session.study()
    assert found
    studio_pair.show(found, linked.number("pair", range(found.done), 0))


def header(app: AppTest) -> tuple[dict[str, Any], memoryview]:
    """What the picture is given."""
    (packed,) = [part.proto.bytes for part in app.get("bidi_component") if b'"diagonal"' in part.proto.bytes]
    return unpack(packed)


def test_the_picture_holds_the_maps_of_the_model() -> None:
    found = study()
    said, raw = header(opened(found, lang="en"))
    atlas, reverse = session.load("en-fr"), session.load("fr-en")
    assert isinstance(atlas, Translator)
    assert isinstance(reverse, Translator)
    source, target = found.results[0].source, found.results[0].target
    trace = atlas.trace(source, target)
    sent = np.frombuffer(raw, dtype="<f4")
    maps = extract.with_mean(extract.cross_attention(trace)[:, None])[:, 0].numpy()
    np.testing.assert_allclose(sent[: maps.size], maps.ravel(), rtol=1e-6)
    norms = sent[maps.size : 2 * maps.size].reshape(maps.shape)

    labels = extract.label(trace, found.split_punctuation)
    expected = corpus.weights_of(
        atlas, source, target, corpus.Settings(measure="norms", split_punctuation=found.split_punctuation)
    )
    joined = extract.join_pieces(torch.tensor(norms), labels.read, labels.source, labels.targets, expected.read.shape[-1])
    np.testing.assert_allclose(joined.numpy(), expected.read.numpy(), atol=1e-5)

    back = corpus.weights_of(reverse, target, source, corpus.Settings(split_punctuation=found.split_punctuation))
    chosen = back.at(corpus.default_choice(reverse)).numpy()
    np.testing.assert_allclose(sent[2 * maps.size : 2 * maps.size + chosen.size], chosen.ravel(), atol=1e-6)
    assert said["defaults"] | {"layer": 1, "head": 2, "row": "read", "second": "none"} == said["defaults"]
    assert said["gold"] == {"sure": [[0, 0], [1, 1]], "possible": [[0, 0], [1, 1], [2, 2]], "hand": False}
    assert (said["index"], said["count"], said["caption"]["file"]) == (0, 3, "p.tsv")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_says_where_links_come_from_in_both_languages(lang: str) -> None:
    texts = sentences(lang)
    found = study()
    said = shown(opened(found, lang=lang, pair="1"))
    assert texts["studio_pair.not_certain"] in said
    assert texts["studio_pair.from_study"].split("{head}")[1].split("{row}")[0] in said
    packed, _ = header(opened(found, lang=lang, pair="1"))
    assert packed["target"]["words"][1] == "$x$"
    assert packed["text"]["save_gold"] == texts["alignment.save_gold"]


def test_an_empty_side_is_told_and_leads_on() -> None:
    found = study()
    found.results[2] = replace(found.results[2], target=" ")
    app = opened(found, lang="en", pair="2")
    assert sentences("en")["studio_pair.nothing"] in shown(app)
    app.button("studio_pair_previous").click().run()
    assert not app.exception
    assert header(app)[0]["index"] == 1
    assert app.query_params["pair"] in ("1", ["1"])


def test_a_text_that_is_too_long_is_told_with_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studio_opened, "MAX_TOKENS", 3)
    said = shown(opened(study(), lang="en", pair="0"))
    assert "the model takes 3" in said
    assert "Shorten it" in said


def test_links_made_by_hand_are_kept_and_all_else_is_refused() -> None:
    found = study(gold=None)
    app = opened(found, lang="en", pair="1")
    said, _ = header(app)
    assert said["gold"] is None
    pair = studio_opened._opened(found, 1, found.results[1].source, found.results[1].target)
    assert isinstance(pair, studio_opened.OpenedPair)
    sent = {"pair": said["pair"], "index": 1, "sure": [[0, 0]], "possible": [[0, 0], [2, 1]]}
    assert studio_pair._links(sent, pair) == GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (2, 1)}))
    assert studio_pair._links({**sent, "sure": [[2, 2]], "possible": []}, pair) == GoldLinks(
        frozenset({(2, 2)}), frozenset({(2, 2)})
    )
    wrong: list[object] = [
        None, [], {}, {**sent, "index": 0}, {**sent, "pair": "x"}, {**sent, "pair": identity(1, ("a",), ("b",))},
        {**sent, "sure": None}, {**sent, "sure": [[0, 9]]}, {**sent, "sure": [[-1, 0]]}, {**sent, "possible": [[0]]},
        {**sent, "possible": [[0, True]]}, {**sent, "possible": ["00"]}, {**sent, "possible": [[0, 1.0]]},
    ]  # fmt: skip
    assert [case for case in wrong if studio_pair._links(case, pair) is not None] == []

    app.session_state["atlas_study"].edits[1] = GoldLinks(frozenset(), frozenset({(0, 0)}))
    app.run()
    assert header(app)[0]["gold"] == {"sure": [], "possible": [[0, 0]], "hand": True}
