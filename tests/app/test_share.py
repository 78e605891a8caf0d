"""One link reopens what is on the screen, on every page; and no click brings back what another had changed."""

import itertools
import json
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.components.share.payload import LABELS
from app.session import address
from app.session.loading import ROOT
from app.text import LANGUAGES, template
from app.views import linked
from app.views.anatomy import ORDER
from app.views.share_names import EVERYWHERE, PAGES, named
from tests.app.conftest import OpenApp, payloads, shown

SENTENCE = "I love you."
Choose = Callable[[AppTest], object]
WIDGETS = (
    "selectbox", "multiselect", "number_input", "text_input", "text_area", "slider", "select_slider", "toggle",
    "segmented_control", "pills",
)  # fmt: skip


def pick(key: str, value: object) -> Choose:
    return lambda app: app.segmented_control(key=key).set_value(value)


def type_in(key: str, value: float) -> Choose:
    return lambda app: app.number_input(key=key).set_value(value)


def press(key: str) -> Choose:
    return lambda app: app.button(key=key).click()


# Of each page: parameters that a component writes or another page brings, then what is chosen with widgets of the server.
STATES: dict[str, tuple[dict[str, str], list[Choose]]] = {
    "findings": ({}, []),
    "translate": ({"layer": "1", "head": "2", "row": "read", "unit": "words"}, [pick("translate_what_if", "head")]),
    "architecture": ({"layer": "1", "shapes": "symbols"}, [pick("architecture_what_if", "norm")]),
    "tokens": (
        {"cell": "1,2", "pieces": "true"},
        [pick("side", "target"), lambda app: app.text_input(key="find").set_value("lo")],
    ),
    "positions": ({"table.cell": "1,2", "table": "free"}, [type_in("pe_k", 7), pick("pe_layout", "halves")]),
    "rotary": ({"at": "5,2", "pairing": "half"}, [pick("rotary_head", 1), pick("base", "500")]),
    "attention": (
        {"attention": "encoder.self_attention", "layer": "0", "step": "weights", "edits": "s_1_2_-1.5", "renormalise": "true"},
        [pick("edit_kind", "weights"), press("edit_free")],
    ),
    "heads": (
        {"layer": "1", "head": "2", "over": "0,1"},
        [lambda app: app.multiselect(key="off").set_value(app.multiselect(key="off").options[:1]), pick("how", "mean")],
    ),
    "masks": ({"notation": "keep", "mask": "window"}, [pick("masks_layer", 0), pick("scope", "layer"), press("masks_write")]),
    "three_attentions": ({"layer": "1", "head": "2", "row": "read", "encoder": "graph"}, []),
    "layers": ({"add_norm.cell": "1,2"}, [pick("sublayer", "feed_forward"), pick("spot_layer", 0), pick("altered", "linear")]),
    "decoding": (
        {"step": "1", "strategy": "sampling"},
        [type_in("seed", 5), lambda app: app.text_input(key="forced").set_value("Moi aussi.")],
    ),
    "training": (
        {"moments.moment": "3", "moments.head": "1"},
        [lambda app: app.slider(key="smoothing").set_value(0.3), pick("mistake", "perplexity"), type_in("train_steps", 200)],
    ),
    "cost": ({"roof.point": "1", "preset": "base"}, [type_in("n", 64), pick("tie", "none")]),
    "families": ({"word": "2", "of_layer": "1"}, [pick("prompt", "open"), type_in("source_length", 12)]),
    "own": ({"matrix_format": "attention"}, []),
    "studio": ({"pair": "2", "view": "ribbon"}, [press("studio_sample_en-fr-lines")]),
}  # fmt: skip


def held(app: AppTest) -> dict[str, Any]:
    """What every widget of the page holds."""
    return {widget.key: widget.value for kind in WIDGETS for widget in getattr(app, kind) if widget.key}


def query(app: AppTest) -> dict[str, Any]:
    return {name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in app.query_params.items()}


def told(app: AppTest) -> dict[str, Any]:
    """What the share button of the page was told."""
    everything = app._tree.get("bidi_component")  # those of the frame are hidden from other tests
    (found,) = [component.proto.bytes for component in everything if component.proto.component_name == "share"]
    message: dict[str, Any] = json.loads(found)
    return message


def is_named(name: str, known: set[str]) -> bool:
    """As the button finds it: by its whole name, by its end or by its beginning."""
    starts = tuple(one[:-1] for one in known if one.endswith("*"))
    return name in known or ("." in name and f".{name.split('.', 1)[1]}" in known) or (bool(starts) and name.startswith(starts))


@pytest.mark.parametrize("page", ORDER)
def test_a_link_reopens_what_is_on_the_screen(open_app: OpenApp, page: str) -> None:
    parameters, choices = STATES[page]
    sender = open_app(page, model="en-fr", text=SENTENCE, lang="en", **parameters)
    for choose in choices:  # all in one run: none may undo another
        choose(sender)
    assert not sender.run().exception, sender.exception
    link, known = query(sender), {*named(page), "lang"}
    assert parameters.items() <= link.items()
    assert len(link) >= len(parameters) + len(choices) + 3  # each choice stands there: model, text and language too
    assert [name for name in link if not is_named(name, known)] == []

    receiver = open_app(page, shared="1", **link)
    assert held(receiver) == held(sender)
    assert payloads(receiver) == payloads(sender)
    assert shown(receiver) == shown(sender)


def test_every_page_says_what_its_link_holds_and_leaves_out_in_both_languages(open_app: OpenApp) -> None:
    assert set(ORDER) <= set(PAGES)
    for page in ORDER:  # no two are called the same, but an end and what it is the end of
        called = {(name.strip("."), template(one.key)) for name, one in named(page).items()}
        assert len({key for _, key in called}) == len(called), page
    for language, name in LANGUAGES.items():
        message = told(open_app("masks", lang=language, model="en-fr", text=SENTENCE))
        assert (message["language"], set(message["text"])) == (name, set(LABELS))
        assert message["left"]
        assert message["names"]["mask"][1] == "mask"
        assert message["words"]["scope=layer"]
        assert message["place"].keys() == {"attention", "layer", "head"}  # the address lacks it, and the page draws it


def test_the_document_lists_the_same_parameters() -> None:
    sections = re.findall(r"^## (.+)\n([^#]*)", (ROOT / "docs" / "share.md").read_text("utf-8"), re.MULTILINE)
    listed = {title: re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", rows, re.MULTILINE) for title, rows in sections}
    common = dict(listed.pop("On every page"))
    assert all(common[name] == template(called.key) for name, called in EVERYWHERE.items())
    expected = {
        template(f"{page}.title"): [(name, template(called.key).replace("`", "")) for name, called in PAGES[page].items()]
        for page in PAGES
    }
    assert listed == expected


def test_a_second_click_within_a_moment_keeps_what_the_first_chose(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "SOON", 600.0)
    app = open_app("layers", model="en-fr", text=SENTENCE)
    app.segmented_control(key="sublayer").set_value("feed_forward").run()
    del app.query_params["sublayer"]  # as a browser sends it that has not heard of the new address
    app.run()
    assert app.query_params["sublayer"] == "feed_forward"
    assert app.segmented_control(key="sublayer").value == "feed_forward"
    app.query_params["sublayer"] = "cross_attention"  # chosen by the visitor: neither the old value nor the new
    app.run()
    assert app.segmented_control(key="sublayer").value == "cross_attention"


def computing() -> None:
    import streamlit as st

    from app.session import address

    address.settle()
    st.button("choose", key="choose", on_click=lambda: address.put("choice", "new"))
    with address.uncounted():
        for _ in range(5):  # seconds, by the clock of the test
            address.time.monotonic()


def test_time_of_computing_is_no_time_between_two_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "SOON", 5.0)
    clock = itertools.count()  # each look at it is a second later
    monkeypatch.setattr(address, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    app = AppTest.from_function(computing).run()
    app.button(key="choose").click().run()
    del app.query_params["choice"]
    assert "choice" in app.run().query_params


def swapped() -> None:
    import streamlit as st

    from app.views import linked

    st.session_state.setdefault("model", "one")
    linked.show("choice", st.session_state["model"])
    take = linked.fresh("choice", lambda: st.session_state.update(model=st.session_state["choice"]))
    st.selectbox("model", ["one", "two"], key="choice", on_change=take)
    st.button("swap", key="swap", on_click=lambda: st.session_state.update(model="two"))
    st.button("other", key="other")


def test_a_stale_value_of_a_widget_brings_no_old_choice_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linked, "SOON", 60.0)
    app = AppTest.from_function(swapped).run()
    app.button(key="swap").click().run()
    app.selectbox(key="choice").set_value("one")  # what the browser still shows, sent with the next click
    app.button(key="other").click().run()
    assert app.selectbox(key="choice").value == app.session_state["model"] == "two"
    monkeypatch.setattr(linked, "SOON", 0.0)
    app.selectbox(key="choice").set_value("one").run()
    assert app.selectbox(key="choice").value == app.session_state["model"] == "one"
