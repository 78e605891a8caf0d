"""Three attentions in a browser: maps and graph say the recorded weights, by pointer and keyboard; a link reopens them."""

import csv
import io
import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app import session
from model.trace import Trace
from tests.browser import application
from tests.browser.attention import CROSS, DECODER, ENCODER, SVG, parameters
from tests.browser.conftest import OpenPage

SENTENCE = "The cat saw the tall dog."
LATER = 600  # ms; longer than the page waits before it tells the server


@pytest.fixture(scope="module")
def trace() -> Trace:
    return session.trace("en-fr", SENTENCE)


@pytest.fixture(scope="module")
def visit(server: str, browser: BrowserContext) -> Iterator[application.Visit]:
    """One visitor for all tests of the page."""
    visit = application.Visit(browser, server)
    visit.open("three_attentions", lang="en", model="en-fr", text=SENTENCE, attention=ENCODER, layer=1, head=2)
    expect(visit.page.locator("[data-testid=attention-graph][data-painted]")).to_be_visible()
    yield visit
    visit.close()
    assert visit.problems == []


def weight(trace: Trace, path: str, head: int, row: int, column: int) -> str:
    return f"{float(trace[f'{path}.weights'].tensor[0, head, row, column]):.4f}"


def move(page: Page, which: str, *keys: str) -> str:
    """Press keys in a picture, from its first cell; what the live region says then."""
    page.keyboard.press("Escape")
    page.get_by_test_id(f"stage-{which}").focus()
    for key in ("Control+Home", *keys):
        page.keyboard.press(key)
    said = page.get_by_test_id("live").text_content() or ""
    return re.sub("[\u2068\u2069]", "", said)


def test_the_keyboard_reads_every_map_and_the_weight_back(visit: application.Visit, trace: Trace) -> None:
    page = visit.page
    said = move(page, ENCODER, "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight")
    path, labels = "encoder.layers.1.self_attention", [token.label for token in trace.source]
    assert f"“{labels[1]}” (position 1) reads {weight(trace, path, 2, 1, 3)} from “{labels[3]}” (position 3)" in said
    assert f"“{labels[3]}” reads {weight(trace, path, 2, 3, 1)} from “{labels[1]}”" in said
    said = move(page, DECODER, "ArrowRight")
    assert "may not read" in said
    assert f"“{trace.produced[0].label}”" in said  # rows by the token produced, keys by the token read
    assert f"“{trace.target[1].label}”" in said
    said = move(page, CROSS, "ArrowDown", "ArrowDown", "ArrowRight")
    assert f"reads {weight(trace, 'decoder.layers.1.cross_attention', 2, 2, 1)} from “{labels[1]}”" in said
    assert parameters(page)["attention"] == CROSS
    page.wait_for_timeout(LATER)  # the server is told where the visitor looks, and answers
    application.settle(page)
    page.keyboard.press("ArrowDown")  # in the picture that still has the focus
    expect(page.get_by_test_id("live")).to_have_attribute("data-query", "3")


def test_the_graph_says_both_weights_of_the_arrow_pointed_at(visit: application.Visit, trace: Trace) -> None:
    page = visit.page
    page.get_by_test_id("encoder-graph").click()
    page.get_by_test_id("layer-0").click()
    path = "encoder.layers.0.self_attention"
    said = move(page, ENCODER, "ArrowDown", "ArrowDown")
    assert f"reads {weight(trace, path, 2, 2, 0)} from" in said
    assert f"reads {weight(trace, path, 2, 0, 2)} from" in said
    page.keyboard.press("Escape")
    box = page.get_by_test_id(f"stage-{ENCODER}").locator("canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 48 + 46)  # the first token is at the top
    expect(page.get_by_test_id("live")).to_have_attribute("data-query", "0")
    expect(page.get_by_test_id("live")).to_contain_text("reads most from")


def choose(page: Page) -> None:
    """The head and the view that the tests below speak of, whatever was looked at before."""
    for name in ("layer-0", "head-2", "encoder-graph"):
        page.get_by_test_id(name).click()


def test_pictures_and_numbers_can_be_taken_away(visit: application.Visit, trace: Trace) -> None:
    page = visit.page
    choose(page)
    with page.expect_download() as download:
        page.get_by_test_id("csv").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8-sig"))))
    source, target = len(trace.source), len(trace.target)
    assert len(rows) == source * source + target * target + target * source
    cells = {(row["attention"], int(row["query_position"]), int(row["key_position"])): row for row in rows}
    assert cells[ENCODER, 2, 0]["weight"] == weight(trace, "encoder.layers.0.self_attention", 2, 2, 0)
    assert cells[DECODER, 0, 1]["masked"] == "1"
    with page.expect_download() as download:
        page.get_by_test_id("svg").click()
    drawing = ElementTree.fromstring(download.value.path().read_text("utf-8"))
    texts = ["".join(node.itertext()) for node in drawing.iter(f"{SVG}text")]
    assert [text for text in texts if "layer 1, head 3" in text]
    arrows = [node for node in drawing.iter(f"{SVG}path") if " Q" in node.get("d", "")]
    drawn = trace["encoder.layers.0.self_attention.weights"].tensor[0, 2]
    assert len(arrows) == int((drawn > 0.004).sum() - (drawn.diagonal() > 0.004).sum())
    page.get_by_test_id(f"panel-{ENCODER}").get_by_text("as a table").click()
    assert (
        weight(trace, "encoder.layers.0.self_attention", 2, 2, 0)
        in page.get_by_test_id(f"panel-{ENCODER}").locator("tbody tr").nth(2).inner_text()
    )


def test_a_link_reopens_what_was_seen_and_a_panel_opens_in_steps(visit: application.Visit, open_page: OpenPage) -> None:
    page = visit.page
    application.settle(page)
    choose(page)
    shown = {name: value for name, value in parameters(page).items() if name != "lang"}
    assert (shown["layer"], shown["head"], shown["encoder"]) == ("0", "2", "graph")
    again = open_page("three_attentions", lang="zh", width=390, **shown)
    expect(again.get_by_test_id("encoder-graph")).to_have_attribute("aria-checked", "true")
    expect(again.get_by_test_id("layer-0")).to_have_attribute("aria-checked", "true")
    assert again.evaluate("document.documentElement.scrollWidth <= 390")
    page.get_by_test_id(f"open-{DECODER}").click()
    page.wait_for_url("**/attention?*")
    application.settle(page)
    opened = parameters(page)
    assert (opened["attention"], opened["layer"], opened["head"]) == (DECODER, "0", "2")
