"""Masks in a browser: paint by pointer and keyboard, see the model follow, and find it again by its link."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import torch
from playwright.sync_api import BrowserContext, Locator, expect

from app.text import sentences
from model.analysis import masking
from model.analysis.painted import painted
from model.trace import Trace
from model.translator import Translator
from tests.browser import attention
from tests.browser.attention import Visitor

SENTENCE, TARGET = "The cat saw the dog.", "Le chat a vu le chien."
PLACE = {"attention": "decoder.self_attention", "layer": 1, "head": 2}
TEXT = sentences("en")


@pytest.fixture(scope="module")
def trace(french: Translator) -> Trace:
    return french.trace(SENTENCE, TARGET)


@pytest.fixture(scope="module")
def visitor(server: str, browser: BrowserContext) -> Iterator[Visitor]:
    link = {"model": "en-fr", "text": SENTENCE, "target": TARGET, **PLACE}
    with attention.visitor(browser, server, "masks", lang="en", **link) as visitor:
        yield visitor


def painter(visitor: Visitor) -> Locator:
    found = visitor.page.get_by_test_id("mask-painter")
    expect(found).to_have_attribute("data-painted", re.compile(r"\d+"))
    return found


def in_link(visitor: Visitor, name: str) -> str | None:
    return parse_qs(urlsplit(visitor.page.url).query).get(name, [None])[0]


def place_of(root: Locator, row: int, column: int) -> tuple[float, float]:
    """The middle of a cell, in the page."""
    canvas = root.get_by_test_id("mask-cells").locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    cell = float(root.get_attribute("data-cell") or 0)
    left, top = map(float, (root.get_attribute("data-corner") or "").split(","))
    return box["x"] + left + (column + 0.5) * cell, box["y"] + top + (row + 0.5) * cell


def test_painting_by_keyboard_and_pointer_changes_link_and_model(visitor: Visitor, french: Translator, trace: Trace) -> None:
    page, root = visitor.page, painter(visitor)
    expect(page.get_by_text(TEXT["masks.effect_none"].split("{attention}")[1][:40])).to_be_visible()
    length = len(trace.target)
    cells = masking.preset("causal", length)

    root.get_by_test_id("mask-cells").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Space"):  # row 2 may no longer read key 1
        page.keyboard.press(key)
    cells[2, 1] = False
    assert in_link(visitor, "mask") == masking.to_link(cells)
    live = root.get_by_test_id("live")
    expect(live).to_contain_text("Row 2, which reads")
    expect(live).to_contain_text("may not read")
    expect(live).to_contain_text(trace.target[1].label)

    x, y = place_of(root, 0, 3)  # a stroke of three cells ahead of the first row
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(*place_of(root, 0, 5), steps=4)
    page.mouse.up()
    cells[0, 3:6] = True
    link = masking.to_link(cells)
    assert in_link(visitor, "mask") == link

    found = painted(french, trace, "decoder.self_attention", 1, 2, link)
    loss = f"{found.loss:.3f}"
    expect(page.locator(".atlas-prose", has_text="The same translation under your mask")).to_contain_text(loss)
    expect(page.get_by_text("Rows of the decoder now see ahead")).to_be_visible()
    assert torch.equal(found.mask, cells)

    page.reload()
    attention.application.settle(page)
    expect(painter(visitor)).to_have_attribute("data-mask", link)
    expect(page.locator(".atlas-prose", has_text="The same translation under your mask")).to_contain_text(loss)

    root = painter(visitor)
    root.get_by_test_id("mask-cells").focus()
    root.get_by_test_id("preset-window").click()
    expect(root).to_have_attribute("data-mask", "window")
    assert in_link(visitor, "mask") == "window"
    root.get_by_test_id("undo").click()
    expect(root).to_have_attribute("data-mask", link)
    root.get_by_test_id("preset-causal").click()
    assert in_link(visitor, "mask") is None
    expect(page.get_by_text(TEXT["masks.effect_none"].split("{attention}")[1][:40])).to_be_visible()


def test_files_and_table_hold_the_mask_that_is_on_the_screen(visitor: Visitor, trace: Trace) -> None:
    page, root = visitor.page, painter(visitor)
    root.get_by_test_id("preset-block").click()
    expect(root).to_have_attribute("data-mask", "block")
    block, labels = masking.preset("block", len(trace.target)), [token.label for token in trace.target]
    with page.expect_download() as download:
        root.get_by_test_id("csv").click()
    lines = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8-sig"))))
    assert [line["may_attend"] for line in lines] == [str(int(cell)) for cell in block.flatten().tolist()]
    assert [line["key"] for line in lines[: len(labels)]] == labels
    assert "block" in lines[0]["caption"]
    with page.expect_download() as download:
        root.get_by_test_id("svg").click()
    drawn = Path(download.value.path()).read_text("utf-8")
    assert drawn.count('fill="url(#masked)"') == int((~block).sum())
    root.locator("summary").click()
    body = root.get_by_test_id("table").locator("tbody tr")
    expect(body).to_have_count(len(labels))
    words = [TEXT["mask_painter.legend_allowed"] if cell else TEXT["mask_painter.legend_hidden"] for cell in block[0].tolist()]
    assert body.first.locator("td").all_inner_texts() == words

    assert body.locator("th bdi").all_inner_texts() == [token.label for token in trace.produced]

    root.get_by_test_id("notation-additive").click()
    assert in_link(visitor, "notation") == "additive"
    root.get_by_test_id("mask-lines").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(root.get_by_test_id("live")).to_contain_text(f"sees 3 of {len(labels)}")
