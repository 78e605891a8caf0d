"""A visitor trains a small model: progress, a stop, opening what came of it; moments are scrubbed by keyboard."""

import re

from playwright.sync_api import expect

import model
from model.checkpoint import SHIPPED
from model.training.moments import FILE, read
from tests.browser.application import settle
from tests.browser.conftest import OpenPage

LONG = 240_000  # milliseconds, with room for a busy machine
MANY = 2000  # updates: more than any machine has done before it is stopped


def test_begin_stop_and_open(open_page: OpenPage) -> None:
    page = open_page("training", model="toy", train_task="copy", train_d_model=32, train_num_heads=2, train_steps=MANY)

    def button(name: str) -> None:
        page.get_by_role("button", name=name, exact=True).click()

    button("Train")
    expect(page.get_by_text(re.compile(rf"^[1-9]\d* of {MANY} updates"))).to_be_visible(timeout=LONG)
    expect(page.locator(".moments").nth(1).get_by_test_id("live")).to_contain_text("updates: loss")
    button("Stop")
    stopped = page.get_by_text(re.compile(rf"Stopped after \d+ of {MANY} updates"))
    expect(stopped).to_be_visible(timeout=LONG)
    done = int(re.findall(r"\d+", stopped.inner_text())[0])
    assert 0 < done < MANY
    button("Open it on every page")
    expect(page.get_by_text(re.compile("is in the sidebar now"))).to_be_visible()
    assert f"model=own-copy-{done}-" in page.url
    page.get_by_role("link", name="Heads", exact=True).first.click()
    expect(page.locator("h1")).to_contain_text("Heads")
    settle(page)
    assert f"model=own-copy-{done}-" in page.url


def test_moments_of_the_toy_by_keyboard_and_link(open_page: OpenPage) -> None:
    page = open_page("training", model="toy", text="the red cat sees a dog")
    shown = page.locator(".moments").first
    slider, moments = shown.get_by_test_id("moment"), read(SHIPPED / "toy" / FILE)
    expect(shown.get_by_test_id("after")).to_have_text(f"after {moments[-1].step} updates")
    slider.focus()
    slider.press("Home")
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(shown.get_by_test_id("after")).to_have_text(f"after {moments[2].step} updates")
    expect(shown.get_by_test_id("live")).to_contain_text(f"loss {moments[2].loss:.4f}")
    shown.get_by_test_id("layer-1").click()
    shown.get_by_test_id("head-0").click()
    shown.get_by_test_id("map").press("ArrowDown")
    atlas = model.load("toy")
    tokens = atlas.trace("the red cat sees a dog").source
    expect(shown.get_by_test_id("live")).to_contain_text(tokens[0].label)
    assert "moments.moment=2" in page.url
    page.reload()
    settle(page)
    expect(page.locator(".moments").first.get_by_test_id("after")).to_have_text(f"after {moments[2].step} updates")
    page.locator(".moments").first.get_by_text("The same numbers as a table").click()
    expect(page.locator(".moments").first.locator("tbody tr")).to_have_count(len(moments))
