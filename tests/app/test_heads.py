"""Heads, deepened: what its parts say, against numbers computed another way; labels in order, whatever the tokens are."""

from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app import session
from app.components.matrices import unpack
from app.session import computed
from app.text import sentences
from model.analysis import roles
from tests.app.conftest import OpenApp, said

SENTENCE = "the cat 1E1 the NaN the"
ALL = {"several": "true", "norms": "true", "agreement": "true", "importance": "true"}
CROSS = "decoder.layers.2.cross_attention"


@pytest.fixture(scope="module")
def cells() -> Any:
    """All numbers of one table of the page, found by its caption, as rows of text."""

    def cells(app: AppTest, key: str, lang: str = "en", **values: object) -> list[list[str]]:
        caption = sentences(lang)[key].format(**values)
        (table,) = [found for found in pd_tables(app) if found[0] == caption]
        return table[1]

    return cells


def pd_tables(app: AppTest) -> list[tuple[str, list[list[str]]]]:
    """Caption and body rows of every table on the page."""
    found = []
    for element in app.html:
        for part in element.value.split("<table")[1:]:
            caption = plain(part.split("<caption")[1].split(">", 1)[1].split("</caption>")[0])
            body = part.split("<tbody>")[1].split("</tbody>")[0]
            found.append(
                (caption, [[plain(cell.split(">", 1)[1]) for cell in row.split("<td")[1:]] for row in body.split("<tr>")[1:]])
            )
    return found


def plain(markup: str) -> str:
    pieces = [piece.split(">", 1)[-1] for piece in ("x>" + markup).split("<")]
    return unescape("".join(pieces)).strip().replace("\N{MINUS SIGN}", "-").replace("\u2060", "")


def opened(open_app: OpenApp, **parameters: str) -> AppTest:
    app = open_app("heads", text=SENTENCE, model="en-fr", **{"lang": "en", **parameters})
    for name, value in parameters.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return app


def matrices(app: AppTest, name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What the picture of this name was given."""
    for component in app.get("bidi_component"):
        header, values = unpack(component.proto.bytes) if b'"scenes"' in component.proto.bytes else ({}, {})
        if header.get("name") == name:
            return header, values
    raise AssertionError(f"no picture {name}")


def test_nothing_is_measured_before_it_is_asked_for(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(*arguments: object) -> None:
        raise AssertionError("measured on page load")

    monkeypatch.setattr(session, "measured", measured)
    app = open_app("heads", text=SENTENCE, model="en-fr", lang="en")
    assert len(app.get("bidi_component")) == 1
    assert app.multiselect(key="off").value == []


def test_every_part_says_what_a_plain_computation_finds(open_app: OpenApp, cells: Any) -> None:
    off = "decoder.cross_attention.2.1"
    app = opened(open_app, off=off, how="zero", **ALL)
    trace = session.trace("en-fr", SENTENCE)
    atlas = session.load("en-fr")
    labels = [token.label for token in trace.source]
    assert labels.count("the") == 3  # equal tokens, "1" and "NaN" are all labels of their own
    assert {"1", "NaN"} <= set(labels) or {"1", "N"} <= set(labels)

    header, values = matrices(app, "several")
    by_id = {entry["id"]: entry for entry in header["matrices"]}
    assert by_id["query"]["rows"]["labels"] == [token.label for token in trace.produced]
    assert by_id["weights_3"]["columns"]["labels"] == labels
    heads = [values[f"context_{head}"] for head in range(4)]
    np.testing.assert_array_equal(np.concatenate(heads, axis=1), values["concat"])

    path = "decoder.layers.1.cross_attention"  # where the page looks first: the guided head
    weight = atlas.model.get_submodule(path).to_output.weight.numpy()[:, :48].astype(float)
    made = trace[f"{path}.value"].tensor[0, 0].numpy().astype(float) @ weight.T
    right = trace[f"{path}.weights"].tensor[0, 0].numpy() * np.linalg.norm(made, axis=1)
    np.testing.assert_allclose(matrices(app, "norms")[1]["added"], right, atol=1e-4)
    np.testing.assert_allclose(matrices(app, "norms")[1]["rollout"].sum(1), 1, atol=1e-5)

    def silence(weights: torch.Tensor) -> torch.Tensor:
        return torch.cat([weights[:, :1], 0 * weights[:, 1:2], weights[:, 2:]], dim=1)

    without = atlas.trace(SENTENCE, session.translation("en-fr", SENTENCE), {f"{CROSS}.weights": silence})
    before, after = (-np.mean(which.log_probabilities) for which in (trace, without))
    words = plain(said(app))
    assert f"loss of a token {after:.3f}" in words
    grid = cells(app, "heads_off.each_caption")
    assert float(grid[8][2]) == pytest.approx(after - before, abs=6e-4)

    difference = matrices(app, "agreement")[1]["difference"]
    mean = np.mean(
        [trace[f"decoder.layers.{layer}.cross_attention.weights"].tensor[0].numpy() for layer in range(3)], axis=(0, 1)
    )
    correlations = [
        pd.DataFrame([ours, theirs]).T.corr("spearman").iloc[0, 1] for ours, theirs in zip(mean, difference, strict=True)
    ]
    row = next(row for row in cells(app, "heads_norms.caption") if row[0] == sentences("en")["heads_norms.map_weights"])
    assert float(row[1]) == pytest.approx(np.mean(correlations), abs=0.0051)
    assert float(row[2]) == pytest.approx(np.mean(mean.argmax(1) == difference.argmax(1)), abs=0.0051)
    assert {"several", "norms", "agreement", "importance"} <= set(app.query_params)
    assert "decoder.cross_attention.1.0" in app.query_params["look"]  # wherever the picture goes


def test_the_table_of_roles_holds_the_shipped_scores(open_app: OpenApp, cells: Any) -> None:
    app = opened(open_app, roles="encoder.self_attention")
    measured = roles.shipped(session.load("en-fr"))
    assert measured is not None
    scores = measured.scores["encoder.self_attention"]
    name = sentences("en")["attention_map.encoder_self_attention"]
    table = cells(app, "heads_roles.caption", attention=name, sentences=measured.sentences)
    assert len(table) == 2 + 3 * 4
    assert float(table[0][2]) == pytest.approx(scores["previous"].chance, abs=0.0051)
    for line, (layer, head) in zip(table[1:-1], [(layer, head) for layer in range(3) for head in range(4)], strict=True):
        assert line[0] == f"layer {layer + 1}, head {head + 1}"
        assert float(line[2]) == pytest.approx(scores["previous"].heads[layer][head], abs=0.0051)
        least = max(roles.LEAST, roles.FACTOR * scores["previous"].chance)
        assert (float(line[2]) >= least) == (scores["previous"].heads[layer][head] >= least)  # 0.2956 is not shown as 0.30
        does = [
            sentences("en")[f"heads_roles.role_{role.name}"] for role in measured.roles("encoder.self_attention", layer, head)
        ]
        assert line[1] == (", ".join(does) or "–")


def test_heads_are_chosen_by_hand_and_stand_in_the_link(open_app: OpenApp) -> None:
    app = opened(open_app, lang="zh")
    app.multiselect(key="off").select("encoder.self_attention.0.0").run()
    assert not app.exception
    assert app.query_params["off"] == "encoder.self_attention.0.0" or "encoder.self_attention.0.0" in app.query_params["off"]
    names = app.multiselect(key="off").options
    assert names[0] == "编码器 1.1"
    assert len(set(names)) == len(names) == 3 * 3 * 4  # what is typed matches one head, not the same place in three attentions
    before = plain(said(app))
    assert "让改过的模型自己写" in before
    app.segmented_control(key="how").set_value("uniform").run()
    assert "uniform" in app.query_params["how"]
    assert app.multiselect(key="off").value == ["encoder.self_attention.0.0"]
    assert plain(said(app)) != before


def test_measures_of_other_weights_are_not_shown(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roles, "digest", lambda path: "another")
    computed._of_model.clear()
    try:
        app = open_app("heads", text=SENTENCE, model="en-fr", lang="en")
        assert "python -m model.analysis.roles en-fr --pairs FILE" in plain(said(app))
    finally:
        computed._of_model.clear()
