"""Training in a browser: the loss of a row, another smoothing, schedules, one pass timed, a link that reopens it."""

import csv
import io
import math

import pytest
from playwright.sync_api import Locator, Page, expect

import model
from tests.browser.application import settle
from tests.browser.attention import saved_bytes
from tests.browser.conftest import OpenPage

SENTENCE = "The dog saw the dog ."


def chart(page: Page, name: str) -> Locator:
    return page.locator(f".st-key-picture_{name}")


def saved(part: Locator, page: Page, kind: str) -> bytes:
    with page.expect_download() as download:
        part.get_by_test_id(kind).click()
    return saved_bytes(download.value)


def test_losses_schedules_and_the_stop_watch(open_page: OpenPage) -> None:
    page = open_page("training", model="en-fr", text=SENTENCE, loss_row=1)
    trace = model.load("en-fr", device="cpu").trace(SENTENCE)
    labels, plain = [token.label for token in trace.produced], [-value for value in trace.log_probabilities]
    losses = chart(page, "losses")
    live = losses.get_by_test_id("live")
    expect(live).to_contain_text(f"{labels[1]}: −log p of the right token {plain[1]:.4f}")
    losses.get_by_test_id("plot").focus()
    page.keyboard.press("ArrowRight")
    expect(live).to_contain_text(f"{labels[2]}: −log p of the right token {plain[2]:.4f}")
    lines = list(csv.reader(io.StringIO(saved(losses, page, "csv").decode("utf-8-sig"))))
    assert [line[1] for line in lines[1:]] == labels
    assert [float(line[2]) for line in lines[1:]] == pytest.approx(plain, abs=1e-6)
    assert b"<svg" in saved(losses, page, "svg")

    # ε by keyboard: the smoothed loss comes down to the plain one, and the floor to 0
    page.get_by_role("slider", name="Smoothing").focus()
    page.keyboard.press("Home")
    expect(live).to_contain_text("floor: entropy of the target 0.0000")
    expect(page.get_by_text(f"−log p = {plain[1]:.4f}")).to_be_visible()
    assert "smoothing=0.0" in page.url

    # the bars are those of the chosen row, the right word with all that is asked for
    bars = chart(page, "row")
    bars.get_by_test_id("bars-stage").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(bars.get_by_test_id("live")).to_contain_text(f"{math.exp(-plain[1]):.6f}")

    # a warm-up of one's own
    box = page.locator(".st-key-warmup input")
    box.fill("1000")
    box.press("Enter")
    expect(page.get_by_text("at step w = 1,000:")).to_be_visible()
    expect(chart(page, "rates").get_by_test_id("live")).to_contain_text("1,000")

    page.get_by_role("button", name="Measure now").click()
    expect(page.get_by_text("The losses are the same")).to_be_visible()
    settle(page)

    address = page.url
    page.goto("about:blank")
    page.goto(address)
    settle(page)
    expect(live).to_contain_text("floor: entropy of the target 0.0000")
    expect(page.get_by_text("at step w = 1,000:")).to_be_visible()
