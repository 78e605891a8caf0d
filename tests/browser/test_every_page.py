"""What holds on every page: it opens in both languages, themes and widths, alone, and under safe headers."""

import urllib.request

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenPage

PAGES = ("", "heads")
BACKGROUNDS = {False: "rgb(252, 252, 250)", True: "rgb(20, 22, 27)"}


def scrolls_sideways(page: Page) -> bool:
    return page.evaluate(
        """() => [document.documentElement, document.querySelector('[data-testid="stMain"]')]
                 .some(element => element.scrollWidth > element.clientWidth + 1)"""
    )


@pytest.mark.parametrize(("width", "dark", "lang"), [(1280, False, "en"), (390, True, "zh")])
@pytest.mark.parametrize("path", PAGES)
def test_opens(open_page: OpenPage, path: str, width: int, dark: bool, lang: str) -> None:
    page = open_page(path, width=width, dark=dark, lang=lang)
    heading = page.get_by_test_id("stMain").locator("h1").first.inner_text()
    assert heading.isascii() == (lang == "en")
    background = page.get_by_test_id("stApp").evaluate("element => getComputedStyle(element).backgroundColor")
    assert background == BACKGROUNDS[dark]
    assert not scrolls_sideways(page)


def test_headers_that_keep_a_visitor_safe(server: str) -> None:
    with urllib.request.urlopen(server, timeout=10) as answer:
        headers = answer.headers
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "frame-ancestors" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] in ("same-origin", "no-referrer", "strict-origin-when-cross-origin")
