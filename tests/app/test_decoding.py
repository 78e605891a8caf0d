"""The page Decoding: what it says of an output, of a search, of a branch from a link, and of texts led through."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

import model.checkpoint
import model.translator
from app import session
from app.components import beam_tree, decoding_steps
from app.views.decoding_place import from_link, numbers, possible
from model.beam_search import beam
from tests.app.conftest import OpenApp, said, shown
from tests.model import tiny

AWKWARD = "1E1 the 1E1 NaN <b>2024-05-06</b> car"


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


def picture(app: AppTest) -> dict[str, Any]:
    """The message of the stage, whichever of the two pictures it is."""
    found: dict[str, Any] = json.loads(app.get("bidi_component")[0].proto.bytes)
    return found


def forced(ids: list[int], text: str) -> torch.Tensor:
    """The model's log-probabilities of every row, from its modules alone."""
    atlas = session.load("en-fr")
    source = torch.tensor([[token.id for token in atlas.source_tokens(text)]])
    with torch.inference_mode():
        logits: torch.Tensor = atlas.model(source, torch.tensor([[atlas.config.start, *ids[:-1]]]))[0].double()
    return logits


def test_another_head_is_chosen_and_stands_in_the_link(open_app: OpenApp) -> None:
    app = open_app("decoding", lang="en", model="en-fr", text="the cat", layer="0", head="1")
    box = app.selectbox(key="decoding_head")
    assert box.value.name == "layer 1, head 2"
    atlas = session.load("en-fr")
    box.set_value(type(box.value)(1, 0, box.value.attention)).run()
    assert not app.exception
    assert (app.query_params["layer"], app.query_params["head"]) == ("1", "0")
    row = atlas.trace("the cat")["decoder.layers.1.cross_attention.weights"].tensor[0, 0, 0]
    assert picture(app)["moments"][0]["weights"] == pytest.approx(row.tolist(), abs=1e-5)


def test_a_greedy_output_its_bars_and_a_branch_from_the_link(open_app: OpenApp) -> None:
    app = open_app("decoding", lang="en", model="en-fr", text=AWKWARD)
    assert not app.exception
    header = picture(app)
    own = session.translation("en-fr", AWKWARD)
    assert [moment["taken"] for moment in header["moments"]] == [token.label for token in own.produced]
    assert [moment["read"] for moment in header["moments"]] == ["<s>", *(token.label for token in own.produced[:-1])]
    assert header["keys"] == [token.label for token in session.load("en-fr").source_tokens(AWKWARD)]
    ids = [token.id for token in own.produced]
    logits = forced(ids, AWKWARD)
    for moment, row in zip(header["moments"], logits, strict=True):
        probabilities = row.softmax(-1).topk(20)
        assert [one["probability"] for one in moment["candidates"]] == pytest.approx(probabilities.values.tolist(), abs=1e-6)
        assert moment["others_probability"] == pytest.approx(1 - float(probabilities.values.sum()), abs=1e-6)
    assert f"({len(ids)} tokens, score {own.score:.2f}".replace("-", "\N{MINUS SIGN}") in shown(app)
    assert f"p = \\frac{{e^{{{float(logits[0, ids[0]]):.2f}}}}}" in app.latex[1].value
    other = next(one["id"] for one in header["moments"][1]["candidates"] if one["id"] not in (2, ids[1]))
    app = open_app("decoding", lang="en", model="en-fr", text=AWKWARD, prefix=f"{ids[0]}-{other}")
    header = picture(app)
    assert [moment["id"] for moment in header["moments"]][:2] == [ids[0], other]
    assert [moment["given"] for moment in header["moments"]][:3] == [True, True, False]
    rest = forced([moment["id"] for moment in header["moments"]], AWKWARD).argmax(-1).tolist()[2:]
    assert [moment["id"] for moment in header["moments"]][2:] == rest
    assert "Tokens given at the beginning, 2:" in shown(app)
    assert "not those that were chosen above" in shown(app)  # lens and what-if keep to the text of the first page


def test_a_link_whose_tokens_cannot_begin_an_output_says_so(open_app: OpenApp) -> None:
    app = open_app("decoding", lang="en", model="en-fr", text="the car", prefix="2-5")
    assert not app.exception
    assert "They were left out." in shown(app)
    assert not any(moment["given"] for moment in picture(app)["moments"])
    assert from_link("12-45-8") == (12, 45, 8)
    assert from_link("") == ()
    for wrong in ("x", "1e3", "-5", "5--6", "1-99999999", "\u0664"):
        assert from_link(wrong) is None


def test_what_a_browser_sends_is_checked() -> None:
    atlas = session.load("en-fr")
    assert numbers([1, 2]) == (1, 2)
    for wrong in (None, "12", [1.5], [True], ["1"], {"a": 1}):
        assert numbers(wrong) is None
    assert possible(atlas, [5, 6, atlas.config.end], 3)
    assert not possible(atlas, [5, 6, 7], 2)
    assert not possible(atlas, [-1], 2)
    assert not possible(atlas, [atlas.config.end, 5], 3)


def test_sampling_from_a_link_and_the_same_seed_again(open_app: OpenApp) -> None:
    choices = {"strategy": "sampling", "temperature": "1.5", "top_k": "7", "top_p": "0.9", "seed": "4"}
    app = open_app("decoding", lang="zh", model="en-fr", text="the red car", **choices)
    assert not app.exception
    header = picture(app)
    assert (header["temperature"], header["top_k"], header["top_p"], header["seed"]) == (1.5, 7, 0.9, 4)
    for moment in header["moments"]:
        assert moment["low"] - 1e-9 <= moment["drawn"] < moment["high"] + 1e-9
        assert moment["kept"] <= 7
        assert sum(one["final"] for one in moment["candidates"]) == pytest.approx(1)
        assert {one["cut"] for one in moment["candidates"][7:]} <= {"k"}
    again = picture(open_app("decoding", lang="zh", model="en-fr", text="the red car", **choices))
    assert again == header


def test_a_search_is_the_one_of_beam_and_alpha_orders_it(open_app: OpenApp) -> None:
    app = open_app("decoding", lang="en", model="en-fr", text="the red car", strategy="beam", size="3")
    header = beam_tree.unpack(app.get("bidi_component")[0].proto.bytes)
    atlas = session.load("en-fr")
    source = torch.tensor([[token.id for token in atlas.source_tokens("the red car")]])
    outputs = beam(atlas.model, source, 3)
    for index, output in zip(header["best"], outputs, strict=True):
        assert header["nodes"][index]["total"] == pytest.approx(output.score)
    assert header["size"] == 3
    assert "finished output" in said(app)
    best = header["nodes"][header["best"][0]]
    worth = best["total"] / ((5 + best["depth"]) / 6) ** 0.6
    assert f"worth {worth:.2f}".replace("-", "\N{MINUS SIGN}") in shown(app)
    alone = session.translation("en-fr", "the red car")
    ids = [token.id for token in alone.produced]
    if tuple(ids) == outputs[0].ids:
        assert "Greedy writes the same here." in shown(app)
    else:
        parted = next(at for at, (one, other) in enumerate(zip(ids, outputs[0].ids, strict=False)) if one != other)
        assert re.search(rf"They part at step {parted + 1}[:;]", shown(app))


def test_led_and_alone_cache_and_lens(open_app: OpenApp) -> None:
    wanted = "Je t'aime."
    app = open_app("decoding", lang="en", model="en-fr", text="I love you.", target=wanted, cache="true", encoder_lens="true")
    assert not app.exception
    text = shown(app)
    trace = session.trace("en-fr", "I love you.", wanted)
    mean = -sum(trace.log_probabilities) / len(trace.log_probabilities)
    assert f"{mean:.3f} nats a token" in text
    assert "The likeliest token is the same at every step." in text
    config = session.load("en-fr").config
    steps = len(picture(app)["moments"])
    each = 2 * config.decoder_layers * config.d_model * 4
    assert f"= {each:,} bytes." in text
    assert f"{each * (len(trace.source) + steps):,} after {steps} tokens" in text
    assert "greedy decoding and beam search, as they are here, do without it" in text
    assert "after encoder layer 1" in text


def test_a_language_model_writes_behind_its_prompt(open_app: OpenApp) -> None:
    app = open_app("decoding", lang="en", model="en-lm", text="the red car")
    assert not app.exception
    header = decoding_steps.unpack(app.get("bidi_component")[0].proto.bytes)
    source = session.load("en-lm").source_tokens("the red car")
    assert header["keys"] == [token.label for token in source]
    assert header["first"] == len(source)
    assert header["moments"][0]["read"] == source[-1].label
    weights = session.trace("en-lm", "the red car")[header["path"]].tensor[0, :, len(source) - 1, : len(source)]
    rows = [weights.mean(0).tolist(), *weights.tolist()]
    assert header["moments"][0]["weights"] in [pytest.approx(row, abs=1e-6) for row in rows]
    assert "no encoder" in shown(app)
    assert "the prompt read in both" in shown(app)
    assert "source" not in shown(app).partition("What the key/value cache keeps")[2].partition("Length penalty")[0]
