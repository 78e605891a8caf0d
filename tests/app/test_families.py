"""The page Two families: both models on one text, numbers once more, and what it says where one of them is missing."""

import io
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import session
from app.charts import families as charts
from app.components.two_families.payload import unpack
from model.analysis import families
from tests.app.conftest import OpenApp, shown

AWKWARD = "1E1 the 1E1 NaN <b>2024-05-06</b> the end."
pytestmark = pytest.mark.usefixtures("both_families")


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
    assert "en-lm reads “The red car" in text
    asked = session.measured_model(families.continued, "en-lm", "The red car is here.", "French")
    for one in asked:
        assert one.prompt in text
    app.session_state["prompt"] = "task"
    app.run()
    assert "en-lm reads “Translate into French: The red car is here." in shown(app)
    header, _ = picture(app)
    assert header["panels"][1]["strips"][0]["given"] == len(session.load("en-lm").source_tokens(asked[0].prompt))


def test_a_language_model_that_was_chosen_stands_beside_the_translator_in_chinese(open_app: OpenApp) -> None:
    app = open_app("families", lang="zh", model="en-lm", text="The red car")
    assert not app.exception
    assert "en-fr 读“The red car" in shown(app)
    header, _ = picture(app)
    assert header["panels"][1]["strips"][0]["given"] == len(session.load("en-lm").source_tokens("The red car"))


def test_costs_follow_the_sentence_until_lengths_are_chosen(open_app: OpenApp) -> None:
    app = open_app("families", lang="en", model="en-fr", text="I love you.", source_length="4000")
    own = len(session.trace("en-fr", "I love you.").target)
    assert f"L_s = 4000, L_t = {own}" in shown(app)
    assert "source_length" in app.query_params
    app.number_input(key="target_length").set_value(100).run()
    text = shown(app)
    assert "L_s = 4000, L_t = 100" in text
    assert "101 M" in text  # 2 x 6 x 512 x 4100 x 4 bytes
    assert "235 M" in text  # 2 x 14 x 512 x 4100 x 4 bytes
    assert text.count("63 M") >= 2  # parameters of the paper's base and of its equal
    app.number_input(key="source_length").set_value(len(session.trace("en-fr", "I love you.").source)).run()
    app.text_area(key="sentence").set_value("The red car is here. The red car.").run()
    longer = len(session.trace("en-fr", "The red car is here. The red car.").source)
    assert f"L_s = {longer}, L_t = 100" in shown(app)


def test_an_empty_translation_and_spaces_at_the_end_are_taken_as_they_are(open_app: OpenApp) -> None:
    app = open_app("families", lang="en", model="zh-en", text="The red car", target="")
    text = shown(app)
    assert "zh-en reads “The red car” and is led through your translation: “(nothing)”" in text
    assert "en-lm reads “(nothing)” and" in text
    header, _ = picture(app)
    assert header["panels"][1]["strips"][0]["given"] == 1  # the start token
    written = "The red car  "
    app = open_app("families", lang="en", model="en-lm", text=written)
    header, _ = picture(app)
    alone = header["panels"][1]
    assert alone["strips"][0]["given"] == len(session.load("en-lm").source_tokens("The red car"))
    own = [token.label for token in session.translation("en-lm", written).produced]
    assert alone["writes"][: len(own)] == own


def test_nobody_is_asked_to_translate_english_into_english(open_app: OpenApp) -> None:
    app = open_app("families", lang="en", model="zh-en", text="The red car", target="I love you.", prompt="task")
    text = shown(app)
    assert "en-lm reads “Translate into Chinese: I love you.” and" in text
    assert "into English" not in text
    assert "What zh-en was given: The red car" in text


def test_the_file_holds_both_traces() -> None:
    traces = {"encoder_decoder": session.trace("en-fr", "I love you."), "decoder_only": session.trace("en-lm", "I love")}
    with np.load(io.BytesIO(charts.npz_of(traces, {"model": "en-fr, en-lm"}))) as found:
        path = "decoder.layers.1.self_attention.weights"
        for name, trace in traces.items():
            np.testing.assert_array_equal(found[f"{name}.{path}"], trace[path].tensor[0].numpy())
            assert found[f"{name}.tokens.target"].tolist() == [token.label for token in trace.target]


def test_without_a_language_model_the_page_says_what_to_do(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "models", lambda: ("en-fr", "zh-en"))
    app = open_app("families", lang="en", model="en-fr", text="I love you.")
    assert "assets/checkpoints/en-lm" in shown(app)
    assert "Which tasks suit which" in shown(app)
