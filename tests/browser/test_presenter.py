"""Presenter mode in a browser: stepped with keys that a picture under the cursor keeps for itself, sized for the last row."""

import re
from typing import Any

from playwright.sync_api import expect

from app.text import sentences
from tests.browser.accessible import severe
from tests.browser.conftest import OpenPage

LINK: dict[str, Any] = {"model": "en-fr", "text": "I love you.", "attention": "decoder.cross_attention", "layer": 1, "head": 0}
FORMULA = 6  # after the idea, the picture and three sections
FITS = """sideways => { const main = document.querySelector('[data-testid="stMain"]');
    return main.scrollWidth <= main.clientWidth && (sideways || main.scrollHeight <= main.clientHeight); }"""


def test_keys_step_and_a_picture_keeps_its_arrows(open_page: OpenPage) -> None:
    said = sentences("en")
    page = open_page("attention", width=1280, height=800, present=1, slide=1, **LINK)
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
    page.wait_for_function(FITS, arg=False)
    assert severe(page) == []
    for _ in range(3, FORMULA + 1):  # a remote's key steps, whoever has the keyboard, as often as it is pressed
        page.keyboard.press("PageDown")
    on(FORMULA)
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
    page.wait_for_function(FITS, arg=True)
    page.set_viewport_size({"width": 390, "height": 844})
    page.keyboard.press("ArrowLeft")
    on(FORMULA - 1)
    page.get_by_test_id("present-next").click()
    on(FORMULA)
    page.wait_for_function(FITS, arg=True)
    more = page.get_by_test_id("present-down")
    expect(more).to_be_visible()  # a phone scrolls, and is told so
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    expect(more).to_be_hidden()

    page.keyboard.press("Escape")
    expect(page.locator("#part-page-formula")).to_be_in_viewport()
    expect(page).not_to_have_url(re.compile("present|slide"))
    expect(page).to_have_url(re.compile("layer=1"))


def test_a_sentence_is_typed_on_its_slide_and_goes_along_over_the_end(open_page: OpenPage) -> None:
    page = open_page("", width=1280, height=720, present=1, slide=2, **LINK)
    box, count = page.locator(".st-key-ask textarea"), page.get_by_test_id("present-count")
    box.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("I bought it. ")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(box).to_have_value("I bought it. ")
    page.keyboard.press("Escape")  # the first one ends the typing
    expect(page).to_have_url(re.compile("text=I\\+bought"))
    expect(count).to_have_text(re.compile("^2 / "))
    page.keyboard.press("PageUp")
    expect(count).to_have_text(re.compile("^1 / "))
    page.keyboard.press("ArrowLeft")
    expect(page.locator("h1.atlas-slide")).to_have_text(sentences("en")["page.try"])  # the last of the page before
    expect(page).to_have_url(re.compile("/studio.*text=I\\+bought"))
