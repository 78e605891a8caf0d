"""What holds on every page: it opens in both languages, themes and widths, alone, under safe headers, and for everyone."""

import urllib.request
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page

from tests.browser.accessible import findings, severe
from tests.browser.application import settle
from tests.browser.conftest import OpenPage

SENTENCE = "The old man and the dog see a small house."
BACKGROUNDS = {False: "rgb(252, 252, 250)", True: "rgb(20, 22, 27)"}


def scrolls_sideways(page: Page) -> bool:
    return page.evaluate(
        """() => [document.documentElement, document.querySelector('[data-testid="stMain"]')]
                 .some(element => element.scrollWidth > element.clientWidth + 1)"""
    )


def background(page: Page) -> str:
    found: str = page.get_by_test_id("stApp").evaluate("element => getComputedStyle(element).backgroundColor")
    return found


def in_colours(page: Page, *, dark: bool) -> None:
    """The visitor's system turns dark, or light again."""
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.wait_for_function(
        "wanted => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor === wanted",
        arg=BACKGROUNDS[dark],
    )


def test_a_desktop_by_day(open_page: OpenPage) -> None:
    page = open_page(width=1280, dark=False, lang="en")
    assert background(page) == BACKGROUNDS[False]
    assert not scrolls_sideways(page)
    assert severe(page) == []
    page.get_by_test_id("attention-map").evaluate("picture => picture.append(document.createElement('button'))")
    (fault,) = findings(page, "button-name")
    assert " >> " in fault["place"]  # inside a picture, which is a world of its own


def test_the_way_of_the_data_leads_through_every_page_on_a_phone_at_night_in_chinese(open_page: OpenPage) -> None:
    """From "next" to "next" in one session: every page of the sidebar in its order, with the same sentence, and back again.

    What hinders somebody is looked for on each, on every second one by day.
    """
    page = open_page(width=390, dark=True, lang="zh", model="en-fr", text=SENTENCE)
    links = page.locator('[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]')
    listed = [urlsplit(link.get_attribute("href") or "").path.strip("/") for link in links.all()]
    assert len(listed) >= 8
    walked = []
    for _ in listed:
        heading = page.get_by_test_id("stMain").locator("h1").first.inner_text()
        assert not heading.isascii()
        assert page.evaluate("document.documentElement.lang") == "zh"
        assert background(page) == BACKGROUNDS[True]
        assert not scrolls_sideways(page), heading
        assert page.get_by_test_id("stException").count() == 0
        in_colours(page, dark=len(walked) % 2 == 0)
        assert severe(page) == [], heading
        in_colours(page, dark=True)
        assert parse_qs(urlsplit(page.url).query)["text"] == [SENTENCE]
        walked.append(urlsplit(page.url).path.strip("/"))
        page.get_by_test_id("stMain").get_by_test_id("stPageLink-NavLink").last.click()
        page.wait_for_function("heading => document.querySelector('[data-testid=stMain] h1')?.innerText !== heading", arg=heading)
        settle(page)
    assert walked == listed
    assert urlsplit(page.url).path.strip("/") == listed[0]


def test_headers_that_keep_a_visitor_safe(server: str) -> None:
    with urllib.request.urlopen(server, timeout=10) as answer:
        headers = answer.headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] in ("same-origin", "no-referrer", "strict-origin-when-cross-origin")
