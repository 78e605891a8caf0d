"""Architecture: the boxes are walked in the order of the data, say the recorded shapes, and open their pages."""

import csv
import io
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

import model
from app.text import sentences
from model.trace import Trace
from tests.browser import application, attention
from tests.browser.attention import eventually, saved_bytes
from tests.browser.conftest import OpenPage

SENTENCE, TARGET = "The cat saw the tall dog.", "Le chat a vu le chien."
TEXT = sentences("en")


@pytest.fixture(scope="module")
def trace() -> Trace:
    return model.load("en-fr").trace(SENTENCE, TARGET)


@pytest.fixture(scope="module")
def page(server: str, browser: BrowserContext) -> Iterator[Page]:
    """Follows a link to the second layer."""
    visit = application.Visit(browser, server)
    visit.open("architecture", lang="en", model="en-fr", text=SENTENCE, target=TARGET, layer=1)
    ready(visit.page)
    yield visit.page
    visit.close()
    assert visit.problems == []


def ready(page: Page) -> Locator:
    shown = page.get_by_test_id("architecture").first
    expect(shown.locator("svg")).to_be_visible()
    return shown


def box(page: Page, id: str) -> Locator:
    return page.get_by_test_id(f"box-{id}").first


def said(page: Page) -> str:
    return page.get_by_test_id("live").first.inner_text()


def layer(page: Page) -> str:
    return parse_qs(urlsplit(page.url).query)["layer"][0]


def sizes(trace: Trace, path: str) -> str:
    return f"[{', '.join(f'{size:,}' for size in trace[path].tensor.shape[1:])}]"


def test_arrow_keys_walk_the_boxes_along_the_data_and_say_their_shapes(page: Page, trace: Trace) -> None:
    ids = page.get_by_test_id("architecture").first.locator("button.box").evaluate_all("all => all.map(box => box.dataset.box)")
    opened = [id for id in ids if id.startswith("encoder.layers.1.")]
    assert opened == [f"encoder.layers.1.{name}" for name in ("self_attention", "residual.0", "feed_forward", "residual.1")]
    assert ids[0] == "encoder:tokens"
    assert ids[-1] == "decoder:produced"
    assert {"encoder.layers.0", "encoder.layers.2", "decoder.layers.0", "decoder.layers.2"} < set(ids)
    box(page, "encoder:tokens").focus()
    for id in ids[1:4]:
        page.keyboard.press("ArrowUp")
        expect(box(page, id)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(box(page, ids[2])).to_be_focused()
    page.keyboard.press("End")
    expect(box(page, "decoder:produced")).to_be_focused()
    written = " ".join(token.label for token in trace.produced)
    eventually(lambda: said(page), lambda text: written in text)
    box(page, "decoder.layers.1.cross_attention").focus()
    path = "decoder.layers.1.cross_attention"
    found = eventually(lambda: said(page), lambda text: path in text)
    for recorded in (f"{path}.weights", f"{path}.output", "encoder.output"):
        assert f"{sizes(trace, recorded)} = [" in found
    assert f"{4 * 192 * 192:,} parameters" in found
    expect(box(page, path)).to_have_accessible_name(found)


def test_numbers_on_the_arrows_are_the_traces_and_can_be_symbols(page: Page, trace: Trace) -> None:
    texts = page.get_by_test_id("architecture").first.locator("svg text").evaluate_all("all => all.map(node => node.textContent)")
    for path in ("encoder.output", "decoder.output", "logits"):
        assert sizes(trace, path) in texts
    page.get_by_test_id("shapes-symbols").first.click()
    symbols = page.get_by_test_id("architecture").first.locator("svg text")
    expect(symbols.filter(has_text="[L_t, V]").first).to_be_attached()
    assert "shapes=symbols" in page.url
    page.get_by_test_id("shapes-sizes").first.click()


def test_the_table_and_the_exports_hold_every_box_of_every_layer(page: Page, trace: Trace) -> None:
    page.get_by_test_id("table").first.locator("summary").click()
    row = page.locator('tr[data-box="decoder.layers.2.feed_forward"]').first
    expect(row).to_contain_text(sizes(trace, "decoder.layers.2.residual.2.sublayer"))
    with page.expect_download() as saved:
        page.get_by_test_id("csv").first.click()
    rows = list(csv.DictReader(io.StringIO(saved_bytes(saved.value).decode("utf-8-sig"), newline="")))
    assert len(rows) == page.locator(".twin tr[data-box]").count()
    assert sum(int(row["parameters"].replace(",", "")) for row in rows if row["path"].endswith("attention")) == 9 * 4 * 192 * 192
    assert "en-fr" in rows[0]["caption"]
    assert SENTENCE in rows[0]["caption"]
    with page.expect_download() as saved:
        page.get_by_test_id("svg").first.click()
    texts = [text for text, *_ in attention.drawn(saved_bytes(saved.value))]
    assert sizes(trace, "logits") in texts
    assert TEXT["architecture.diagram.cross_attention"] in texts
    assert any("en-fr" in text for text in texts)
    with page.expect_download() as saved:
        page.get_by_test_id("png").first.click()
    assert saved_bytes(saved.value).startswith(b"\x89PNG")
    assert len(saved_bytes(saved.value)) > 20_000


def test_a_closed_layer_opens_and_a_reload_finds_it_open(page: Page) -> None:
    box(page, "decoder.layers.2").press("Enter")
    expect(box(page, "decoder.layers.2.self_attention:mask")).to_be_focused()
    assert layer(page) == "2"
    expect(box(page, "decoder.layers.1")).to_be_visible()
    page.reload()
    application.settle(page)
    expect(box(page, "decoder.layers.2.cross_attention")).to_be_visible()


def test_a_box_opens_its_page_at_its_layer(page: Page) -> None:
    page.goto(re.sub(r"([?&]layer=)\d+", r"\g<1>2", page.url))
    ready(page)
    box(page, "decoder.layers.2.cross_attention").press("Enter")
    page.wait_for_url("**/attention?**")
    application.settle(page)
    asked = parse_qs(urlsplit(page.url).query)
    assert (asked["attention"], asked["layer"], asked["text"]) == (["decoder.cross_attention"], ["2"], [SENTENCE])


def test_on_a_phone_everything_stands_inside_the_picture(open_page: OpenPage) -> None:
    page = open_page("architecture", width=390, dark=True, lang="zh", model="en-zh", text="I love you.")
    shown = ready(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    outside = shown.locator("svg").evaluate(
        """svg => [...svg.querySelectorAll("text")].filter(node => {
            const box = node.getBoundingClientRect(), all = svg.getBoundingClientRect();
            return box.left < all.left - 1 || box.right > all.right + 1 || box.top < all.top - 1 || box.bottom > all.bottom + 1;
        }).map(node => node.textContent)"""
    )
    assert outside == []
    assert shown.locator("svg text").filter(has_text="带掩码的自注意力").count() == 1
