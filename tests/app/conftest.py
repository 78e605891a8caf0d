"""The app as a page of elements, without a browser: `open_app` runs it for a visitor with a language and a link."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import text

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


def said(app: AppTest) -> str:
    """All HTML of the page, the sidebar included, in one string."""
    return "\n".join(element.value for element in app.html)
