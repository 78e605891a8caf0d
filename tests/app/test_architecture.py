"""The page of the architecture: its numbers counted again from the stored weights, its labels in the order of the trace."""

import json
from typing import Any

import pytest
from safetensors.numpy import load_file
from streamlit.testing.v1 import AppTest

import model
from app import session
from app.charts import composition
from model.checkpoint import SHIPPED
from tests.app.conftest import OpenApp, code_of, said

AWKWARD = "1E1 the the NaN 2024-05-06 the."


def diagram(app: AppTest) -> dict[str, Any]:
    """What the picture was given."""
    found: dict[str, Any] = json.loads(app.get("bidi_component")[0].proto.bytes)
    return found


def stored(name: str) -> dict[str, int]:
    """Numbers of every tensor in the stored file, by name."""
    return {path: tensor.size for path, tensor in load_file(SHIPPED / name / "model.safetensors").items()}


@pytest.mark.parametrize(("lang", "words"), [("en", ["Things to try", "Post-norm"]), ("zh", ["试", "后归一化"])])
def test_the_page_has_its_anatomy_and_counts_the_stored_weights(open_app: OpenApp, lang: str, words: list[str]) -> None:
    app = open_app("architecture", lang=lang, model="en-fr", text="I love you.")
    shown = said(app)
    assert all(word in shown for word in words)
    sizes = stored("en-fr")
    boxes = {box["id"]: box for box in diagram(app)["boxes"]}
    for id in ("encoder.layers.1.self_attention", "decoder.layers.2.cross_attention", "decoder.layers.0.feed_forward"):
        assert boxes[id]["parameters"] == sum(size for path, size in sizes.items() if path.startswith(f"{id}."))
    unique = sum(size for path, size in sizes.items() if path.startswith(("encoder.", "decoder."))) + 5000 * 192
    assert diagram(app)["parameters"] == unique
    numbers = app.latex[3].value.replace("{,}", "")
    assert str(unique) in numbers
    assert f"{boxes['encoder.layers.0.self_attention']['parameters']}" in numbers
    assert "def encode" in code_of(app, "model.transformer.EncoderDecoder.encode")


def test_labels_are_the_tokens_in_their_order_even_if_equal_or_like_numbers(open_app: OpenApp) -> None:
    app = open_app("architecture", model="en-fr", text=AWKWARD)
    trace = session.trace("en-fr", AWKWARD)
    tokens = diagram(app)["tokens"]
    assert tokens["encoder:tokens"] == [token.label for token in trace.source]
    assert tokens["decoder:tokens"] == [token.label for token in trace.target]
    assert tokens["decoder:produced"] == [token.label for token in trace.produced]
    assert tokens["encoder:tokens"].count("the") >= 2
    assert tokens["decoder:tokens"][1:] == tokens["decoder:produced"][:-1]


def test_shapes_are_those_of_this_sentence_and_the_layer_is_that_of_the_link(open_app: OpenApp) -> None:
    app = open_app(
        "architecture", model="en-zh", text="I love you.", target="我爱你。", attention="decoder.self_attention", layer="2"
    )
    found = diagram(app)
    trace = model.load("en-zh").trace("I love you.", "我爱你。")
    assert found["layer"] == 2
    checked = 0
    for arrow in found["arrows"]:
        if path := arrow["flow"]["path"]:
            assert tuple(arrow["flow"]["sizes"]) == tuple(trace[path].tensor.shape[1:])
            checked += 1
    assert checked > 30
    memory = [arrow for arrow in found["arrows"] if arrow["role"] == "memory"]
    assert {tuple(arrow["flow"]["sizes"]) for arrow in memory} == {(len(trace.source), 192)}
    assert len(memory) == 3


def test_the_papers_base_model_stands_beside_with_its_published_sum(open_app: OpenApp) -> None:
    app = open_app("architecture", model="en-fr", text="I love you.")
    for number in ("18,944,000", "18,902,016", "25,199,616", "63,045,632", "4,068,096"):
        assert number in said(app)
    app.segmented_control(key="architecture_what_if").set_value("tie").run()
    assert not app.exception
    assert f"{4_068_096 + 2 * 960_000:,}" in said(app)
    assert app.query_params["settings"] in ("tie", ["tie"])
    again = open_app("architecture", model="en-fr", text="I love you.", settings="norm")
    assert again.segmented_control(key="architecture_what_if").value == "norm"


def test_an_empty_sentence_has_no_diagram_but_a_reason(open_app: OpenApp) -> None:
    app = open_app("architecture", model="en-fr", text=" ")
    assert not app.get("bidi_component")
    assert 'role="alert"' in said(app)


def test_the_formula_has_the_norm_where_the_model_has_it() -> None:
    assert r"R_S(x) &= \mathrm{LN}(x + S(x))" in composition.composed(pre_norm=False)
    assert r"R_S(x) &= x + S(\mathrm{LN}(x))" in composition.composed(pre_norm=True)
    symbols, numbers = composition.counted([(2, 2, 100, 50, 3, 4, 0), (3, 1, 100, 50, 2, 4, 4)], 1000, 0, 2002)
    assert symbols.count("+ n_{\\mathrm{LN}}") == 1
    assert 2 * (2 * 100 + 50 + 3 * 4) + 3 * (100 + 50 + 2 * 4) + 4 + 1000 == 2002
    assert numbers.endswith("= 2{,}002")
    assert r"2\,(2 \cdot 100 + 50 + 3 \cdot 4) + 3\,(100 + 50 + 2 \cdot 4) + 4 + 1{,}000" in numbers
