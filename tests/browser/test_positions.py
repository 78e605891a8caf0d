"""Positions in a browser: a cell's formula, the shift followed by keyboard, curves, and a link that reopens all of it."""

import numpy as np
import pytest
from playwright.sync_api import expect

import model
from model.position import sinusoidal
from tests.browser.application import number, settle
from tests.browser.attention import eventually, parameters
from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser
SENTENCE = "The dog saw the dog."


def test_a_cell_a_curve_and_the_shift(open_page: OpenPage) -> None:
    page = open_page("positions", model="en-fr", text=SENTENCE, table="free", pe_d=64, pe_length=16, pe_k=5, order="reversed")
    table, products, shift = (page.get_by_test_id("matrices").nth(place) for place in range(3))

    # the first cell: sin 2, and cos 2 beside it
    law = table.get_by_test_id("law")
    expect(law).to_contain_text("pair 0: sin(2 ÷ 10000^(0/64)) = sin(2.0000) = 0.9093")
    table.get_by_test_id("matrix-table").focus()
    page.keyboard.press("ArrowRight")
    expect(law).to_contain_text("cos(2 ÷ 10000^(0/64)) = cos(2.0000) = \N{MINUS SIGN}0.4161")
    page.keyboard.press("ArrowDown")
    expect(table.get_by_test_id("live")).to_contain_text("\N{MINUS SIGN}0.9900")  # cos 3
    eventually(lambda: parameters(page).get("table.cell"), "3,1")

    # a cell of the moved table is a sum of two products, and what the function says of the later position
    expect(shift).to_have_attribute("data-cell", "8,2")
    moved = sinusoidal(1, 64, start=2 + 5)[0, 8]
    assert number(shift.get_by_test_id("total").inner_text()) == pytest.approx(float(moved), abs=1e-4)
    assert shift.get_by_test_id("terms").locator(".term").count() == 2

    # with words: what entered the encoder, cell by cell
    trace = model.load("en-fr", device="cpu").trace(SENTENCE)
    entering = trace["source.embedding"].tensor[0] + trace["source.position"].tensor[0]
    products.get_by_test_id("matrix-words").focus()
    page.keyboard.press("ArrowRight")
    said = products.get_by_test_id("live").inner_text()
    assert number(said) == pytest.approx(float(entering[0] @ entering[1]), abs=0.01)
    assert trace.source[1].label in said

    # the archive: what is drawn, with its tokens
    with page.expect_download() as caught:
        page.locator(".st-key-npz_positions button").click()
    assert caught.value.suggested_filename == "en-fr-positions.npz"
    with np.load(caught.value.path()) as saved:
        np.testing.assert_allclose(saved["table"], sinusoidal(16, 64), atol=1e-6)
        np.testing.assert_allclose(saved["products.words"], entering @ entering.T, atol=1e-3)
        assert list(saved["tokens.source"]) == [token.label for token in trace.source]

    # curves by keyboard
    curve = page.get_by_test_id("curves").first
    curve.get_by_role("application").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(curve.get_by_test_id("live")).to_contain_text("0.9093")
    eventually(lambda: parameters(page).get("pe_curves.point"), "2")

    # a widget of the page and the link; then the same address anew
    page.get_by_label("offset k", exact=True).fill("6")
    page.get_by_label("offset k", exact=True).press("Enter")
    settle(page)
    moved = sinusoidal(1, 64, start=2 + 6)[0, 8]
    expect(shift.get_by_test_id("total")).to_have_text(f"{float(moved):.4f}".replace("-", "\N{MINUS SIGN}"))
    eventually(lambda: {name: parameters(page).get(name) for name in ("pe_k", "table.cell")}, {"pe_k": "6", "table.cell": "3,1"})
    page.reload()
    settle(page)
    expect(table).to_have_attribute("data-cell", "3,1")
    expect(shift.get_by_test_id("total")).to_have_text(f"{float(moved):.4f}".replace("-", "\N{MINUS SIGN}"))
    expect(curve.get_by_test_id("live")).to_contain_text("0.9093")
    expect(page.get_by_role("cell", name="positions of the source taken away")).to_be_visible()

    # the back button: from another page to this one, as it was left
    box = page.get_by_label("offset k", exact=True)
    box.fill("7")
    box.press("Enter")
    eventually(lambda: parameters(page).get("pe_k"), "7")
    page.get_by_role("link", name="Masks", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Masks")
    settle(page)
    page.go_back()
    eventually(lambda: parameters(page).get("pe_k"), "7")
    expect(box).to_have_value("7")
