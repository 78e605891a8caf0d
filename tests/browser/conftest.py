"""One server (of tests/conftest.py) and one browser for the whole run; each test visits in a tab of its own.

    def test_something(open_page):
        page = open_page("heads", lang="zh", width=390, dark=True, text="I love you.")

`open_page` fails the test at its end if the page threw a script error, logged an error, or asked another machine for
anything. A test that expects such a thing clears `visits[-1].problems` after it has looked.
"""

from collections.abc import Iterator
from typing import Protocol

import pytest
from playwright.sync_api import BrowserContext, Page

import model
from model.translator import Translator
from tests.browser import application


class OpenPage(Protocol):
    def __call__(
        self,
        path: str = "",
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        lang: str = "en",
        **parameters: object,
    ) -> Page: ...


@pytest.fixture(scope="session")
def browser() -> Iterator[BrowserContext]:
    with application.launch() as context:
        yield context


@pytest.fixture(scope="session")
def french() -> Translator:
    """The shipped model, in this process: what the pages should say comes from it."""
    atlas = model.load("en-fr")
    assert isinstance(atlas, Translator)
    return atlas


@pytest.fixture
def visits() -> Iterator[list[application.Visit]]:
    """The visits that this test began; closed, and asked what went wrong, at its end."""
    begun: list[application.Visit] = []
    yield begun
    for visit in begun:
        visit.close()
    assert [problem for visit in begun for problem in visit.problems] == []


@pytest.fixture
def open_page(server: str, browser: BrowserContext, visits: list[application.Visit]) -> OpenPage:
    """Open a page as a new visitor: its path in the URL, the window, the theme, the language, and URL parameters."""

    def open_page(
        path: str = "",
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        lang: str = "en",
        **parameters: object,
    ) -> Page:
        visit = application.Visit(browser, server, width=width, height=height, dark=dark)
        visits.append(visit)
        return visit.open(path, lang=lang, **parameters)

    return open_page


@pytest.fixture
def page(server: str, browser: BrowserContext, visits: list[application.Visit]) -> Page:
    """An empty page of a new visitor at 1280 x 900, for tests that go their own way (`server` is the address)."""
    visit = application.Visit(browser, server)
    visits.append(visit)
    return visit.page
