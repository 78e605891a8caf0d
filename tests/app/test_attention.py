"""Attention, step by step: what the page says of one head, and what its picture is given."""

import math
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import model
from app import session, text
from app.charts import formulas
from app.components.matrices import pack, unpack
from app.text import sentences
from app.views.attention_scenes import labels, matrices_of, scenes_of
from app.views.attention_tables import first_step
from model.analysis import steps as analysis
from tests.app.conftest import OpenApp, code_of, said, shown
from tests.model import tiny

SENTENCE = "The cat sees the other cat 1E1 times."
PLACE = {"attention": "decoder.self_attention", "layer": "1", "head": "3"}


def picture(app: AppTest) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the matrices of the picture of the steps."""
    packed = [unpack(component.proto.bytes) for component in app.get("bidi_component") if b'"w_output"' in component.proto.bytes]
    assert len(packed) == 1  # other pictures of the page show no W_O
    return packed[0]


def matrix(app: AppTest, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(entry for entry in picture(app)[0]["matrices"] if entry["id"] == name)
    return found


def tables(app: AppTest) -> list[list[list[str]]]:
    """All tables of the page, by rows, by cells."""
    found = re.findall(r"<table.*?</table>", said(app), flags=re.DOTALL)
    return [
        [
            [unescape(re.sub("<[^>]+>", "", cell)) for cell in re.findall(r"<t[dh]\b.*?</t[dh]>", row, flags=re.DOTALL)]
            for row in re.findall(r"<tr>.*?</tr>", table, flags=re.DOTALL)
        ]
        for table in found
    ]


def column(table: list[list[str]], title: str) -> dict[str, str]:
    """A column of a table by the operation of each row."""
    head = table[0]
    name = head.index("operation")
    return {row[name]: row[head.index(title)] for row in table[1:]}


def test_scenes_are_the_steps_and_their_numbers_the_traces(open_app: OpenApp) -> None:
    app = open_app("attention", text=SENTENCE, model="en-fr", **PLACE)
    header, values = picture(app)
    assert [scene["id"] for scene in header["scenes"]] == [
        "query", "key", "value", "split", "score", "scale", "mask", "softmax", "sum", "concat", "output",
    ]  # fmt: skip
    trace = session.trace("en-fr", SENTENCE)
    path = "decoder.layers.1.self_attention"
    for name, recorded in (
        ("query", "query"),
        ("key", "key"),
        ("value", "value"),
        ("weights", "weights"),
        ("context", "context"),
    ):
        assert np.array_equal(values[name], trace[f"{path}.{recorded}"].tensor[0, 3].numpy())
    # One cell of each product, by numpy alone, from what the picture was given.
    product = values["x"].astype(np.float64) @ values["w_query"].astype(np.float64)
    assert np.allclose(product, values["query"], atol=1e-4)
    dot = values["query"].astype(np.float64) @ values["key_t"].astype(np.float64)
    assert np.allclose(dot, values["products"], atol=1e-3)
    assert np.allclose(dot / math.sqrt(48), values["scores"], atol=1e-4)
    assert np.allclose(values["weights"].astype(np.float64) @ values["value"], values["context"], atol=1e-5)
    assert np.allclose(values["concat"].astype(np.float64) @ values["w_output"], values["output"], atol=1e-4)
    assert np.allclose(values["concat"][:, 3 * 48 :], values["context"])
    assert matrix(app, "masked")["masked"] is not None
    length = len(trace.target)
    assert f"{length * (length - 1) // 2} of {length**2} cells are masked" in shown(app)


def test_labels_are_the_traces_tokens_in_order(open_app: OpenApp) -> None:
    app = open_app("attention", text=SENTENCE, model="en-fr", **PLACE)
    trace = session.trace("en-fr", SENTENCE)
    produced, read = ([token.label for token in tokens] for tokens in (trace.produced, trace.target))
    assert matrix(app, "weights")["rows"]["labels"] == produced
    assert matrix(app, "weights")["columns"]["labels"] == read
    assert matrix(app, "memory")["rows"]["labels"] == read
    app.segmented_control(key="row").set_value("read").run()
    assert matrix(app, "weights")["rows"]["labels"] == read
    assert sentences("en")["attention_map.convention_read"] in shown(app)
    app.segmented_control(key="place_attention").set_value("encoder.self_attention").run()
    source = [token.label for token in trace.source]
    assert len(source) > len(set(source))  # "cat" stands there twice, and stays two rows
    assert matrix(app, "scores")["rows"]["labels"] == matrix(app, "scores")["columns"]["labels"] == source
    assert "".join(source).count("1") == 2  # pieces of "1E1" stay text
    assert not app.exception


def test_sentences_name_a_row_by_what_the_switch_says(open_app: OpenApp) -> None:
    for row in ("produced", "read"):
        app = open_app("attention", text=SENTENCE, model="en-fr", row=row, **PLACE)
        trace = session.trace("en-fr", SENTENCE)
        number, column = formulas.largest_weight(trace, "decoder.layers.1.self_attention.weights", 3)
        tokens = trace.produced if row == "produced" else trace.target
        assert trace.produced[number].label != trace.target[number].label
        said_here = shown(app)
        assert f"row {number}, {tokens[number].label}, and key {column}, {trace.target[column].label}." in said_here
        assert f"In the row {tokens[number].label} the largest weight" in said_here
        assert said_here.count(sentences("en")[f"attention_map.convention_{row}"]) == 3
        parts = [element.proto.bytes for element in app.get("bidi_component")]
        headers = [unpack(part)[0] for part in parts if b'"scenes"' in part]
        weights = [entry for header in headers for entry in header["matrices"] if entry["id"] in ("weights", "right")]
        assert [entry["rows"]["labels"] for entry in weights] == [[token.label for token in tokens]] * 3


def test_the_place_is_chosen_followed_and_checked(open_app: OpenApp) -> None:
    app = open_app("attention", text=SENTENCE, model="en-fr", attention="nonsense", layer="99", head="9" * 5000)
    assert [app.segmented_control(key=f"place_{name}").value for name in ("attention", "layer", "head")] == [
        "decoder.cross_attention", 2, 0,
    ]  # fmt: skip
    app.segmented_control(key="place_head").set_value(2).run()
    app.segmented_control(key="place_layer").set_value(0).run()
    assert not app.exception
    assert {name: app.query_params[name] for name in ("attention", "layer", "head")} == {
        "attention": "decoder.cross_attention", "layer": "0", "head": "2",
    }  # fmt: skip
    assert picture(app)[0]["place"] == {"attention": "decoder.cross_attention", "layer": 0, "head": 2}
    assert "Layer 1, head 3 of cross-attention" in shown(app)
    assert "decoder.layers.0.residual.1.input" in shown(app)
    app.switch_page("views/translate.py").run()
    app.switch_page("views/attention.py").run()
    assert app.segmented_control(key="place_head").value == 2


def test_both_tables_show_this_model_and_the_papers(open_app: OpenApp) -> None:
    app = open_app("attention", text=SENTENCE, model="en-fr", attention="decoder.cross_attention", layer="0", head="1")
    trace = session.trace("en-fr", SENTENCE)
    target, source = len(trace.target), len(trace.source)
    flow, dot = (next(table for table in tables(app) if title in table[0]) for title in ("expression", "formula"))
    here, paper = column(flow, "this model, this sentence"), column(flow, "paper base")
    assert here["split Q"] == f"[4, {target}, 48]"
    assert paper["split Q"] == f"[8, {target}, 64]"
    assert here["scores"] == f"[4, {target}, {source}]"
    assert paper["keys"] == f"[{source}, 512]"
    assert paper["feed-forward, inside"] == f"[{target}, 2,048]"
    assert column(flow, "symbol")["scores"] == "[h, L_t, L_s]"
    assert [row[0] for row in dot[1:]] == ["5", "6", "7", "8", "9"]
    assert "divided by 6.93 in this model and by 8.00 in paper base" in column(dot, "meaning")["scale"]
    app.segmented_control(key="sizes").set_value("big").run()
    flow = next(table for table in tables(app) if "expression" in table[0])
    assert column(flow, "paper big")["split Q"] == f"[16, {target}, 64]"
    assert column(flow, "paper big")["feed-forward, inside"] == f"[{target}, 4,096]"


def test_own_sizes_are_shown_and_impossible_ones_explained(open_app: OpenApp) -> None:
    app = open_app("attention", text=SENTENCE, model="en-fr")
    app.segmented_control(key="sizes").set_value("own").run()
    app.number_input(key="own_L").set_value(7)
    app.number_input(key="own_d_model").set_value(100).run()
    assert "d_model=100 cannot be split evenly into num_heads=8; choose a multiple of 8" in shown(app)
    app.number_input(key="own_h").set_value(5).run()
    assert not app.exception
    assert "cannot be split" not in shown(app)
    flow = next(table for table in tables(app) if "expression" in table[0])
    assert column(flow, "your own")["scores"] == "[5, 7, 7]"
    assert column(flow, "your own")["split V"] == "[5, 7, 20]"
    app.segmented_control(key="sizes").set_value("model").run()
    assert "divided by 6.93 in this model: the spread" in shown(app)


def test_the_questions_are_answered_with_this_heads_numbers(open_app: OpenApp) -> None:
    app = open_app("attention", text=SENTENCE, model="en-fr", **PLACE)
    trace, path = session.trace("en-fr", SENTENCE), "decoder.layers.1.self_attention"
    query, key = (trace[f"{path}.{name}"].tensor[0, 3].double().numpy() for name in ("query", "key"))
    allowed = np.tril(np.ones((len(query), len(key)), dtype=bool))
    dots = (query @ key.T)[allowed]
    spread = f"spread by {dots.std():.2f} before the division and by {(dots / math.sqrt(48)).std():.2f} after it"
    said_here = shown(app)
    assert spread in said_here
    length = len(trace.target)
    assert f"[L, d_model] = [{length}, 192]" in said_here
    assert f"[h, L, d_k] = [4, {length}, 48]" in said_here
    flat = np.arange(length * 192).reshape(length, 192)
    position, first = divmod(int(flat.reshape(4, length, 48)[0, 1, 0]), 192)
    assert (
        f"row 1 of head 1 should be position 1, but would be the columns of head {first // 48 + 1} at position {position}"
        in said_here
    )
    assert f"the start token {trace.target[0].label}, which is given" in said_here
    assert f"produces {trace.produced[0].label}" in said_here
    reading = next(table for table in tables(app) if table[0] == ["row", "reads", "produces"])
    assert reading[1] == ["0", "<s>", trace.produced[0].label]
    assert reading[2] == ["1", trace.produced[0].label, trace.produced[1].label]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_is_whole_in_both_languages(open_app: OpenApp, lang: str) -> None:
    app = open_app("attention", lang=lang, text=SENTENCE, model="en-zh")
    found = sentences(lang)
    for key in ("questions", "ask_scale", "ask_mask", "ask_split", "ask_first", "flow_title", "dot_title"):
        assert found[f"attention.{key}"] in shown(app)
    assert found["page.next"].format(page=found["heads.title"]) in [link.value for link in app.page_link]
    assert "def forward" in code_of(app, "model.attention.MultiHeadAttention.forward")
    assert "def scaled_products" in code_of(app, "model.attention.scaled_products")
    assert len(app.get("download_button")) == 1


def test_a_text_of_one_token_and_none_at_all(open_app: OpenApp) -> None:
    app = open_app("attention", text="a", model="en-fr", target="", attention="decoder.self_attention", layer="0", head="0")
    assert picture(app)[1]["weights"].shape == (1, 1)
    found = sentences("en")
    assert found["attention.answer_mask_single"] in shown(app)
    assert (
        next(scene for scene in picture(app)[0]["scenes"] if scene["id"] == "mask")["note"] == found["attention.note_mask_single"]
    )
    assert "would give the same here" in shown(app)
    app.text_area(key="sentence").set_value("   ").run()
    assert "There is no sentence yet." in shown(app)
    assert not app.get("bidi_component")


def test_a_rotary_model_turns_queries_and_keys_before_the_score(tmp_path: Path) -> None:
    tiny.save_checkpoint(tmp_path, shared=False, positions="rotary", norm="pre", attention_bias=True)
    atlas = model.load(tmp_path)
    trace = atlas.trace("I love you.", "我爱你。")
    text.use("en")
    steps = analysis.head_steps(atlas, trace, "decoder.self_attention", 1, 3)
    scenes = {scene.id: scene for scene in scenes_of(steps, analysis.scaling(steps, 1), 1, 0)}
    assert list(scenes)[3:7] == ["split", "rotate_query", "rotate_key", "score"]
    assert list(scenes).index("score") + 1 == first_step(steps)
    assert scenes["score"].items == ["query_rotated", "×", "key_t", "=", "products"]
    assert scenes["query"].items == ["x", "×", "w_query", "+", "b_query", "=", "query"]
    shown = matrices_of(steps, labels(trace, steps, "read"))
    message = pack(list(scenes.values()), shown, text=text.section("matrices"), caption={})
    values = unpack(message)[1]
    assert np.allclose(values["x"] @ values["w_query"] + values["b_query"], values["query"], atol=1e-5)
    assert np.allclose(values["query_rotated"] @ values["key_t"], values["products"], atol=1e-5)
    assert [token.label for token in trace.target] == list(
        next(entry for entry in shown if entry.id == "scores").rows.labels or ()
    )
