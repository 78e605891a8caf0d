"""Tokens and embeddings in a browser: the way from ids to the input, cell by cell; bars by keyboard; a link reopens it."""

import csv
import io
import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from model.analysis import embeddings, vocabulary
from model.translator import Translator
from tests.browser.application import file, number, settle
from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser
SENTENCE = "The dog saw the dog 1E1 \u2603."


def bars(page: Page, place: int) -> Locator:
    return page.get_by_test_id("bars").nth(place)


def test_from_ids_to_the_input(open_page: OpenPage, french: Translator) -> None:
    page = open_page("tokens", model="en-fr", text=SENTENCE, side="target", without="factor", step="sum", cell="2,5")
    atlas = french
    trace = atlas.trace(SENTENCE)
    labels = [token.label for token in trace.target]

    # the link named a side, a step and a cell: the sum is that of this cell
    drawn = page.get_by_test_id("matrices")
    expect(drawn).to_have_attribute("data-cell", "2,5")
    law = page.get_by_test_id("law")
    ours = trace["target.embedding"].tensor[0, 2, 5] + trace["target.position"].tensor[0, 2, 5]
    assert number(law.inner_text()) == pytest.approx(float(ours), abs=5e-4)
    assert labels[2] in law.inner_text()

    # by keyboard to another cell, then back to the look-up: its row is that of the token's id
    page.get_by_test_id("matrix-input").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(drawn).to_have_attribute("data-cell", "3,6")
    spoken = drawn.get_by_test_id("live").inner_text()
    read = trace["decoder.layers.0.residual.0.input"].tensor[0, 3, 6]
    assert number(spoken) == pytest.approx(float(read), abs=5e-4)
    page.get_by_test_id("step-lookup").click()
    row = atlas.model.target.table.weight[trace.target[3].id]
    expect(law).to_contain_text(f"{trace.target[3].id} {vocabulary.visible(atlas.tokenizers.target.pieces[trace.target[3].id])}")
    column = int(drawn.get_attribute("data-cell", timeout=1000).partition(",")[2])  # type: ignore[union-attr]
    assert number(law.inner_text()) == pytest.approx(float(row[column]), abs=5e-4)

    # bars: labels in order with their doubles, the number under the cursor exact, the table and the file the same
    norms = embeddings.norms(atlas, trace, "target")
    assert norms.position is not None
    first = bars(page, 0)
    first.get_by_test_id("bars-stage").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(first.get_by_test_id("live")).to_contain_text(labels[1])
    assert number(first.get_by_test_id("live").inner_text()) == pytest.approx(norms.position[1], abs=1e-4)
    first.get_by_test_id("table").locator("summary").click()
    heads = first.locator("tbody th bdi").all_inner_texts()
    assert heads == labels
    lines = list(csv.reader(io.StringIO(file(page, first.get_by_test_id("csv")))))
    assert [line[1] for line in lines[1:]] == labels
    np.testing.assert_allclose([float(line[2]) for line in lines[1:]], norms.scaled, rtol=1e-6)
    assert "<svg" in file(page, first.get_by_test_id("svg"))

    # the variant of the link was measured
    damage = embeddings.without_factor(atlas, trace)
    expect(page.locator(".st-key-what_if")).to_contain_text(f"{sum(damage.log_probabilities):.2f}".replace("-", "\N{MINUS SIGN}"))
    assert bars(page, 2).get_by_test_id("table").count() == 1

    # search, choose a hit, and find all of it again by the link
    box = page.get_by_placeholder(re.compile("or an id"))
    box.fill("love")
    box.press("Enter")
    expect(page.locator(".st-key-tokens_vocabulary")).to_contain_text("␣loves")
    settle(page)
    query = parse_qs(urlsplit(page.url).query)
    assert {name: query[name] for name in ("side", "find", "step")} == {"side": ["target"], "find": ["love"], "step": ["lookup"]}
    page.reload()
    settle(page)
    expect(page.get_by_placeholder(re.compile("or an id"))).to_have_value("love")
    expect(page.get_by_test_id("matrices")).to_have_attribute("data-step", "lookup")
    expect(page.locator("ol.placed li").first).to_contain_text("<s>")
    page.locator(".st-key-side button").first.click()  # back to the source: its text is what was typed
    expect(page.locator("ol.placed li").first).to_contain_text("The")
    settle(page)
    assert "side" not in parse_qs(urlsplit(page.url).query)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
