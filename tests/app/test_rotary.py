"""What the page of rotary positions says: labels in order, numbers by numpy, both kinds of models, and what is not here."""

import json
import re

import numpy as np
import pytest

from app import session
from app.components.clocks import unpack as unpack_clocks
from app.components.matrices.payload import unpack
from app.text import sentences
from model.analysis import lengths, rotated
from tests.app.conftest import OpenApp, payload, rows_of, shown

TWICE = "The dog saw the dog 1E1 NaN 2024-05-06 $x$ <b>."
PLACE = {"attention": "encoder.self_attention", "layer": "1", "head": "2"}


@pytest.fixture(autouse=True)
def no_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the model is sure takes twenty translations of each model, and is asked in the tests of the page Translate."""
    monkeypatch.setattr(session, "doubts", lambda selection: ())


def by_numpy(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Neighbours as complex numbers, times e^(i p w)."""
    w = 10000 ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    return (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * positions[:, None] * w)  # type: ignore[no-any-return]


def test_the_models_own_vectors_with_their_labels_and_the_score_by_numpy(open_app: OpenApp) -> None:
    app = open_app("rotary", lang="en", model="en-fr-rotary", text=TWICE, **PLACE)
    trace = session.trace("en-fr-rotary", TWICE)
    labels = [token.label for token in trace.source]
    header, query, key, scores = unpack_clocks(payload(app, "rotary_clocks"))
    assert header["labels"] == labels
    assert header["turned"]
    assert "en-fr-rotary turns its vectors" in shown(app)
    places = np.arange(len(labels))
    turned = [by_numpy(vectors.astype(float), places) for vectors in (query, key)]
    ours = (turned[0][:, None] * turned[1][None].conj()).sum(-1).real / np.sqrt(query.shape[1])
    np.testing.assert_allclose(scores, ours, atol=1e-5)
    np.testing.assert_allclose(header["frequencies"], 10000 ** (-np.arange(0, query.shape[1], 2) / query.shape[1]))

    matrices, values = unpack(payload(app, "rotary_matrices"))
    assert {entry["id"]: entry["rows"]["labels"] for entry in matrices["matrices"]}["angles"] == labels
    np.testing.assert_allclose(values["angles"], places[:, None] * np.array(header["frequencies"]), rtol=1e-6)
    np.testing.assert_allclose(values["query"] @ values["rotation"], values["turned"], atol=1e-5)
    row, column = header["at"]
    score = f"{ours[row, column]:.4f}"
    assert any(score in block.value for block in app.latex)

    kept = rows_of(app, "The largest differences over all queries")
    assert [kept[row][1] == "0" for row in range(5)] == [True, False, False, False, False]
    assert all("10⁻" in kept[row][place] for row in range(3) for place in (2, 3))  # relative, and of the same length
    assert not any("10⁻" in kept[row][place] for row in (3, 4) for place in (2, 3))


def test_what_is_missing_is_said(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = session.example_pairs("en-fr")
    assert len(pairs) == len(session.examples("en-fr", "en"))
    monkeypatch.setattr(session, "example_pairs", lambda name: pairs[:2])
    monkeypatch.setattr(session, "models", lambda: ("en-fr", "zh-en"))
    app = open_app("rotary", lang="en", model="en-fr", text="I love you.", maps="true", lengths="true")
    assert shown(app).count("The model en-fr-rotary is not on this server") == 4  # long texts, maps, lengths, what if
    assert "en-fr does not turn its vectors" in shown(app)
    chart = json.loads(payload(app, "rotary_lengths"))
    expected = lengths.loss_by_length(session.load("en-fr"), pairs[:2])
    assert chart["series"][0]["label"] == "en-fr"
    assert chart["series"][0]["values"] == pytest.approx([at.loss for at in expected])
    app = open_app("rotary", lang="en", model="zh-en", text="你好。", maps="true")
    written = session.translation("zh-en", "你好。").text
    assert f"en-fr reads English, so it gets what zh-en wrote: {written}" in shown(app)
    header, _ = unpack(payload(app, "rotary_maps"))
    assert header["matrices"][0]["rows"]["labels"] == [token.label for token in session.trace("en-fr", written).source]
    assert "longest single sentence learned, 44" in payload(app, "rotary_wavelengths").decode()
    assert "Words are cut into pieces" not in shown(app)


def test_a_language_model_has_its_one_attention(open_app: OpenApp) -> None:
    app = open_app("rotary", lang="en", model="en-lm", text="The cat", attention="encoder.self_attention", damage="true")
    trace = session.trace("en-lm", "The cat")
    header, *_ = unpack_clocks(payload(app, "rotary_clocks"))
    assert header["labels"] == [token.label for token in trace.target]
    assert header["causal"]
    assert header["turned"]
    assert [series["label"] for series in json.loads(payload(app, "rotary_wavelengths"))["series"]] == [
        "base 10,000",
        "longest single sentence learned, 32",
    ]
    told = shown(app).replace("\N{WORD JOINER}", "")
    assert "each punctuation mark as one more. Words are cut into pieces" in told
    assert "two to four sentences put together, so longer texts were seen too, but rarely" in told
    assert "en-lm turns its vectors too, but this is measured in a model that translates" in told
    assert "en-lm does not" not in told
    row, column = header["at"]
    assert row != column
    assert all(trace.target[at].text.isalpha() for at in (row, column))
    query, key = (trace.target[at].label for at in (row, column))
    assert f"query of “{query}” at position {row}, key of “{key}” at position {column}" in told


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_shipped_models_everything_opened(open_app: OpenApp, lang: str) -> None:
    app = open_app(
        "rotary", lang=lang, model="en-fr", text="I don't know her name.", damage="true", maps="true", scaling="ntk", factor="4"
    )
    said_ = shown(app)
    for key in ("angles_title", "pairings_title", "long_title", "beside_title", "damage_idea", "try.5"):
        assert re.sub(r"\[\[\w+\|?|\]\]|[*`]", "", sentences(lang)[f"rotary.{key}"])[:8] in said_
    assert sentences(lang)["attention.title"] in app.main.get("page_link")[-1].proto.label
    trace = session.trace("en-fr-rotary", "I don't know her name.")
    rows = rows_of(app, sentences(lang)["rotary.damage_caption"][:6])
    assert rows[0][4] == trace.target_text
    assert rows[0][1] == rows[2][1] == f"{-sum(trace.log_probabilities) / len(trace.produced):.3f}"
    assert float(rows[1][1]) > float(rows[0][1])
    assert "10⁻" in rows[0][3]
    assert "10⁻" not in rows[4][3]
    loss = rotated.loss_in(session.load("en-fr-rotary"), trace, 10000.0, "ntk", 4.0)
    assert f"{loss:.3f}" in said_
    header, _ = unpack(payload(app, "rotary_maps"))
    labels = [token.label for token in trace.source]
    assert all(entry["rows"]["labels"] == labels for entry in header["matrices"])
