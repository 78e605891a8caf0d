"""The app as a page of elements, without a browser: `open_app` runs it for a visitor with a language and a link."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import model.checkpoint
import model.decoding
import model.translator
from app import session, text
from app.components.curves import unpack
from app.session import apart, computed
from app.views import linked
from app.views.html import WORD_JOINER
from model.translator import Translator
from tests.model import tiny

MAIN = Path(__file__).resolve().parents[2] / "app" / "main.py"
OpenApp = Callable[..., AppTest]
FRAME = ("share", "take_away")  # components that stand on every page


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every AppTest looks through all installed packages for components; ours are our own. It takes a quarter of a second."""
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", list)


@pytest.fixture(autouse=True)
def of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Components that stand on every page are not among those of a page; `payload` of tests that are about them finds them."""
    everything = AppTest.get

    def get(app: AppTest, kind: str) -> list[Any]:
        found = everything(app, kind)
        return [element for element in found if kind != "bidi_component" or element.proto.component_name not in FRAME]

    monkeypatch.setattr(AppTest, "get", get)


@pytest.fixture(autouse=True)
def heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest hears of a new value at once, and so never sends one that the server has replaced."""
    monkeypatch.setattr(linked, "SOON", 0.0)


@pytest.fixture(autouse=True)
def english() -> None:
    """AppTest formats the options of a widget in the test's own thread, in whatever language that speaks."""
    text.use("en")


@pytest.fixture(autouse=True)
def in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages compute for themselves, whatever server another test has warmed up."""
    monkeypatch.setattr(apart, "_allowed", threading.Event())


@pytest.fixture
def open_app() -> OpenApp:
    """Run the app; `page` is "heads" or empty, `locale` the browser's, the rest URL parameters."""

    def open_app(page: str = "", *, locale: str | None = None, **parameters: str) -> AppTest:
        app = AppTest.from_file(str(MAIN), default_timeout=60)
        app.context = {"locale": locale} if locale else {}
        for name, value in parameters.items():
            app.query_params[name] = value
        if page:  # before a first run it is found by its file's name, which is its address as well
            app.switch_page(f"views/{page}.py")
        app.run()
        assert not app.exception, app.exception
        return app

    return open_app


@contextmanager
def shipping(folder: Path) -> Iterator[Path]:
    """The models of this folder in place of the shipped ones; of one at random a text never ends, so it is stopped early."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model.checkpoint, "SHIPPED", folder)
        patch.setattr(model.translator, "SHIPPED", folder)
        for module in (model.decoding, computed):
            patch.setattr(module, "length_limit", lambda _: 12)
        st.cache_resource.clear()
        yield folder
    st.cache_resource.clear()


@pytest.fixture
def pre_norm(tmp_path: Path) -> Iterator[Translator]:
    """In place of the shipped models a tiny one with pre-norm, GELU and rotary positions."""
    tiny.save_checkpoint(tmp_path / "en-fr", norm="pre", activation="gelu", positions="rotary")
    (tmp_path / "en-fr" / "card.toml").write_text('source = "en"\ntarget = "fr"\n', encoding="utf-8")
    with shipping(tmp_path):
        atlas = session.load("en-fr")
        assert isinstance(atlas, Translator)
        yield atlas


@pytest.fixture(scope="module")
def both_families(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """In place of the shipped models tiny ones: two that translate, and one that writes on."""
    folder = tmp_path_factory.mktemp("models")
    tiny.save_checkpoint(folder / "en-fr")
    tiny.save_checkpoint(folder / "zh-en")  # its name alone says that it reads Chinese
    tiny.save_language_model(folder / "en-lm")
    for name in ("en-fr", "zh-en", "en-lm"):
        (folder / name / "card.toml").write_text(f'name = "{name}"\n', encoding="utf-8")
    with shipping(folder):
        yield folder


def said(app: AppTest) -> str:
    """All HTML of the page, the sidebar included, in one string."""
    return "\n".join(element.value for element in app.html)


def shown(app: AppTest, between: str = "") -> str:
    """The words of the page as a visitor reads them; `between` stands for the tags, and of several spaces then one is left."""
    words = unescape(re.sub(r"<style.*?</style>|<[^>]+>", between, said(app), flags=re.DOTALL))
    words = words.replace(WORD_JOINER, "").replace("\u00a0", " ")
    return re.sub(r"\s+", " ", words) if between else words


def code_of(app: AppTest, name: str) -> str:
    """The source in the box of a function, which is opened for it."""
    app.session_state[f"code_{name}"] = True
    app.run()
    (found,) = [element.value for element in app.code if element.value.lstrip().startswith(("def ", "class ", "@"))]
    app.session_state[f"code_{name}"] = False
    return str(found)


def rows_of(app: AppTest, caption: str) -> list[list[str]]:
    """The cells of the table with this caption."""
    (table,) = [element.value for element in app.html if caption in element.value and "<tbody>" in element.value]
    rows = re.findall(r"<tr>(.*?)</tr>", table.split("<tbody>")[1])
    return [[unescape(re.sub(r"<[^>]+>", " ", cell)).strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]


def payloads(app: AppTest) -> list[bytes]:
    """What every component of the page was given."""
    return [component.proto.bytes for component in app.get("bidi_component")]


def payload(app: AppTest, key: str) -> bytes:
    """What the component with this key was given."""
    (found,) = [component for component in app.get("bidi_component") if key in component.proto.id]
    data: bytes = found.proto.bytes
    return data


def charts(app: AppTest) -> dict[str, dict[str, Any]]:
    """What each curves component was given, by its name."""
    drawn = (component.proto for component in app.get("bidi_component") if component.proto.component_name.endswith("curves"))
    return {str(header["name"]): header for header in (unpack(proto.bytes) for proto in drawn)}
