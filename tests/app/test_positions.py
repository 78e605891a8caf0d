"""What the page of positions says: the table, its waves and products by numpy, the shift's error, models without a table."""

import json
import math
import re
from html import unescape

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import session
from app.components.matrices.payload import unpack
from model.translator import Translator
from tests.app.conftest import OpenApp, payload, shown

TWICE = "The dog saw the dog 1E1 NaN 2024-05-06."


@pytest.fixture(autouse=True)
def no_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the model is sure takes twenty translations of each model, and is asked in the tests of the page Translate."""
    monkeypatch.setattr(session, "doubts", lambda selection: ())


def matrices(app: AppTest, key: str) -> tuple[dict, dict[str, np.ndarray]]:  # type: ignore[type-arg]
    return unpack(payload(app, f"positions_{key}"))


def chart(app: AppTest, key: str) -> dict:  # type: ignore[type-arg]
    return dict(json.loads(payload(app, key)))


def encoded(length: int, width: int, start: int = 0) -> np.ndarray:
    angles = np.arange(start, start + length)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return np.stack((np.sin(angles), np.cos(angles)), axis=-1).reshape(length, width)


def test_this_sentences_table_and_what_the_model_makes_of_it_by_numpy(open_app: OpenApp) -> None:
    app = open_app("positions", text=TWICE, model="en-fr", pe_head="2")
    trace, atlas = session.trace("en-fr", TWICE), session.load("en-fr")
    assert isinstance(atlas, Translator)
    labels, length = [token.label for token in trace.source], len(trace.source)
    table = encoded(length, 192)

    header, values = matrices(app, "table")
    assert header["matrices"][0]["rows"]["labels"] == labels
    np.testing.assert_allclose(values["table"], table, atol=1e-6)
    assert [header["matrices"][0][axis]["extent"] for axis in ("rows", "columns")] == [f"{length} positions", "192 dimensions"]
    assert "row 0 is not zero: it is [0, 1, 0, 1, …]" in header["scenes"][0]["note"]
    assert header["scenes"][0]["cell"] == [2, 0]
    assert any(
        r"PE(2, 0) &= \sin\left(\frac{2}{10000^{0/192}}\right) = \sin(2.0000) = 0.9093" in each.value for each in app.latex
    )

    header, values = matrices(app, "products")
    entering = trace["source.embedding"].tensor[0].double().numpy() + table
    assert header["matrices"][1]["columns"]["labels"] == labels
    np.testing.assert_allclose(values["alone"], table @ table.T, atol=1e-4)
    np.testing.assert_allclose(values["words"], entering @ entering.T, atol=1e-2)
    assert [header["matrices"][0][end] for end in ("low", "top")] == pytest.approx([(table @ table.T).min(), 96])
    labels_by_offset = chart(app, "pe_band")["labels"]
    assert [labels_by_offset[0], labels_by_offset[-1]] == [f"\N{MINUS SIGN}{length - 1}", str(length - 1)]
    spread = max(np.ptp((entering @ entering.T).diagonal(offset)) for offset in range(1 - length, length))
    assert f"{spread:.4f}" in shown(app, " ")

    # positions alone through the matrices of head 3 (index 2, as the link says), by hand
    attention = atlas.model.encoder.layers[0].self_attention
    query, key = (projection.weight.detach().double().numpy()[96:144] for projection in (attention.to_query, attention.to_key))
    _, values = matrices(app, "projected")
    np.testing.assert_allclose(values["projected"], table @ query.T @ key @ table.T / math.sqrt(48), atol=1e-5)
    total = sum(values[name] for name in ("words", "word_position", "position_word", "positions"))
    np.testing.assert_allclose(total, values["scores"], atol=1e-4)
    _, values = matrices(app, "add")
    np.testing.assert_allclose(values["word"] + values["position"], values["query"], atol=1e-4)


def test_a_table_of_ones_own_its_waves_and_its_shift(open_app: OpenApp) -> None:
    link = {"table": "free", "pe_d": "64", "pe_length": "40", "pe_k": "-5", "pe_a": "3", "pe_b": "8"}
    app = open_app("positions", text="I love you.", model="en-fr", **link)
    header, values = matrices(app, "table")
    assert values["table"].shape == (40, 64)
    assert header["scenes"][0]["value"] == 10000
    curves, waves = chart(app, "pe_curves"), chart(app, "pe_waves")
    np.testing.assert_allclose(curves["series"][1]["values"][:40], encoded(40, 64)[:, 8], atol=1e-9)
    assert curves["series"][0]["label"] == "dimension 3 (cos of pair 1)"
    assert waves["series"][0]["values"][0] == pytest.approx(2 * math.pi)
    assert f"{2 * math.pi * 10000 ** (62 / 64):,.1f}" in shown(app, " ")
    assert "64 6 23.5040 23.5594 32" in " ".join(shown(app, " ").split())

    _, values = matrices(app, "shift")
    np.testing.assert_allclose(values["moved"].T, encoded(40, 64, start=-5), atol=1e-6)
    (error,) = re.findall(r"from position −5 on differ by at most (\d) × 10⁻¹(\d|[⁰¹²³⁴⁵⁶⁷⁸⁹])", shown(app, " "))
    assert error[1] in "⁴⁵⁶"
    sine, cosine = math.sin(2 * (w := 10000 ** (-8 / 64))), math.cos(2 * w)  # pair 4 of position 2, moved by -5
    assert any(
        f"{sine:.4f}" in each.value and f"= {math.sin(-3 * w):.4f}" in each.value and f"{cosine:.4f} \\cdot" in each.value
        for each in app.latex
    )
    assert "Pair 4 of position 2, moved by k = −5" in shown(app, " ")
    assert "At distance |k| = 5" in shown(app, " ")
    header, _ = matrices(app, "shift")
    assert [entry["title"] for entry in header["matrices"]] == ["M_−5", "PE(p)", "PE(p − 5)"]

    app.segmented_control(key="pe_layout").set_value("halves").run()
    _, values = matrices(app, "table")
    np.testing.assert_allclose(values["table"][:, :32], encoded(40, 64)[:, 0::2], atol=1e-6)
    app.number_input(key="pe_d").set_value(65).run()
    assert not app.exception
    assert "width 65 cannot be split into pairs" in shown(app, " ")
    assert app.query_params["pe_d"] == "65"

    # the address as it was before, as by the back button: it wins over what the widgets held
    app.query_params["pe_d"] = "32"
    del app.query_params["pe_layout"]
    app.run()
    assert (app.number_input(key="pe_d").value, app.segmented_control(key="pe_layout").value) == (32, "interleaved")
    np.testing.assert_allclose(matrices(app, "table")[1]["table"], encoded(40, 32), atol=1e-6)


def test_without_positions_both_orders_get_one_translation(open_app: OpenApp) -> None:
    app = open_app("positions", text="The dog bites the man.", model="en-fr")
    app.segmented_control(key="order").set_value("reversed").run()
    assert not app.exception
    assert app.query_params["order"] == "reversed"
    (table,) = [
        element.value for element in app.html if "The sentence and the same words in another order</span>" in element.value
    ]
    rows = re.findall(r"<tr>(.*?)</tr>", table)
    cells = [[unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<td.*?</td>", row)] for row in rows[1:]]
    assert [row[0] for row in cells] == ["as it is", "positions of the source taken away", "all positions taken away"]
    assert cells[0][2] == session.translation("en-fr", "The dog bites the man.").text != cells[0][3]
    for row in cells[1:]:
        assert row[1].endswith(("× 10⁻⁶", "× 10⁻⁷"))
        assert row[2] == row[3]
    assert "the largest number in the memory without positions is" in shown(app, " ")
    bars = chart(app, "positions_apart")
    assert bars["labels"] == [token.label for token in session.trace("en-fr", "The dog bites the man.").source]


def test_what_cannot_be_shown_is_told_in_the_pages_frame(open_app: OpenApp) -> None:
    app = open_app("positions", text=" ", model="en-fr")
    assert "type" in shown(app, " ").lower()
    assert not app.get("bidi_component")
    nonsense = {"table": "none", "pe_a": "x", "pe_k": "9" * 30, "pe_pair": "--5", "pe_p": "٣", "pe_head": "9", "order": "?"}
    app = open_app("positions", text="I love you.", model="en-fr", **nonsense)
    assert matrices(app, "table")[1]["table"].shape == (5, 192)


@pytest.mark.usefixtures("pre_norm")
def test_a_rotary_model_has_no_table_and_the_page_says_so(open_app: OpenApp) -> None:
    app = open_app("positions", text="I love you.", target="Je", model="en-fr")
    assert "has no such table" in shown(app, " ")
    assert "it adds nothing to its words and turns queries and keys instead" in shown(app, " ")
    header, values = matrices(app, "table")
    assert header["matrices"][0]["path"] == ""
    np.testing.assert_allclose(values["table"], encoded(*values["table"].shape), atol=1e-6)
    assert list(matrices(app, "products")[1]) == ["alone"]
    assert not [control for control in app.segmented_control if control.key == "pe_head"]
    app.segmented_control(key="order").set_value("reversed").run()
    assert "here its turn of queries and keys is left out" in " ".join(shown(app, " ").split())
    told = re.findall(r"<tr>(.*?)</tr>", next(each.value for each in app.html if "in another order</span></cap" in each.value))
    differences = [unescape(re.findall(r"<td.*?</td>", row)[1]) for row in told[1:]]
    assert ["10⁻" in difference for difference in differences] == [False, True, True]


def test_a_language_model_says_which_model_has_the_experiment(open_app: OpenApp) -> None:
    app = open_app("positions", text="I love you.", model="en-lm")
    assert "has no memory of a source to compare" in shown(app, " ")
    app.button(key="with_positions").click().run()
    assert not app.exception
    assert app.segmented_control(key="order").options
    assert app.query_params["model"] == "en-fr"
