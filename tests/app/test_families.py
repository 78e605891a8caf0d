"""The page Two families: both models on one text, numbers once more, and what it says where one of them is missing."""

import io
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import model.checkpoint
import model.translator
from app import session
from app.charts import families as charts
from app.components.two_families.payload import unpack
from model.analysis import families
from tests.app.conftest import OpenApp, said
from tests.model import tiny

AWKWARD = "1E1 the 1E1 NaN <b>2024-05-06</b> the end."


@pytest.fixture(scope="module", autouse=True)
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Tiny models of both families in place of the shipped ones."""
    folder = tmp_path_factory.mktemp("models")
    tiny.save_checkpoint(folder / "en-fr")
    tiny.save_language_model(folder / "en-lm")
    for name in ("en-fr", "en-lm"):
        (folder / name / "card.toml").write_text(f'name = "{name}"\n', encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model.checkpoint, "SHIPPED", folder)
        patch.setattr(model.translator, "SHIPPED", folder)
        st.cache_resource.clear()
        yield folder
    st.cache_resource.clear()


def shown(app: AppTest) -> str:
    return unescape(re.sub(r"<[^>]+>", "", said(app)))


def picture(app: AppTest) -> tuple[dict[str, Any], dict[str, tuple[np.ndarray, np.ndarray]]]:
    return unpack(app.get("bidi_component")[0].proto.bytes)


def test_both_models_read_the_text_and_the_picture_holds_their_weights(open_app: OpenApp) -> None:
    app = open_app("families", lang="en", model="en-fr", text=AWKWARD, prompt="open")
    one, two = session.trace("en-fr", AWKWARD), session.trace("en-lm", AWKWARD[:-1])
    writer = session.load("en-lm")
    first = len(writer.given(two)) - 1
    header, strips = picture(app)
    both, alone = header["panels"]
    assert both["strips"][0]["labels"] == [token.label for token in one.source]
    assert both["writes"] == [token.label for token in one.produced]
    assert alone["strips"][0]["labels"] == [token.label for token in two.target]
    assert alone["writes"] == [token.label for token in two.produced[first:]]
    assert alone["strips"][0]["given"] == first + 1
    weights, mask = strips["encoder_decoder.source"]
    np.testing.assert_array_equal(weights[1], one["decoder.layers.1.cross_attention.weights"].tensor[0].numpy())
    assert mask.all()
    weights, mask = strips["encoder_decoder.written"]
    assert [row.tolist() for row in mask] == [[int(key <= row) for key in range(len(one.target))] for row in range(len(mask))]
    weights, mask = strips["decoder_only.sequence"]
    np.testing.assert_array_equal(weights[0], two["decoder.layers.0.self_attention.weights"].tensor[0, :, first:].numpy())
    assert [int(row.sum()) for row in mask] == list(range(first + 1, len(two.target) + 1))
    text = shown(app)
    assert f"over {len(one.source)} source tokens, over {len(one.target)} target tokens" in text
    assert "<b>2024-05-06</b>" in text
    kept = 2 * writer.config.decoder_layers * writer.config.d_model * len(two.target) * 4
    assert f"for all tokens: {kept:,} bytes" in text
    assert f"= {kept:,}".replace(",", "{,}") in app.latex[-1].value


def test_a_prompt_that_asks_for_a_translation(open_app: OpenApp) -> None:
    app = open_app("families", lang="en", model="en-fr", text="The red car is here.")
    text = shown(app)
    assert "en-lm reads The red car" in text
    asked = session.measured_model(families.continued, "en-lm", "The red car is here.", "French")
    for one in asked:
        assert one.prompt in text
    app.session_state["prompt"] = "task"
    app.run()
    assert "en-lm reads Translate into French: The red car is here." in shown(app)
    header, _ = picture(app)
    assert header["panels"][1]["strips"][0]["given"] == len(session.load("en-lm").source_tokens(asked[0].prompt))


def test_a_language_model_that_was_chosen_stands_beside_the_translator_in_chinese(open_app: OpenApp) -> None:
    app = open_app("families", lang="zh", model="en-lm", text="The red car")
    assert not app.exception
    assert "en-fr 读 The red car" in shown(app).replace("\u2060", "")
    header, _ = picture(app)
    assert header["panels"][1]["strips"][0]["given"] == len(session.load("en-lm").source_tokens("The red car"))


def test_costs_are_those_of_the_lengths_in_the_link(open_app: OpenApp) -> None:
    app = open_app("families", lang="en", model="en-fr", text="I love you.", source_length="4000", target_length="100")
    app.number_input(key="source_length").set_value(4000)
    app.number_input(key="target_length").set_value(100)
    app.run()
    text = shown(app)
    assert "L_s = 4000, L_t = 100" in text
    assert "101 M" in text  # 2 x 6 x 512 x 4100 x 4 bytes
    assert "235 M" in text  # 2 x 14 x 512 x 4100 x 4 bytes
    assert text.count("63 M") >= 2  # parameters of the paper's base and of its equal


def test_the_file_holds_both_traces() -> None:
    traces = {"encoder_decoder": session.trace("en-fr", "I love you."), "decoder_only": session.trace("en-lm", "I love")}
    with np.load(io.BytesIO(charts.npz_of(traces, {"model": "en-fr, en-lm"}))) as found:
        path = "decoder.layers.1.self_attention.weights"
        for name, trace in traces.items():
            np.testing.assert_array_equal(found[f"{name}.{path}"], trace[path].tensor[0].numpy())
            assert found[f"{name}.tokens.target"].tolist() == [token.label for token in trace.target]


def test_without_a_language_model_the_page_says_what_to_do(open_app: OpenApp, shipped: Path) -> None:
    hidden = shipped.parent / f"{shipped.name}-away"
    (shipped / "en-lm").rename(hidden)
    try:
        st.cache_resource.clear()
        app = open_app("families", lang="en", model="en-fr", text="I love you.")
        assert "assets/checkpoints/en-lm" in shown(app)
        assert "Which tasks suit which" in shown(app)
    finally:
        hidden.rename(shipped / "en-lm")
        st.cache_resource.clear()
