"""Presenter mode in a browser: stepped with keys that a picture under the cursor keeps for itself, sized for the last row."""

import re

from playwright.sync_api import Page, expect

from app.text import sentences
from tests.browser.conftest import OpenPage

LINK = {"model": "en-fr", "text": "I love you.", "attention": "decoder.cross_attention", "layer": 1, "head": 0}
FORMULA = 6  # after the idea, the picture and three sections
ROOM = """() => { const main = document.querySelector('[data-testid="stMain"]');
    return [main.scrollWidth - main.clientWidth, main.scrollHeight - main.clientHeight]; }"""


def beyond(page: Page) -> tuple[int, int]:
    """How much wider, and how much taller, the slide is than the screen."""
    wide, tall = page.evaluate(ROOM)
    return wide, tall


def test_keys_step_and_a_picture_keeps_its_arrows(open_page: OpenPage) -> None:
    said = sentences("en")
    page = open_page("attention", width=1280, height=720, present=1, slide=1, **LINK)
    heading, live = page.locator("h1.atlas-slide"), page.get_by_test_id("present-live")
    count = page.get_by_test_id("present-count")

    def on(slide: int) -> None:
        expect(count).to_have_text(re.compile(rf"^{slide} / "))
        expect(page).to_have_url(re.compile(rf"[?&]present=1\b.*slide={slide}\b|slide={slide}\b.*present=1\b"))

    expect(heading).to_have_text(said["attention.title"])
    assert page.locator(".atlas-prose.idea").evaluate("part => parseFloat(getComputedStyle(part).fontSize)") >= 28
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(live).to_have_text(re.compile(f"^Slide 2 of .*: {said['presenting.stage']}$"))
    on(2)

    picture = page.locator('[role="application"]:visible').first
    picture.focus()
    page.keyboard.press("ArrowRight")
    expect(picture).to_be_focused()
    on(2)
    assert beyond(page) == (0, 0)
    for slide in range(3, FORMULA + 1):  # a remote's key steps, whoever has the keyboard
        page.keyboard.press("PageDown")
        on(slide)
    expect(heading).to_have_text(said["page.formula"])

    page.keyboard.press("?")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("present-keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("present-keys")).to_be_hidden()
    page.keyboard.press("b")
    expect(page.get_by_test_id("present-black")).to_be_visible()
    page.keyboard.press("Space")
    expect(page.get_by_test_id("present-black")).to_be_hidden()
    on(FORMULA)
    assert beyond(page)[0] == 0
    page.set_viewport_size({"width": 390, "height": 844})
    page.keyboard.press("ArrowLeft")
    on(FORMULA - 1)
    page.get_by_test_id("present-next").click()
    on(FORMULA)
    assert beyond(page)[0] == 0

    page.keyboard.press("Escape")
    expect(page.locator("#part-page-formula")).to_be_in_viewport()
    expect(page).not_to_have_url(re.compile("present|slide"))
    expect(page).to_have_url(re.compile("layer=1"))
