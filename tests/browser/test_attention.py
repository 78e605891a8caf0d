"""Attention, step by step, in a browser: a score with its products against the trace, steps by key, the link, own sizes."""

import math

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

import model
from model import Trace
from tests.browser.application import number, settle
from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser
TEXT, PATH = "The cat sees the other cat.", "decoder.layers.1.self_attention"
PLACE = {"attention": "decoder.self_attention", "layer": 1, "head": 2}


@pytest.fixture(scope="module")
def trace() -> Trace:
    return model.load("en-fr").trace(TEXT)


def stage(page: Page) -> Locator:
    """The picture of the steps; the page has others further down."""
    return page.locator(".st-key-stage").get_by_test_id("matrices")


def press(page: Page, matrix: str, *keys: str) -> None:
    stage(page).get_by_test_id(f"matrix-{matrix}").focus()
    for key in keys:
        page.keyboard.press(key)


def total(page: Page) -> float:
    return number(stage(page).get_by_test_id("total").inner_text())


def test_a_walk_through_the_steps_of_one_head(open_page: OpenPage, trace: Trace) -> None:
    page = open_page("attention", text=TEXT, model="en-fr", step="score", **PLACE)
    query, key = (trace[f"{PATH}.{name}"].tensor[0, 2].double() for name in ("query", "key"))

    # Row 3, key 1: the products that are listed are those of the trace, and add up to the number that is shown.
    press(page, "products", "Control+Home", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight")
    expect(stage(page)).to_have_attribute("data-cell", "3,1")
    listed = [[number(part) for part in term.split("×")] for term in stage(page).locator(".term").all_text_contents()]
    torch.testing.assert_close(torch.tensor(listed).double(), torch.stack((query[3], key[1]), dim=1), atol=6e-4, rtol=0)
    assert len(listed) == 48
    assert total(page) == pytest.approx(float(query[3] @ key[1]), abs=2e-4)
    live = stage(page).get_by_test_id("live").inner_text()
    assert trace.produced[3].label in live
    assert trace.target[1].label in live

    # Scale, mask, softmax: on with a key; a cell above the diagonal is masked.
    press(page, "products", "n")
    expect(stage(page)).to_have_attribute("data-step", "scale")
    scaled = number(stage(page).get_by_test_id("law").inner_text().rsplit("= ", 1)[1])
    assert scaled == pytest.approx(float(query[3] @ key[1]) / math.sqrt(48), abs=6e-5)
    press(page, "scores", "n", "n")
    expect(stage(page)).to_have_attribute("data-step", "softmax")
    press(page, "weights", "ArrowRight", "ArrowRight", "ArrowRight")
    expect(stage(page)).to_have_attribute("data-cell", "3,4")
    expect(stage(page).get_by_test_id("live")).to_contain_text("masked")
    press(page, "weights", "ArrowLeft")
    weight = number(stage(page).get_by_test_id("live").inner_text().rsplit(" ", 1)[1])
    assert weight == pytest.approx(float(trace[f"{PATH}.weights"].tensor[0, 2, 3, 3]), abs=6e-5)

    # Another head, sizes of one's own; the step stays, and the link holds all of it.
    page.locator(".st-key-place_head").get_by_text("4", exact=True).click()
    expect(page.get_by_test_id("stMain")).to_contain_text("Layer 2, head 4 of")
    page.locator(".st-key-sizes").get_by_text("your own", exact=True).click()
    width = page.get_by_label("d_model", exact=True)
    width.fill("100")
    width.press("Enter")
    expect(page.get_by_test_id("stMain")).to_contain_text("d_model=100 cannot be split evenly into num_heads=8")
    settle(page)
    assert stage(page).get_attribute("data-step") == "softmax"
    for part in ("head=3", "layer=1", "step=softmax", "cell=3%2C3", "own_d_model=100"):
        assert part in page.url.replace(",", "%2C")

    # The list of contents leads to a part of the page, and leaves the visitor where they are.
    page.locator(".atlas-contents").get_by_role("link", name="What if").click()
    expect(page.locator("#part-page-what-if")).to_be_in_viewport()
    assert stage(page).get_attribute("data-step") == "softmax"

    page.goto(page.url)
    page.reload()  # the address differs by its last part alone, and such a visit loads nothing
    settle(page)
    expect(stage(page)).to_have_attribute("data-step", "softmax")
    expect(stage(page)).to_have_attribute("data-cell", "3,3")
    expect(page.get_by_test_id("stMain")).to_contain_text("Layer 2, head 4 of")
    expect(page.get_by_test_id("stMain")).to_contain_text("d_model=100 cannot be split evenly into num_heads=8")
