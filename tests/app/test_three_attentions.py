"""The page of the three attentions: what it says, and its numbers once more by NumPy or plain PyTorch."""

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

import model
from app import session
from app.components.attention_graph.payload import pack
from app.text import section, use
from app.views import three_about
from model.analysis import purpose
from model.page.attention import unpack
from model.trace import Trace, tracing
from tests.app.conftest import OpenApp, said, shown
from tests.model import tiny

SENTENCE = "I don't know his name."
AWKWARD = "the 1E1 the NaN 2024-05-06 the <b>x</b>"


def picture(app: AppTest) -> tuple[dict[str, Any], memoryview]:
    (component,) = app.get("bidi_component")
    return unpack(component.proto.bytes)


def number(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def test_the_page_shows_the_numbers_of_the_place_in_its_link(open_app: OpenApp) -> None:
    app = open_app("three_attentions", lang="en", text=SENTENCE, model="en-fr", layer="1", head="2")
    trace = session.trace("en-fr", SENTENCE)
    source, target = len(trace.source), len(trace.target)
    header, _ = picture(app)
    assert header["defaults"] == {"attention": "decoder.cross_attention", "layer": 1, "head": 2}
    weights = trace["encoder.layers.1.self_attention.weights"].tensor[0, 2].double().numpy()
    upper = np.triu_indices(source, 1)
    asymmetry = np.abs(weights - weights.T)[upper].sum() / (weights + weights.T)[upper].sum()
    assert header["extra"]["asymmetry"]["encoder.self_attention"][1][2] == pytest.approx(asymmetry)
    assert f"the asymmetry is {asymmetry:.2f}" in shown(app)
    row, column = np.unravel_index((weights - weights.T).argmax(), weights.shape)
    pair = f"a_{{{row},{column}}} = {weights[row, column]:.4f}, \\qquad a_{{{column},{row}}} = {weights[column, row]:.4f}"
    assert pair in app.latex[3].value
    about = header["extra"]["about"]["decoder.cross_attention"]
    assert about["query"] == f"Q[{target}, 48] = Z[{target}, 192] · W_Q[192, 48]"
    assert about["key"] == f"K[{source}, 48] = M[{source}, 192] · W_K[192, 48]"
    assert [each["memory"]["path"] for each in about["origins"]] == ["encoder.output"] * 3
    assert f"[{source}, {target}] instead of [{target}, {source}], and the result [{source}, 192]" in shown(app)
    assert "give the recorded Q, K and V up to 0." in shown(app)
    assert len(app.get("download_button")) == 1


def test_what_each_is_for_is_measured_when_asked(open_app: OpenApp) -> None:
    """Cross-attention is silenced here by values that are 0 in a copy of the model."""
    app = open_app("three_attentions", lang="en", text=SENTENCE, model="en-fr")
    assert "Without cross-attention" not in shown(app)
    app.segmented_control(key="three_purpose").set_value("sentence").run()
    assert app.query_params["purpose"] == "sentence"
    atlas, trace = session.load("en-fr"), session.trace("en-fr", SENTENCE)
    silent = copy.deepcopy(atlas.model)
    for layer in silent.decoder.layers:
        torch.nn.init.zeros_(layer.cross_attention.to_value.weight)
    with torch.inference_mode():
        source, read = (torch.tensor([[token.id for token in tokens]]) for tokens in (trace.source, trace.target))
        rows = silent(source, read)[0].double().log_softmax(dim=-1)
    loss = -sum(float(rows[at, token.id]) for at, token in enumerate(trace.produced)) / len(trace.produced)
    table = next(html.value for html in app.html if "log P, blind" in html.value)
    cells = re.findall(r"<td class=\"number\">(?:<bdi[^>]*>)?([^<]+)", table)
    assert cells[:5] == [number(-sum(trace.log_probabilities) / len(trace.produced)), number(-loss), *cells[2:5]]
    assert cells[5] == number(loss)
    with tracing(purpose.silenced(atlas, [purpose.CROSS])):
        assert (
            f"Without cross-attention · by our measure likely text, but unfaithful · {atlas.translate(SENTENCE).text}"
            in shown(app)
        )
    with tracing(purpose.silenced(atlas, [purpose.DECODER])):
        assert re.search(f"Without decoder self-attention · [^·]* · {re.escape(atlas.translate(SENTENCE).text)}", shown(app))


def test_all_examples_are_averaged_and_a_link_asks_for_it(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = [session.Example("I love you.", ""), session.Example("Where is he?", "")]
    monkeypatch.setattr(session, "examples", lambda name, language: examples)
    app = open_app("three_attentions", lang="zh", text=SENTENCE, model="en-fr", purpose="examples")
    assert "2 个例句的平均测量值" in shown(app)
    assert "没有交叉注意力 · 按我们的度量：像目标语言，但不忠实 · 2 句写出的都是同一句话" in shown(app)
    atlas, losses = session.load("en-fr"), {}
    for example in examples:  # which text falls most in the eyes of the whole model, read as it stands on the page
        whole = atlas.translate(example.source)
        with tracing(purpose.silenced(atlas, [purpose.ENCODER])):
            changed = atlas.translate(example.source)
        before, after = (np.mean(atlas.trace(example.source, each).log_probabilities) for each in (whole, changed))
        line = f"{example.source} · 完整模型：{whole.text}（{number(before)}） · 现在：{changed.text}（{number(after)}）"
        losses[line] = after - before
    assert f"没有编码器自注意力 · {min(losses, key=losses.__getitem__)}" in shown(app)


def test_labels_stay_in_order_with_duplicates_and_number_like_tokens(open_app: OpenApp) -> None:
    app = open_app("three_attentions", lang="zh", text=AWKWARD, model="en-fr", purpose="nonsense", layer="77", attention="x")
    trace = session.trace("en-fr", AWKWARD)
    tokens = picture(app)[0]["tokens"]
    for side in ("source", "target", "produced"):
        assert tokens[side]["labels"] == [token.label for token in getattr(trace, side)]
    assert len(tokens["source"]["labels"]) > len(set(tokens["source"]["labels"]))
    assert "<b>x" not in said(app)
    assert "有向" in shown(app)


def test_an_empty_sentence_has_no_picture_but_a_reason(open_app: OpenApp) -> None:
    app = open_app("three_attentions", lang="en", text=" ")
    assert not app.get("bidi_component")
    assert "There is no sentence yet" in shown(app)


def packed(trace: Trace, head: int) -> bytes:
    use("en")
    about, labels, maps = three_about.about(session.load("en-fr"), trace), section("attention_graph"), section("attention_map")
    place = {"attention": "encoder.self_attention", "layer": 2, "head": head}
    caption = dict.fromkeys(("model", "source", "target"), "")
    return pack(trace, text=maps, labels=labels, caption=caption, about=about, asymmetry={}, place=place)


def test_a_pre_norm_rotary_model_is_told_as_it_is(tmp_path: Path) -> None:
    tiny.save_checkpoint(tmp_path / "rotary", shared=False, positions="rotary", norm="pre")
    atlas = model.load(tmp_path / "rotary")
    use("en")
    about: dict[str, Any] = three_about.about(atlas, atlas.trace("I love you.", "我爱你。"))
    first, cross = about["encoder.self_attention"]["origins"][0], about["decoder.cross_attention"]["origins"][1]
    assert first["query"] == {
        "meaning": "X: source embeddings, what layer 1 reads, normed first (pre-norm)",
        "path": "encoder.layers.0.residual.0.normed",
    }
    assert first["memory"]["meaning"].endswith("R turns Q and K by their positions.")
    heads = {name: about["encoder.self_attention"][name] for name in ("query", "key", "value")}
    assert [made.partition(" = ")[2].startswith("R(X[") for made in heads.values()] == [True, True, False]
    assert not any("R(" in about["decoder.cross_attention"][name] for name in heads)
    assert " + b_Q" not in heads["query"]
    assert cross["query"]["path"] == "decoder.layers.1.residual.1.normed"
    assert "after the final norm" in cross["memory"]["meaning"]
    assert "turned" not in cross["memory"]["meaning"]


def test_long_sentences_send_the_chosen_heads_exactly() -> None:
    trace = model.load("en-fr").trace("the " * 130, "la " * 20)
    message = packed(trace, 1)
    header, _ = unpack(message)
    assert all(max(entry["stored"]) <= 128 for entry in header["attentions"])
    at = -(-(4 + int.from_bytes(message[:4], "little")) // 4) * 4 + header["bytes"] + -header["bytes"] % 4
    exact, raw = unpack(message[at:])
    assert (exact["attention"], exact["layer"], exact["head"]) == ("encoder.self_attention", 2, 1)
    weights = np.frombuffer(raw, "<f4", exact["queries"] * exact["keys"]).reshape(exact["queries"], -1)
    np.testing.assert_array_equal(weights, trace["encoder.layers.2.self_attention.weights"].tensor[0, 1].numpy())
