"""The page Your own model: how one comes, is loaded, opened on other pages and put away; what is said where it cannot be."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app import session, text
from app.bucket import Bucket
from app.server_profile import Rate
from app.session import bringing, brought, listed, rates
from app.session.loading import ROOT
from app.session.shelf import shelf
from app.views import needs, own_fits
from app.views.anatomy import ORDER
from model.adapters.hugging_face import HuggingFaceTranslator
from tests.app.conftest import OpenApp, payload, rows_of, said, shown
from tests.app.listing import make, served, settle, write

TEXT = "I love you."
KINDS = {"marian": "encoder-decoder", "bert": "encoder-only"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("own")
    make(made, *KINDS)
    return made


@pytest.fixture
def on_list(both_families: Path, folder: Path) -> Iterator[Path]:
    """A server with a tiny Marian and a tiny BERT on its list, both shipped families beside them."""
    with served(folder / "models.toml"):
        yield folder


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The weights of a model are read only after a sign, so that its page is seen while it waits."""
    sign, load = threading.Event(), bringing.hugging_face.load

    def wait(*arguments: Any, **named: Any) -> Any:
        named["progress"]("folder", 1, 4)
        assert sign.wait(30)
        return load(*arguments, **named)

    monkeypatch.setattr(bringing.hugging_face, "load", wait)
    monkeypatch.setattr(brought, "SOON", 0.0)
    yield sign
    sign.set()
    settle()


def again(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception, app.exception
    return app


@pytest.mark.usefixtures("both_families")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_without_a_list_the_page_says_what_to_write_and_what_to_type(open_app: OpenApp, lang: str) -> None:
    app = open_app("own", lang=lang, model="en-fr")
    text.use(lang)
    assert text.text("own.none") in shown(app)
    listed = re.findall(r"<pre[^>]*>(.*?)</pre>", said(app), re.DOTALL)
    assert any("[[model]]" in one and "folder = " in one for one in listed)
    assert any("make run-hf OWN=models.toml" in one for one in listed)
    assert any("model.save_html(" in one for one in listed)


def test_a_model_is_loaded_opened_on_heads_and_put_away(open_app: OpenApp, on_list: Path) -> None:
    app = open_app("own", lang="en", model="en-fr", text=TEXT)
    assert "14,051 parameters" in shown(app)
    assert "not loaded" in shown(app)
    app.button(key="load_own-marian").click().run()
    settle()
    page = shown(again(app), " ")
    assert "2 + 3 layers, 2 and 4 heads" in page
    assert "at most 64 tokens" in page
    assert "ready, last used just now" in page
    assert {link.proto.label for link in app.get("page_link")} >= {text.text(f"{name}.title") for name in ("heads", "studio")}

    heads = open_app("heads", lang="en", model="own-marian", text=TEXT)
    atlas = session.load("own-marian")
    assert isinstance(atlas, HuggingFaceTranslator)
    told = payload(heads, "heads")
    header = json.loads(told[4 : 4 + int.from_bytes(told[:4], "little")])
    assert [(one["layers"], one["heads"]) for one in header["attentions"]] == [(2, 2), (3, 4), (3, 4)]
    assert len(header["tokens"]["source"]["labels"]) == len(atlas.source_tokens(TEXT))
    assert heads.selectbox(key="model").value == "own-marian"

    app.button(key="put_away_own-marian").click().run()  # this visitor opened Heads in another session
    assert "Tiny marian is in use by somebody else." in shown(app)
    shelf.places["own-marian"].visitors.clear()
    app.button(key="put_away_own-marian").click().run()
    assert shelf.look("own-marian").state == "idle"
    assert app.button(key="load_own-marian")
    settle()


@pytest.mark.parametrize(("lang", "present"), [("en", None), ("zh", None), ("en", "1")])
def test_a_link_to_a_model_that_is_not_loaded_shows_the_steps_and_then_the_page(
    open_app: OpenApp, on_list: Path, slow: threading.Event, lang: str, present: str | None
) -> None:
    parameters = {"present": present, "slide": "2"} if present else {}
    app = open_app("heads", lang=lang, model="own-bert", text=TEXT, **parameters)
    text.use(lang)
    assert text.text("own.coming", title="Tiny bert") in shown(app)
    assert text.text("own.step_weights") in shown(app)
    assert not app.get("bidi_component") or present
    second = open_app("own", lang=lang, model="en-fr")
    assert text.text("own.coming", title="Tiny bert") in shown(second)
    slow.set()
    settle()
    assert text.text("own.coming", title="Tiny bert") not in shown(again(app))
    assert text.text("own.state_ready") in shown(again(second))
    assert len(shelf.places) == 1


def test_a_page_whose_model_was_put_away_loads_it_again(open_app: OpenApp, on_list: Path) -> None:
    app = open_app("masks", lang="en", model="own-bert", text=TEXT)
    settle()
    assert "Tiny bert is being loaded" not in shown(again(app))
    shelf.places["own-bert"].visitors.clear()
    assert session.put_away("own-bert") is None
    again(app)
    settle()
    assert shelf.look("own-bert").state == "ready"
    assert "Tiny bert is being loaded" not in shown(again(app))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_damaged_folder_is_told_on_every_page_as_a_damaged_checkpoint_is(
    open_app: OpenApp, both_families: Path, folder: Path, tmp_path: Path, lang: str
) -> None:
    (tmp_path / "bert").mkdir()
    for file in (folder / "bert").iterdir():
        (tmp_path / "bert" / file.name).write_bytes(file.read_bytes()[: 500 if file.suffix == ".safetensors" else None])
    with served(write(tmp_path, "bert", more="nonsense = 1\n")):
        app = open_app("own", lang=lang, model="en-fr")
        text.use(lang)
        assert text.text("own.state_failed") in shown(app)
        assert "model.safetensors" in shown(app)
        assert "nonsense" in shown(app)
        assert str(tmp_path) not in shown(app)
        page = shown(open_app("heads", lang=lang, model="own-bert", text=TEXT))
        assert "own-bert" in page
        assert "model.safetensors is no whole safetensors file" in page
        assert open_app("heads", lang=lang, model="en-fr", text=TEXT).get("bidi_component")


def test_without_the_library_the_page_says_so_and_all_else_works(
    open_app: OpenApp, on_list: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed, "installed", lambda: False)
    app = open_app("own", lang="en", model="own-marian")
    page = shown(app)
    assert "make run-hf" in page
    assert "There is no model own-marian here." in page
    assert not [button for button in app.button if str(button.key).startswith("load_")]
    assert open_app(lang="en", model="en-fr", text=TEXT).get("bidi_component")


def test_the_sidebar_says_what_is_not_loaded_and_loads_nothing(open_app: OpenApp, on_list: Path) -> None:
    app = open_app(lang="en", model="en-fr", text=TEXT)
    assert {"own-marian · not loaded yet", "own-bert · not loaded yet"} <= set(app.selectbox(key="model").options)
    assert not shelf.places


def test_loading_is_asked_for_at_a_limited_rate(open_app: OpenApp, on_list: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        empty = Bucket(2)
        empty.level = 0.0
        patch.setitem(rates._rates.rates, "load", Rate(2, 2))
        patch.setitem(rates._rates.together, "load", empty)
        app = open_app("own", lang="en", model="en-fr")
        app.button(key="load_own-bert").click().run()
        assert "had more than 2 models loaded a minute" in shown(app)
        waiting = open_app("heads", lang="en", model="own-bert", text=TEXT)
        assert "had more than 2 models loaded a minute" in shown(waiting)
        assert "is being loaded" not in shown(waiting)
        assert not shelf.places
    again(waiting)
    settle()
    assert waiting.run().get("bidi_component")


# ----- which page works with what


def test_the_table_says_what_the_pages_ask_for(open_app: OpenApp, both_families: Path) -> None:
    """Each page names what it needs where it is opened (app/views/needs.py)."""
    asked: dict[str, str] = {}
    for page in ORDER:
        source = (ROOT / "app" / "views" / f"{page}.py").read_text("utf-8")
        if found := re.search(r'open_page\("\w+".*needed=\("(\w+)",', source):
            asked[page] = found[1]
    assert {page: why for page, why in asked.items() if page != "decoding"} == {
        page: why for page, why in own_fits.NOWHERE.items() if page != "findings"
    }
    assert set(own_fits.pages_for("encoder-decoder")) == {*needs.SHOWING, "tokens", "studio"}
    assert set(own_fits.pages_for("encoder-only")) == {*needs.SHOWING, "tokens"} - {"decoding"}
    rows = rows_of(open_app("own", lang="en", model="en-fr"), "Which page works with what")
    assert {row[0] for row in rows} == {text.text(f"{page}.title") for page in ORDER if page != "own"}
    assert ["Decoding", "yes", "yes", "no", "an encoder alone writes nothing"] in rows
