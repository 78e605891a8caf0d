"""Presenter mode: every page slide by slide, one part at a time and nothing around it; the way over the ends and back."""

from collections.abc import Mapping
from html import unescape
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app import session, text
from app.components.presenter import unpack
from app.session import address
from app.views import presenter
from app.views.anatomy import ORDER
from tests.app.conftest import OpenApp, payload, said, shown

pytestmark = pytest.mark.usefixtures("both_families")
SENTENCE = "The red 12"


@pytest.fixture(autouse=True)
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every address here is a visitor's next link, none an echo of what stood there a moment ago."""
    monkeypatch.setattr(address, "SOON", 0.0)


def bar(app: AppTest) -> Mapping[str, Any]:
    """What the presenter's bar was given."""
    return unpack(payload(app, presenter.KEY))


def to(app: AppTest, slide: int | str) -> Mapping[str, Any]:
    """The slide that a link asks for."""
    app.query_params["slide"] = str(slide)
    app.run()
    assert not app.exception
    return bar(app)


def open_slide(open_app: OpenApp, page: str, slide: int | str = 1, **parameters: str) -> AppTest:
    link = {"model": "en-fr", "lang": "en", "text": SENTENCE} | parameters
    return open_app("" if page == "translate" else page, present="1", slide=str(slide), **link)


@pytest.mark.parametrize("page", ORDER)
def test_every_page_is_shown_part_by_part(open_app: OpenApp, page: str) -> None:
    app = open_slide(open_app, page)
    first = bar(app)
    assert first["page"] == first["title"] == text.text(f"{page}.title")
    assert first["count"] > 2
    assert_is_one_part(app, first)
    for slide in (2, (first["count"] + 3) // 2, first["count"]):
        found = to(app, slide)
        assert found["slide"] == slide
        assert found["count"] == first["count"]
        assert (found["title"] == text.text("presenting.stage")) == (slide == 2)
        assert found["title"] != text.text("page.code")
        assert_is_one_part(app, found)


def assert_is_one_part(app: AppTest, told: Mapping[str, Any]) -> None:
    """Nothing of the frame of a page is around the slide."""
    (heading,) = [element.value for element in app.html if "<h1" in element.value]
    assert str(told["title"]) in unescape(heading)
    assert not app.sidebar.children
    assert not app.title  # the frame's own
    assert 'class="atlas-contents"' not in said(app)
    assert 'id="part-' not in said(app)


@pytest.mark.parametrize(
    ("page", "first", "second"),
    [("tokens", "atlas-tokens placed", "tokens_matrices_source"), ("training", "picture_losses", "picture_row")],
)
def test_a_picture_of_two_parts_has_two_slides(open_app: OpenApp, page: str, first: str, second: str) -> None:
    app = open_slide(open_app, page, 2)
    assert [part in drawn(app) for part in (first, second)] == [True, False]
    assert to(app, 3)["title"] == text.text("presenting.stage")
    assert [part in drawn(app) for part in (first, second)] == [False, True]


@pytest.mark.parametrize("key", ["edit_value", "edit_kind"])  # one stands in no URL, the other does
def test_a_choice_is_there_again_when_its_slide_is(open_app: OpenApp, key: str) -> None:
    app = open_slide(open_app, "attention")
    slide = 1 + bar(app)["parts"].index("part-attention-edit-title")
    to(app, slide)
    chosen = {"edit_value": 2.5, "edit_kind": "weights"}[key]
    (app.number_input if key == "edit_value" else app.segmented_control)(key=key).set_value(chosen).run()
    to(app, slide + 1)
    assert to(app, slide)["slide"] == slide
    assert (app.number_input if key == "edit_value" else app.segmented_control)(key=key).value == chosen


def drawn(app: AppTest) -> str:
    """Everything on the slide: HTML, and components by their keys."""
    return said(app) + " ".join(component.proto.id for component in app.get("bidi_component"))


def test_a_slide_that_no_page_has_becomes_the_nearest(open_app: OpenApp) -> None:
    app = open_slide(open_app, "heads", "last")
    count = bar(app)["count"]
    for asked, slide in {"-1": 1, "0": 1, "999": count, "9" * 40: count, "two": 1, "": 1, "²": 1, "2": 2, "last": count}.items():
        assert to(app, asked)["slide"] == slide
        assert app.query_params["slide"] == str(slide)


def test_stepping_over_an_end_leads_to_the_page_beside(open_app: OpenApp) -> None:
    app = open_slide(open_app, "heads", "last")
    app.session_state[presenter.TURN] = "next"
    app.run()
    assert (bar(app)["page"], bar(app)["slide"]) == (text.text("masks.title"), 1)
    app.switch_page("views/masks.py")  # AppTest itself would go on at Heads
    app.session_state[presenter.TURN] = "previous"
    app.run()
    found = bar(app)
    assert (found["page"], found["slide"]) == (text.text("heads.title"), found["count"])
    assert SENTENCE in app.query_params["text"]


def test_the_button_opens_the_page_and_leaving_returns_to_it_as_it_was(open_app: OpenApp) -> None:
    app = open_app("masks", model="en-fr", lang="zh", text=SENTENCE, layer="1", scope="head")
    app.button(key="present_button").click().run()
    assert app.query_params["present"] == "1"
    text.use("zh")
    assert bar(app)["page"] == text.text("masks.title")
    to(app, 2)
    assert app.segmented_control(key="scope").value == "head"
    app.segmented_control(key="masks_layer").set_value(0).run()
    for name in ("present", "slide"):
        del app.query_params[name]
    app.run()
    assert app.title[0].value == text.text("masks.title")
    assert app.sidebar.children
    assert app.query_params["layer"] == "0"
    assert app.query_params["scope"] == "head"


def test_what_cannot_be_shown_is_said_on_the_slide(open_app: OpenApp) -> None:
    app = open_slide(open_app, "heads", 2, text="")
    assert text.text("limits.empty") in shown(app)
    app = open_slide(open_app, "heads", model="de-fr")
    assert "de-fr" in shown(app)
    assert bar(app)["slide"] == 1


def test_a_model_that_cannot_be_loaded_is_named_on_the_slide(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "damage", lambda name: f"{name}/model.safetensors is cut short.")
    app = open_slide(open_app, "heads", 2)
    assert "model.safetensors is cut short." in shown(app)
    assert bar(app)["count"] > 2
