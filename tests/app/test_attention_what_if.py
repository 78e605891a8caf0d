"""What the variants of attention say of one sentence, recomputed."""

import pytest
import torch
from streamlit.testing.v1 import AppTest

from app import session
from app.components.curves import unpack as unpack_chart
from app.components.matrices import unpack
from app.text import sentences
from app.views import html
from app.views.html import small
from model.analysis import variants
from tests.app.conftest import said

SENTENCE = "1E1 dogs gave the dogs bread."
PLACE = ("decoder.self_attention", 1, 0)
PATH = "decoder.layers.1.self_attention"


def part(attention: str, layer: int, head: int, text: str, lang: str) -> None:
    import streamlit as st

    from app import session
    from app.views.attention_what_if import what_if

    st.query_params.update({"text": text, "model": "en-fr", "lang": lang})
    selection = session.begin_run()
    atlas = session.load("en-fr")
    trace = session.trace("en-fr", text)
    what_if(selection, atlas, trace, session.Place(attention, layer, head))


def opened(attention: str = PLACE[0], layer: int = 1, head: int = 0, lang: str = "en") -> AppTest:
    app = AppTest.from_function(part, default_timeout=60, args=(attention, layer, head, SENTENCE, lang)).run()
    assert not app.exception, app.exception
    return app


def test_without_scaling_the_numbers_are_those_of_the_larger_scores() -> None:
    app = opened()
    trace = session.trace("en-fr", SENTENCE)
    masked = trace[f"{PATH}.masked"].tensor[0, 0].double()
    after = (masked * 48**0.5).softmax(-1)
    maps, chart = app.get("bidi_component")
    header, values = unpack(maps.proto.bytes)
    torch.testing.assert_close(torch.tensor(values["wrong"]), after.float())
    torch.testing.assert_close(torch.tensor(values["right"]), masked.softmax(-1).float())
    right = next(entry for entry in header["matrices"] if entry["id"] == "right")
    assert right["rows"]["labels"] == [token.label for token in trace.produced]
    assert right["columns"]["labels"] == [token.label for token in trace.target]  # keys are tokens read
    assert right["rows"]["labels"].count("chiens") == 2
    assert right["masked"] is not None
    entropies = [-(row[row > 0] * row[row > 0].log2()).sum().item() for row in after]
    bars = unpack_chart(chart.proto.bytes)
    assert bars["labels"] == right["rows"]["labels"]
    assert bars["series"][1]["values"] == pytest.approx(entropies, abs=1e-5)
    assert small(sum(entropies) / len(entropies)) in said(app)
    norms = [float((row.diag() - torch.outer(row, row)).norm()) for row in after]
    assert small(sum(norms) / len(norms)) in said(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_variant_shows_its_map_and_its_damage_and_may_translate(lang: str) -> None:
    app = opened("encoder.self_attention", 0, 1, lang)
    for variant in variants.VARIANTS:
        app.segmented_control(key="attention_variant").set_value(variant).run()
        assert not app.exception, app.exception
        words = sentences(lang)
        assert words[f"attention_what_if.{variant}_idea"].split("**")[0].split("[[")[0].split("`")[0] in said(app)
        measured = session.measured(variants.measure, selection(), "encoder.self_attention", 0, 1, variant)
        assert len(measured.damages) == len(variants.SCOPES)
        for found in measured.damages:
            now, before = (round(score, 4) for score in (found.log_probability, measured.log_probability))
            assert html.number(now, 4) in said(app)
            assert html.number(now - before, 4) in said(app)  # what a reader gets from the printed numbers
            assert now - before == pytest.approx(found.change, abs=1e-4)
    app.button(key="attention_what_if_try").click().run()
    assert not app.exception, app.exception
    assert words["attention_what_if.writes"] in said(app)


def selection() -> session.Selection:
    return session.Selection("en", "en-fr", SENTENCE)
