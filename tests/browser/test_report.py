"""The HTML report opens in a browser from the disk: no script of a text runs, nothing is asked of a network."""

from pathlib import Path

from playwright.sync_api import BrowserContext, expect

from model.alignment.corpus import Settings
from model.alignment.extract import Choice
from model.alignment.report import caption_of, html_report
from tests.alignment.aligned import ATTACK, ATTACK_GOLD, CAR, CAR_GOLD, HOSTILE


def test_report_opens_from_disk(browser: BrowserContext, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    caption = caption_of("en-fr", Choice(2, 0, "read"), Settings(), files=(HOSTILE,))
    with path.open("w", encoding="utf-8") as file:
        html_report([CAR, ATTACK], [CAR_GOLD, ATTACK_GOLD], caption, "en", file)
    page = browser.new_page()
    problems: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(path.as_uri())
    page.locator("#pair-2").scroll_into_view_if_needed()  # what is far outside the window is not laid out
    expect(page.locator("#pair-2")).to_contain_text(HOSTILE)
    assert HOSTILE in page.locator("#settings").inner_text()
    page.locator("#pair-1 .word", has_text="car").hover()
    lit = page.locator("#pair-1 .word.on bdi").all_inner_texts()
    assert lit == ["the", "car", "la", "voiture"]
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")  # the style is let in, so there is one
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert (problems, asked) == ([], [path.as_uri()])
    page.close()
