"""Attention from a file on the page Your own model: brought, told, drawn, taken away; every session by itself."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import session, text
from app.session import limits, matrices
from app.views import own_formats
from model.adapters.matrices import MESSAGES, read
from model.adapters.matrices.samples import SAMPLES
from model.page.attention import unpack
from tests.app.conftest import OpenApp, payload, shown

SOFT = "0.8,0.1,0.1 0.1,0.8,0.1 0.1,0.1,0.8"
MARIAN = f"a b ||| x y ||| {SOFT}\nnothing of the kind\nla <b>rouge</b> ||| the $red$ ||| {SOFT}\n".encode()


def bring(app: AppTest, name: str, content: bytes) -> AppTest:
    (box,) = [box for box in app.file_uploader if str(box.key).startswith("own_matrices_file")]
    box.set_value([(name, content, "text/plain")]).run()
    assert not app.exception, app.exception
    return app


def picture(app: AppTest) -> dict[str, object]:
    header, _ = unpack(payload(app, "attention_map_own"))
    return header


def test_a_file_is_told_drawn_and_taken_away(open_app: OpenApp) -> None:
    app = bring(open_app("own", lang="en"), "soft <i>.txt", MARIAN)
    words = shown(app)
    assert "soft <i>.txt: Marian." in words
    assert "Sentences: 2." in words
    assert "Cross-attention: 1 layer, 1 head, 3 × 3." in words
    assert "can be named by what they read or by what they produced" in words
    assert "Left out: line 2: “nothing of the kind” has no soft alignment" in words
    header = picture(app)
    assert header["steps"] is False  # there is no model to step through
    assert header["tokens"]["produced"]["labels"] == ["x", "y", "</s>"]  # type: ignore[index]
    assert header["caption"] == {"model": "soft <i>.txt", "source": "a b", "target": "x y"}

    app.selectbox(key="sentence_of_file").select("1").run()
    assert app.query_params["sentence_of_file"] in ("1", ["1"])
    assert picture(app)["tokens"]["source"]["labels"] == ["la", "<b>rouge</b>", "</s>"]  # type: ignore[index]
    assert list(app.selectbox(key="sentence_of_file").options) == ["1. a b", "3. la <b>rouge</b>"]

    app.button(key="own_away").click().run()
    assert "sentence_of_file" not in app.query_params
    assert session_of(app) is None
    assert not app.get("bidi_component")


def session_of(app: AppTest) -> matrices.BroughtMatrices | None:
    if "atlas_matrices" not in app.session_state:
        return None
    found: matrices.BroughtMatrices = app.session_state["atlas_matrices"]
    return found


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", "This cannot be read. rank.json: attention has 1 axes, shape (2,)"),
        ("zh", "无法读取。 rank.json：attention 有 1 个轴，形状 (2,)"),
    ],
)
def test_what_cannot_be_read_says_which_axis(open_app: OpenApp, lang: str, words: str) -> None:
    app = bring(open_app("own", lang=lang), "rank.json", json.dumps({"tokens": ["a", "b"], "attention": [0.7, 0.3]}).encode())
    assert words in shown(app)
    assert session_of(app) is None
    app.text_area(key="own_matrices_paste").set_value('{"tokens": ["a", "b"], "attention": [[0.7, 0.3], [0.2, 0.9]]}').run()
    app.button(key="own_matrices_read").click().run()
    assert picture(app)["tokens"]["source"]["labels"] == ["a", "b"]  # type: ignore[index]
    assert words not in shown(app)
    assert ("1 of 2 rows do not sum to 1" if lang == "en" else "2 行中有 1 行之和不是 1") in shown(app)


def test_every_message_is_there_in_both_languages() -> None:
    for language in text.LANGUAGES:
        keys = text.sentences(language)
        assert not [code for code in (*MESSAGES, "full") if f"own_matrices.problem_{code}" not in keys]
        kinds = ("atlas", "sockeye-json", "npz", "json", "table", *SAMPLES)
        assert not [kind for kind in kinds if f"own_matrices.format_{kind.replace('-', '_')}" not in keys]


def test_samples_are_real_and_open_here(open_app: OpenApp) -> None:
    app = open_app("own", lang="en", matrix_format="marian")
    app.session_state["own_formats"] = True
    app.run()
    assert "marian-decoder --alignment soft" in shown(app)
    app.button(key="own_sample_open").click().run()
    header = picture(app)
    trace = session.trace("en-fr", own_formats.SENTENCE)
    assert header["tokens"]["produced"]["labels"] == [token.label for token in trace.produced]  # type: ignore[index]
    right = trace["decoder.layers.2.cross_attention.weights"].tensor[0].mean(0)
    found = session_of(app)
    assert found is not None
    np.testing.assert_allclose(
        found.matrices.traces[0]["decoder.layers.0.cross_attention.weights"].tensor[0, 0], right, atol=1e-4
    )
    assert read(own_formats.sample("atlas", "en-fr", trace)).format == "atlas"


def test_limits_of_the_server_hold(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_UPLOAD", 400)
    app = bring(open_app("own", lang="en"), "big.txt", MARIAN * 9)
    assert "at most 400 are read" in shown(app)
    monkeypatch.setattr(matrices, "MOST_HELD", 50)
    bring(app, "small.txt", MARIAN)
    assert "The matrices of all visitors together fill what this server keeps for them (50 bytes)" in shown(app)
    assert session_of(app) is None


def test_presenter_mode_shows_the_picture_alone_and_a_link_no_file(open_app: OpenApp) -> None:
    app = bring(open_app("own", lang="en"), "soft.txt", MARIAN)
    app.query_params["present"] = "1"
    app.query_params["slide"] = "3"
    app.run()
    assert not app.file_uploader
    assert picture(app)["tokens"]["source"]["labels"] == ["a", "b", "</s>"]  # type: ignore[index]
    other = open_app("own", lang="en", sentence_of_file="1")
    assert "This link was made where a file was open, which it does not carry" in shown(other)
    assert not other.get("bidi_component")
