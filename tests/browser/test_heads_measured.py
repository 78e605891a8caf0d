"""Heads, deepened, in a browser: a part opened by hand, numbers against the trace, heads off by keyboard, a link reopens it."""

import csv
import io
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from model.analysis import ablation, norms, roles
from model.analysis.ablation import Head
from model.translator import Translator
from tests.browser.application import number, settle
from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser
SENTENCE = "The dog saw the dog 1E1."
PATH = "decoder.layers.2.cross_attention"


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_heads_are_looked_into_and_switched_off(open_page: OpenPage, french: Translator) -> None:
    page = open_page("heads", model="en-fr", text=SENTENCE, attention="decoder.cross_attention", layer=2, head=1)
    atlas, trace = french, french.trace(SENTENCE)

    # a role that was measured is said of its head in the picture, with its chance level
    measured = roles.shipped(atlas)
    assert measured is not None
    found = [
        (layer, head, told[0])
        for layer in range(3)
        for head in range(4)
        if (told := measured.roles("decoder.self_attention", layer, head))
    ]
    for layer, head, role in found:
        label = page.get_by_test_id(f"map-decoder.self_attention-{layer}-{head}").get_attribute("aria-label") or ""
        assert (f"{role.score:.2f} (chance {role.chance:.2f})" in label) == (role.name != "diffuse")  # which is no role
    assert page.get_by_test_id("matrices").count() == 0

    # norms of the head that the link names: by hand, then by keyboard
    page.locator(".st-key-norms summary").click()
    drawn = page.locator(".st-key-norms_matrices").get_by_test_id("matrices")
    expect(drawn).to_have_attribute("data-step", "head")
    settle(page)
    drawn.get_by_test_id("matrix-added").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(drawn).to_have_attribute("data-cell", "1,1")
    right = norms.added(atlas, trace, PATH)[1, 1, 1]
    spoken = drawn.get_by_test_id("live").inner_text()
    assert trace.produced[1].label in spoken
    assert number(spoken.rstrip(".").rpartition(" ")[2]) == pytest.approx(float(right), abs=5e-4)

    # a head off, chosen by keyboard: the loss of the same tokens, and what the model writes without it
    box = page.locator(".st-key-off input")
    box.click()
    box.type("cross 3.2")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    settle(page)
    effect = ablation.switch_off(atlas, trace, (Head("decoder.cross_attention", 2, 1),), "zero")
    part = page.locator(".st-key-heads_off_title")
    expect(part).to_contain_text(f"loss of a token {effect.after:.3f}")
    expect(part).to_contain_text(ablation.rewritten(atlas, trace, (Head("decoder.cross_attention", 2, 1),), "zero"))
    assert query(page)["off"] == ["decoder.cross_attention.2.1"]
    assert (query(page)["layer"], query(page)["head"]) == (["2"], ["1"])  # what the picture wrote is still there
    page.locator(".st-key-norms_head button").nth(3).click()
    expect(drawn.get_by_test_id("step-head")).to_contain_text("head 4")
    settle(page)
    assert query(page)["look"] == ["decoder.cross_attention.2.3"]
    page.locator(".st-key-several summary").click()  # the parts look at one place: what one chooses, the other follows
    page.locator(".st-key-several_layer button").first.click()
    expect(drawn.get_by_test_id("step-head")).to_contain_text("layer 1, head 4")
    settle(page)
    assert query(page)["look"] == ["decoder.cross_attention.0.3"]

    # a file of the table
    with page.expect_download() as caught:
        page.locator(".st-key-roles_csv button").click()
    lines = list(csv.DictReader(io.StringIO(Path(caught.value.path()).read_text("utf-8-sig"))))
    line = next(
        line
        for line in lines
        if (line["attention"], line["layer"], line["head"], line["score"]) == ("encoder.self_attention", "2", "3", "previous")
    )
    assert float(line["value"]) == measured.scores["encoder.self_attention"]["previous"].heads[2][3]

    # the link reopens all of it, in Chinese as well
    page.locator(".st-key-language").get_by_text("中文").click()
    expect(page.locator("h1")).to_have_text("注意力头")
    settle(page)
    page.reload()
    settle(page)
    assert query(page)["off"] == ["decoder.cross_attention.2.1"]
    expect(page.locator(".st-key-heads_off_title")).to_contain_text(f"每个词元的损失 {effect.after:.3f}")
    expect(page.locator(".st-key-norms_matrices").get_by_test_id("matrices")).to_have_attribute("data-cell", "1,1")
