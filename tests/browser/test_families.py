"""Two families in a browser: word t by slider and keyboard, weights as recorded, a link that reopens it, all masks."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app import session
from model.trace import Trace
from tests.browser import application
from tests.browser.attention import parameters

SENTENCE = "The cat saw the tall dog."
PROMPT = "The cat saw"


@pytest.fixture(scope="module")
def traces() -> tuple[Trace, Trace]:
    return session.trace("en-fr", SENTENCE), session.trace("en-lm", PROMPT)


@pytest.fixture(scope="module")
def visit(server: str, browser: BrowserContext) -> Iterator[application.Visit]:
    visit = application.Visit(browser, server)
    visit.open("families", lang="en", model="en-fr", text=SENTENCE, word=1, of_layer=0, of_head=2)
    expect(visit.page.locator("[data-testid=two-families][data-painted]")).to_be_visible()
    yield visit
    visit.close()
    assert visit.problems == []


def said(page: Page) -> str:
    picture = page.locator("[data-testid=two-families]")
    return re.sub("[\u2068\u2069]", "", picture.get_by_test_id("live").text_content() or "")


def test_the_keyboard_moves_the_word_and_reads_recorded_weights(visit: application.Visit, traces: tuple[Trace, Trace]) -> None:
    page, (one, two) = visit.page, traces
    assert f"writes {one.produced[1].label} " in said(page)
    assert f"Reads {len(one.source)} of {len(one.source)}" in said(page)
    assert f"Reads 2 of {len(one.target)}" in said(page)
    page.get_by_test_id("families-stage").focus()
    page.keyboard.press("ArrowDown")
    weight = float(one["decoder.layers.0.cross_attention.weights"].tensor[0, 2, 1, 0])
    assert f"Key {one.source[0].label} at position 0: weight {weight:.6f}" in said(page)
    page.keyboard.press("Home")
    first = len(session.load("en-lm").given(two)) - 1
    assert parameters(page).get("word") is None
    assert f"Reads {first + 1} of {len(two.target)}" in said(page)
    assert f"writes {two.produced[first].label} " in said(page)
    for _ in range(len(one.source) + len(one.target)):
        page.keyboard.press("ArrowDown")
    weight = float(two["decoder.layers.0.self_attention.weights"].tensor[0, 2, first, 0])
    assert f"Key {two.target[0].label} at position 0: weight {weight:.6f}" in said(page)
    page.keyboard.press("End")
    expect(page.locator("[data-testid=two-families]")).to_have_attribute("data-word", re.compile(r"[1-9]\d*"))
    assert page.evaluate("document.querySelectorAll('[data-testid=stException]').length") == 0


def test_the_slider_the_link_and_the_file_agree(visit: application.Visit, traces: tuple[Trace, Trace], tmp_path: Path) -> None:
    page, (one, _) = visit.page, traces
    page.get_by_test_id("word").fill("2")
    assert parameters(page)["word"] == "2"
    page.reload()
    application.settle(page)
    picture = page.locator("[data-testid=two-families][data-painted]")
    expect(picture).to_have_attribute("data-word", "2")
    with page.expect_download() as download:
        picture.get_by_test_id("csv").click()
    download.value.save_as(tmp_path / "words.csv")
    rows = list(csv.DictReader((tmp_path / "words.csv").read_text("utf-8-sig").splitlines()))
    written = [row for row in rows if row["attention"] == "decoder.layers.0.self_attention" and row["model"] == "encoder_decoder"]
    assert [row["may_attend"] for row in written] == [str(key <= 2).lower() for key in range(len(one.target))]
    weights = one["decoder.layers.0.self_attention.weights"].tensor[0, 2, 2].tolist()
    assert [float(row["weight"]) for row in written] == pytest.approx(weights, abs=1e-7)


def test_all_masks_stand_beside_one_another(visit: application.Visit) -> None:
    matrices = visit.page.get_by_test_id("matrices")
    matrices.scroll_into_view_if_needed()
    for name in ("Encoder: all see all", "Cross: all see the source", "Prefix: both ways in the beginning"):
        expect(matrices).to_contain_text(name)
    expect(matrices.locator("figure.matrix")).to_have_count(5)
