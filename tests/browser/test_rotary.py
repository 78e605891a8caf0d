"""The clocks in a browser: what the page computes equals model.position.rotate; sliders, keyboard, dragging, links, files."""

import csv
import io
import re

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, Page, expect

import model
from model.analysis import rotary
from tests.browser.application import file
from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser
SENTENCE = "The dog saw the dog 1E1 NaN."


def product(clocks: Locator) -> float:
    return float(clocks.get_attribute("data-product") or "nan")


def slide(page: Page, name: str, to: int) -> None:
    page.get_by_test_id(name).evaluate(
        "(box, to) => { box.value = to; box.dispatchEvent(new Event('input')); box.dispatchEvent(new Event('change')); }", to
    )


def test_the_models_vectors(open_page: OpenPage) -> None:
    page = open_page(
        "rotary", model="en-fr-rotary", text=SENTENCE, attention="encoder.self_attention", layer=1, head=2, tokens="1,4"
    )
    trace = model.load("en-fr-rotary", device="cpu").trace(SENTENCE)
    labels = [token.label for token in trace.source]
    query, key = (trace[f"encoder.layers.1.self_attention.{name}"].tensor[0, 2] for name in ("query", "key"))

    def by_rotate(q: int, k: int, at_query: int, at_key: int, pairing: str = "adjacent") -> float:
        places = torch.tensor([[float(at_query)], [float(at_key)]])
        return float(rotary.products_at(query[q], key[k], *places, pairing=pairing))  # type: ignore[arg-type]

    clocks = page.get_by_test_id("clocks")
    assert product(clocks) == pytest.approx(by_rotate(1, 4, 1, 4), abs=1e-6)
    recorded = float(trace["encoder.layers.1.self_attention.scores"].tensor[0, 2, 1, 4])
    expect(page.get_by_test_id("recorded")).to_contain_text(f"{recorded:.4f}".replace("-", "\N{MINUS SIGN}"))
    expect(page.get_by_test_id("product")).to_contain_text(f"{labels[1]}\u2069” at 1")
    options = page.get_by_test_id("control-query").locator("option").all_inner_texts()
    assert [option.split("  ", 1)[1] for option in options] == labels

    # both move: the score stays to the last bit that counts; one moves: it changes
    slide(page, "both", 40)
    expect(clocks).to_have_attribute("data-at", "40,43")
    assert product(clocks) == pytest.approx(by_rotate(1, 4, 1, 4), abs=1e-9)
    expect(page.get_by_test_id("moved")).to_contain_text("stays")
    slide(page, "at_key", 100)
    expect(clocks).to_have_attribute("data-at", "40,100")
    assert product(clocks) == pytest.approx(by_rotate(1, 4, 40, 100), abs=1e-6)
    expect(page.get_by_test_id("moved")).to_contain_text("went from")

    # keyboard: pairs on the clocks, the offset on the curve; the other pairing with the same vectors
    page.get_by_test_id("dials").focus()
    page.keyboard.press("End")
    expect(clocks).to_have_attribute("data-pair", "23")
    page.keyboard.press("ArrowLeft")
    page.get_by_test_id("waves").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(clocks).to_have_attribute("data-at", "40,39")
    made = rotary.cosines(query[1], key[4])
    adds = float(made.terms(torch.tensor([1.0]))[0, 22])
    live = clocks.get_by_test_id("live")
    expect(live).to_contain_text(f"Pair 22, offset 1: it adds {adds:.4f}".replace("-", "\N{MINUS SIGN}"))
    page.get_by_test_id("pairing-half").click()
    expect(page.get_by_test_id("pairing-half")).to_have_attribute("aria-checked", "true")
    assert product(clocks) == pytest.approx(by_rotate(1, 4, 40, 39, "half"), abs=1e-6)
    page.get_by_test_id("pairing-adjacent").click()
    expect(page.get_by_test_id("pairing-adjacent")).to_have_attribute("aria-checked", "true")

    # the files and the table hold the same numbers
    lines = list(csv.reader(io.StringIO(file(page, clocks.get_by_test_id("csv")))))
    assert len(lines) == 25
    np.testing.assert_allclose([float(line[8]) for line in lines[1:]], made.terms(torch.tensor([1.0]))[0], atol=1e-6)
    curve = list(csv.reader(io.StringIO(file(page, clocks.get_by_test_id("csv_offsets")))))
    offsets = torch.arange(-48.0, 49.0)
    np.testing.assert_allclose([float(line[-3]) for line in curve[1:]], made.terms(offsets).sum(-1), atol=1e-5)
    drawn = re.findall(r">([+\u2212]?\d+\.\d\d)</text>", file(page, clocks.get_by_test_id("svg")))
    assert drawn[:24] == [f"{value:+.2f}".replace("-", "\N{MINUS SIGN}") for value in made.terms(torch.tensor([1.0]))[0].tolist()]
    with page.expect_download() as caught:
        page.locator(".st-key-npz_rotary button").click()
    with np.load(caught.value.path()) as saved:
        np.testing.assert_array_equal(saved["encoder.layers.1.self_attention.query"], query)
        assert list(saved["tokens.source"]) == labels
    clocks.get_by_test_id("table").locator("summary").click()
    assert clocks.locator(".twin tbody tr").count() == 24

    # a link reopens tokens, positions and pair
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(clocks).to_have_attribute("data-at", "40,39")
    expect(clocks).to_have_attribute("data-pair", "22")


def test_two_vectors_to_drag(open_page: OpenPage) -> None:
    page = open_page("rotary", model="en-fr", text=SENTENCE, vectors="own", width=390, lang="zh", dark=True)
    clocks = page.get_by_test_id("clocks")
    for q, k, score in ((3, 1, 1.1900512), (7, 5, 1.1900512), (102, 100, 1.1900512), (1, 3, 10.4830122)):
        slide(page, "at_query", q)
        slide(page, "at_key", k)
        expect(clocks).to_have_attribute("data-at", f"{q},{k}")
        assert product(clocks) == pytest.approx(score, abs=1e-6)
    # at position 0 the tip of the first query hand, (1, 2), is dragged to the right of the centre
    slide(page, "at_query", 0)
    slide(page, "at_key", 0)
    expect(clocks).to_have_attribute("data-at", "0,0")
    stage = page.get_by_test_id("dials")
    stage.scroll_into_view_if_needed()
    box, radius = stage.bounding_box(), float(clocks.get_attribute("data-radius") or 0)
    assert box
    x, y, unit = box["x"] + radius + 9, box["y"] + radius + 9, radius / 5  # the longest hand, 5, reaches the rim
    page.mouse.move(x + unit, y - 2 * unit)
    page.mouse.down()
    page.mouse.move(x + 2 * unit, y)
    page.mouse.up()
    assert product(clocks) == pytest.approx(2 * 4 + 0 * 3 + 3 * 2 + 4 * 1, abs=0.3)
    assert "hands=" in page.url
    page.get_by_test_id("reset").click()
    expect(clocks).to_have_attribute("data-product", str(4 + 6 + 6 + 4))
    # the same by typing
    page.get_by_test_id("dials").focus()
    page.keyboard.press("Home")
    page.get_by_test_id("x_query").fill("2")
    page.get_by_test_id("x_query").press("Tab")
    expect(clocks).to_have_attribute("data-product", "24")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
