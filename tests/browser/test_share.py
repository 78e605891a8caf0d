"""The share button in a browser: a link of what components hold opens the same in another tab, and is not confused by it."""

import re

from playwright.sync_api import Page, expect

from tests.browser.application import settle
from tests.browser.attention import eventually, parameters
from tests.browser.conftest import OpenPage

SENTENCE = "The cat saw the tall dog."


def copied(page: Page) -> str:
    """The link that the button copies, and closes its box."""
    page.bring_to_front()
    page.get_by_test_id("share-open").click()
    field = page.get_by_test_id("share-link")
    expect(field).to_be_focused()
    page.get_by_test_id("share-copy").click()
    expect(page.get_by_test_id("share-said")).not_to_be_empty()
    link = str(page.evaluate("navigator.clipboard.readText()"))
    assert link == field.input_value()
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    expect(page.get_by_test_id("share-open")).to_be_focused()
    return link


def opened(page: Page, link: str) -> None:
    page.goto(link)
    settle(page)


def test_a_link_of_what_components_hold_opens_the_same_for_somebody_else(open_page: OpenPage) -> None:
    page = open_page("heads", model="en-fr", text=SENTENCE)
    other = open_page("heads", width=390, model="en-fr", text=SENTENCE)  # remembers a head of its own
    other.get_by_test_id("map-encoder.self_attention-0-1").click()
    expect(other.get_by_test_id("opened-title")).to_be_visible()

    whole = copied(page)  # no head is opened: nor is one for the other, whatever that tab remembers
    opened(other, whole)
    expect(other.get_by_test_id("map-encoder.self_attention-0-1")).to_be_visible()
    expect(other.get_by_test_id("opened-title")).to_be_hidden()

    page.get_by_test_id("map-decoder.cross_attention-1-2").click()
    page.get_by_test_id("overlay-0").click()
    page.get_by_test_id("share-open").click()
    holds = page.get_by_test_id("share-holds")
    expect(holds).to_contain_text(SENTENCE)
    expect(holds).to_contain_text(re.compile("Layer\\s*2\\s*Head\\s*3"))
    expect(page.get_by_test_id("share-leaves-out")).to_contain_text("theme")
    page.get_by_test_id("control-share-language").uncheck()
    expect(page.get_by_test_id("share-link")).not_to_have_value(re.compile("lang="))
    page.keyboard.press("Escape")
    opened(other, copied(page))
    expect(other.get_by_test_id("opened-title")).to_have_text(page.get_by_test_id("opened-title").inner_text())
    expect(other.get_by_test_id("overlay-0")).to_have_attribute("aria-pressed", "true")

    # masks: painted by hand; a choice that the server writes into the address is no entry of the history
    for tab in (page, other):
        opened(tab, whole.replace("/heads?", "/masks?"))
    page.get_by_test_id("mask-cells").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    root = page.locator("[data-testid=mask-painter][data-painted]")
    eventually(lambda: "mask" in parameters(page), True)
    settle(page)
    opened(other, copied(page))
    expect(other.locator("[data-testid=mask-painter]")).to_have_attribute("data-mask", str(root.get_attribute("data-mask")))
    entries = page.evaluate("history.length")
    page.locator(".st-key-masks_layer").get_by_text("1", exact=True).click()
    eventually(lambda: parameters(page).get("layer"), "0")
    assert page.evaluate("history.length") == entries  # the back button leaves the page, as it is now

    # decoding: the step; rotary: positions
    opened(page, whole.replace("/heads?", "/decoding?"))
    page.get_by_test_id("decoding-stage").focus()
    page.keyboard.press("ArrowRight")
    opened(other, copied(page))
    expect(other.get_by_test_id("decoding-steps")).to_have_attribute("data-step", "1")
    expect(other.get_by_test_id("decoding-steps").get_by_test_id("live")).to_have_text(
        page.get_by_test_id("decoding-steps").get_by_test_id("live").inner_text()
    )
    opened(page, whole.replace("/heads?", "/rotary?"))
    page.get_by_test_id("waves").focus()
    page.keyboard.press("ArrowRight")
    opened(other, copied(page))
    said = page.get_by_test_id("clocks").get_by_test_id("live").inner_text()
    expect(other.get_by_test_id("clocks").get_by_test_id("live")).to_have_text(said)


def test_a_link_that_is_too_long_is_text_instead(open_page: OpenPage) -> None:
    page = open_page("translate", lang="zh", model="zh-en", text="我爱你。" * 300)
    page.get_by_test_id("share-open").click()
    expect(page.get_by_test_id("share-length")).to_contain_text("8,000")
    field = page.get_by_test_id("share-link").input_value()
    assert "我爱你。" * 300 in field
    assert len(field.splitlines()[-1]) < 2_000
