"""Cost in a browser: a length is typed, the curves follow and can be read with the keyboard, a link reopens it, files."""

import csv
import io
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from model import cost
from model.config import paper_base
from tests.browser import application
from tests.browser.attention import SVG, parameters, saved_bytes

LENGTH = 3072


@pytest.fixture(scope="module")
def visit(server: str, browser: BrowserContext) -> Iterator[application.Visit]:
    visit = application.Visit(browser, server)
    visit.open("cost", lang="en", model="en-fr", text="I love you.", preset="base")
    yield visit
    visit.close()
    assert visit.problems == []


def growth(page: Page) -> Locator:
    return page.get_by_role("group", name="Operations of one layer")


def saved(page: Page, kind: str) -> bytes:
    with page.expect_download() as download:
        growth(page).get_by_test_id(kind).click()
    return saved_bytes(download.value)


def spoken(number: float) -> str:
    """As a curve says a large number: 6.60 × 10¹², its parts not to be torn apart."""
    mantissa, exponent = f"{number:.2e}".split("e+")
    return f"{mantissa}\u00a0×\u00a010{exponent.translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def test_a_typed_length_is_counted_stands_in_the_link_and_is_read_with_the_keyboard(visit: application.Visit) -> None:
    page, config = visit.page, paper_base()
    box = page.get_by_label("Source tokens n")
    box.fill(str(LENGTH))
    box.press("Enter")
    expect(page.get_by_test_id("stMain")).to_contain_text("At 3,072 tokens the square is 50.00 %")
    application.settle(page)
    assert parameters(page)["n"] == str(LENGTH)
    growth(page).get_by_test_id("plot").focus()
    page.keyboard.press("End")
    expect(growth(page).get_by_test_id("live")).to_contain_text("1,048,576")
    linear, square = cost.layer_flops(config, 2**20)
    said = growth(page).get_by_test_id("live").inner_text()
    assert spoken(linear) in said
    assert spoken(square) in said
    page.reload()
    application.settle(page)
    expect(page.get_by_label("Source tokens n")).to_have_value(str(LENGTH))
    expect(growth(page)).to_be_visible()
    growth(page).get_by_test_id("table").locator("summary").click()
    assert growth(page).locator("tbody tr").count() == 23  # 21 powers of 2, the crossing (this length too), a million


def test_the_files_name_the_marks_and_hold_the_numbers(visit: application.Visit) -> None:
    page = visit.page
    rows = list(csv.DictReader(io.StringIO(saved(page, "csv").decode("utf-8-sig"))))
    row = next(row for row in rows if row["Length n, tokens"] == "3,072")
    assert float(row["Square, 4 n² d"]) == 4 * LENGTH**2 * 512
    assert "Model paper's base. n = 3,072 → m = " in rows[0]["caption"]  # a length of one's own is no sentence's
    assert rows[0]["caption"].endswith("Operations over Length n, tokens · Logarithmic scale.")
    texts = [element.text for element in ElementTree.fromstring(saved(page, "svg")).iter(f"{SVG}text")]
    for mark in ("equal: 3,072", "128 k", "a million", "10⁶"):
        assert mark in texts
