"""Edit and recompute without a browser: numbers in, numbers out, and links that reopen the edits."""

import re
from html import unescape

import pytest
import torch
from streamlit.testing.v1 import AppTest

from app import session
from app.components.matrices import unpack
from app.text import sentences
from app.views import html
from model.analysis import edited
from model.analysis.cells import from_text
from model.trace import tracing
from tests.app.conftest import said

SENTENCE = "I love you."
CROSS = ("decoder.cross_attention", 1, 0)
LAST = ("decoder.cross_attention", 2, 0)
CAUSAL = ("decoder.self_attention", 1, 0)


def part(text: str, place: tuple[str, int, int]) -> None:
    import streamlit as st

    from app import session
    from app.views.attention_edit import edit_block

    selection = session.begin_run()
    session.select(text=st.session_state.get("other", text))
    selection = session.current()
    trace = session.trace("en-fr", selection.text)
    edit_block(selection, session.load("en-fr"), trace, session.Place(*st.session_state.get("place", place)))


def opened(place: tuple[str, int, int] = CROSS, **parameters: str) -> AppTest:
    app = AppTest.from_function(part, default_timeout=60, args=(SENTENCE, place))
    for name, value in {"model": "en-fr", "lang": "en", "text": SENTENCE, **parameters}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return app


def link(app: AppTest) -> str:
    """The edits in the URL; the test's own parameters are strings, those of a run lists."""
    found = app.query_params.get("edits", "")
    return found if isinstance(found, str) else found[0]


def apply(app: AppTest, kind: str, row: int, column: int, value: float) -> AppTest:
    app.segmented_control(key="edit_kind").set_value(kind).run()
    [rows] = [box for box in app.number_input if box.key.startswith(f"edit_row_{kind}")]
    [columns] = [box for box in app.number_input if box.key.startswith(f"edit_column_{kind}")]
    rows.set_value(row)
    columns.set_value(column)
    app.number_input(key="edit_value").set_value(value)
    app.button(key="edit_apply").click().run()
    assert not app.exception, app.exception
    return app


def test_a_score_set_by_number_changes_all_that_follows() -> None:
    app = apply(opened(), "scores", 1, 2, 8.0)
    assert link(app) == "s_1_2_8"
    atlas, trace = session.load("en-fr"), session.trace("en-fr", SENTENCE)

    def edit(scores: torch.Tensor) -> torch.Tensor:
        made = scores.clone()
        made[0, 0, 1, 2] = 8.0
        return made

    ids, read = (torch.tensor([[token.id for token in tokens]]) for tokens in (trace.source, trace.target))
    with torch.inference_mode(), tracing({"decoder.layers.1.cross_attention.scores": edit}) as recording:
        likely = atlas.model(ids, read)[0].double().log_softmax(-1)
    total = sum(float(row[token.id]) for row, token in zip(likely, trace.produced, strict=True))
    assert html.number(total) in said(app)
    header, values = unpack(app.get("bidi_component")[0].proto.bytes)
    expected = recording["decoder.layers.1.cross_attention.weights"].tensor[0, 0]
    torch.testing.assert_close(torch.tensor(values["weights"]), expected)
    scores = next(entry for entry in header["matrices"] if entry["id"] == "scores")
    assert scores["rows"]["labels"] == [token.label for token in trace.produced]
    assert scores["columns"]["labels"] == [token.label for token in trace.source]
    assert [entry["id"] for entry in header["matrices"] if entry["editable"]] == ["query", "scores", "weights"]
    assert next(entry for entry in header["matrices"] if entry["id"] == "context")["before"] is not None
    assert html.number(float(likely[1].exp().max()), 4) in said(app)


def test_the_line_of_a_cell_says_what_it_holds_now_and_held_before() -> None:
    app = apply(opened(), "scores", 0, 0, 100.0)
    before = html.number(float(session.trace("en-fr", SENTENCE)["decoder.layers.1.cross_attention.scores"].tensor[0, 0, 0, 0]), 4)
    assert re.search(f">100.0000</bdi>; before the edits <bdi[^>]*>{before}<", said(app))


@pytest.mark.parametrize(("lang", "sure"), [("en", False), ("zh", False), ("en", True)])
def test_an_edit_that_changes_a_word_is_found_and_made_or_another_head_is_named(lang: str, sure: bool) -> None:
    app = opened(CROSS if sure else LAST, lang=lang, edits="s_1_2_8")
    app.button(key="edit_find").click().run()
    assert not app.exception, app.exception
    where = "found_elsewhere" if sure else "found"
    assert re.split(r"\{\w+\}", sentences(lang)[f"attention_edit.{where}"])[-1] in unescape(re.sub("<[^>]+>", "", said(app)))
    if sure:
        assert link(app) == ""
    else:
        changed = session.measured(edited.recompute, session.Selection(lang, "en-fr", SENTENCE), *LAST, from_text(link(app)))
        assert changed.words_changed > 0


def test_edits_are_listed_undone_and_reset() -> None:
    app = opened(edits="s_1_2_8~w_0_1_0.5~q_2_3_-4")
    assert link(app) == "s_1_2_8~w_0_1_0.5~q_2_3_-4"
    assert "add up to" in said(app)
    app.button(key="edit_undo").click().run()
    assert link(app) == "s_1_2_8~w_0_1_0.5"
    app.toggle(key="renormalise").set_value(True).run()
    assert ">1.0000</bdi>" in said(app)
    app.button(key="edit_free").click().run()
    assert not app.exception, app.exception
    assert session.translation("en-fr", SENTENCE).text.split("'")[0] in said(app)
    app.button(key="edit_reset").click().run()
    assert "edits" not in app.query_params
    assert sentences("en")["attention_edit.none_yet"] in said(app)


def test_a_masked_cell_stays_masked_and_a_ninth_edit_is_refused() -> None:
    app = apply(opened(CAUSAL), "weights", 0, 2, 0.5)
    assert "stays masked" in said(app)
    assert "edits" not in app.query_params
    app = apply(opened(CAUSAL, edits="~".join(["s_2_1_3"] * 8)), "scores", 2, 0, 1.0)
    assert "There are" in said(app)
    assert link(app) == "~".join(["s_2_1_3"] * 8)


@pytest.mark.parametrize(("written", "key"), [("hello", "unread"), ("s_90_0_1~s_0_0_1", "unfit"), ("s_0_0_1e9", "unread")])
def test_a_link_with_edits_that_do_not_fit_says_so(written: str, key: str) -> None:
    app = opened(edits=written)
    assert sentences("en")[f"attention_edit.{key}"].split("} ")[-1][:40] in said(app)
    assert link(app) == ("s_0_0_1" if key == "unfit" else "")


def test_edits_of_another_sentence_or_head_are_dropped_with_a_message() -> None:
    app = opened(edits="s_1_2_8")
    app.session_state["place"] = CAUSAL
    app.run()
    assert "were taken back" in said(app)
    assert "edits" not in app.query_params
    apply(app, "scores", 1, 0, 2.0)
    app.session_state["other"] = "The red car is here."
    app.query_params["text"] = "The red car is here."
    app.run()
    assert not app.exception, app.exception
    assert "were taken back" in said(app)


def test_chinese_says_the_same() -> None:
    app = opened(lang="zh", edits="w_0_1_0.5")
    assert "改动传了多远" in said(app)
    assert "权重之和现在是" in said(app)
