"""The app as a page of elements, without a browser: `open_app` runs it for a visitor with a language and a link."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import model.checkpoint
import model.translator
from app import session, text
from model.translator import Translator
from tests.model import tiny

MAIN = Path(__file__).resolve().parents[2] / "app" / "main.py"
OpenApp = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def english() -> None:
    """AppTest formats the options of a widget in the test's own thread, in whatever language that speaks."""
    text.use("en")


@pytest.fixture
def open_app() -> OpenApp:
    """Run the app; `page` is "heads" or empty, `locale` the browser's, the rest URL parameters."""

    def open_app(page: str = "", *, locale: str | None = None, **parameters: str) -> AppTest:
        app = AppTest.from_file(str(MAIN), default_timeout=60)
        app.context = {"locale": locale} if locale else {}
        for name, value in parameters.items():
            app.query_params[name] = value
        app.run()
        if page:
            app.switch_page(f"views/{page}.py").run()
        assert not app.exception, app.exception
        return app

    return open_app


@pytest.fixture
def pre_norm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Translator]:
    """In place of the shipped models a tiny one with pre-norm, GELU and rotary positions."""
    tiny.save_checkpoint(tmp_path / "en-fr", norm="pre", activation="gelu", positions="rotary")
    (tmp_path / "en-fr" / "card.toml").write_text('source = "en"\ntarget = "fr"\n', encoding="utf-8")
    monkeypatch.setattr(model.checkpoint, "SHIPPED", tmp_path)
    monkeypatch.setattr(model.translator, "SHIPPED", tmp_path)
    st.cache_resource.clear()
    yield session.load("en-fr")
    st.cache_resource.clear()


def said(app: AppTest) -> str:
    """All HTML of the page, the sidebar included, in one string."""
    return "\n".join(element.value for element in app.html)
