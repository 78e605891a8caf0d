"""Add & norm, feed-forward in a browser: choosing a place, reading the stream point by point, a link that reopens it."""

import math
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from model.trace import Trace
from model.translator import Translator
from tests.browser import application

SENTENCE = "The dog saw the dog ."
MINUS = "\N{MINUS SIGN}"


@pytest.fixture(scope="module")
def trace(french: Translator) -> Trace:
    return french.trace(SENTENCE)


@pytest.fixture(scope="module")
def visit(server: str, browser: BrowserContext) -> Iterator[application.Visit]:
    visit = application.Visit(browser, server)
    visit.open("layers", lang="en", model="en-fr", text=SENTENCE, attention="decoder.cross_attention", layer=1, head=0, token=2)
    yield visit
    visit.close()
    assert visit.problems == []


def chart(page: Page, name: str) -> Locator:
    return page.locator(f".st-key-picture_{name}")


def read(value: str) -> float:
    return float(value.replace(MINUS, "-"))


def test_the_stream_is_read_point_by_point_and_a_link_reopens_it(visit: application.Visit, trace: Trace) -> None:
    page, lengths = visit.page, chart(visit.page, "lengths")
    live = lengths.get_by_test_id("live")
    expect(live).to_contain_text("2 cross-attention")  # what is chosen above is marked
    lengths.get_by_test_id("plot").focus()
    page.keyboard.press("ArrowRight")
    expect(live).to_contain_text("2 feed-forward")
    number, path = rf"([\d.{MINUS}]+)(?:;|$)", "decoder.layers.1.residual.2"
    found = re.search(rf"came in {number} .* adds {number} sum {number} .*norm\) {number}", live.inner_text())
    assert found
    for value, name in zip(found.groups(), ("input", "sublayer", "sum", "normed"), strict=True):  # all of one residual connection
        assert read(value) == pytest.approx(float(trace[f"{path}.{name}"].tensor[0, 2].norm()), abs=1e-4)
    page.keyboard.press("Home")
    expect(live).to_contain_text("adds no value")
    assert "lengths.point=0" in page.url

    page.locator(".st-key-spot_layer").get_by_text("3", exact=True).click()
    application.settle(page)
    page.locator(".st-key-sublayer").get_by_text("feed-forward").click()
    application.settle(page)
    expect(page.get_by_text("decoder.layers.2.residual.2", exact=True).first).to_be_visible()
    probability = f"{math.exp(trace.log_probabilities[2]):.4f}"
    expect(page.locator(".st-key-stage table").first.locator("tr").last).to_contain_text(probability)

    expect(live).to_contain_text("3 feed-forward")  # the mark has moved with the choice

    # two clicks within a moment: the second is sent with the URL as it was before the first
    page.evaluate("""() => {
        const named = name => button => button.textContent.trim() === name;
        const press = (key, name) => [...document.querySelectorAll(`.st-key-${key} button`)].find(named(name)).click();
        press("spot_layer", "1");
        setTimeout(() => press("sublayer", "self-attention"), 60);
        setTimeout(() => press("spot_layer", "2"), 150);
        setTimeout(() => press("sublayer", "feed-forward"), 220);
    }""")
    expect(live).to_contain_text("2 feed-forward")
    application.settle(page)
    expect(page.get_by_text("decoder.layers.1.residual.2", exact=True).first).to_be_visible()
    assert "layer=1" in page.url
    assert "sublayer=feed_forward" in page.url
    page.locator(".st-key-spot_layer").get_by_text("3", exact=True).click()
    expect(live).to_contain_text("3 feed-forward")
    application.settle(page)
    lengths.get_by_test_id("plot").focus()
    page.keyboard.press("Home")
    page.reload()
    application.settle(page)
    expect(page.get_by_text("decoder.layers.2.residual.2", exact=True).first).to_be_visible()
    expect(chart(page, "lengths").get_by_test_id("live")).to_contain_text("input")


def test_a_cell_of_the_sum_is_explained_and_the_norm_is_one_step_further(visit: application.Visit, trace: Trace) -> None:
    place = {"attention": "decoder.cross_attention", "layer": 2, "head": 0, "sublayer": "feed_forward", "token": 2}
    page = visit.open("layers", lang="en", model="en-fr", text=SENTENCE, **place)
    picture = page.locator(".st-key-picture_add_norm")
    path = "decoder.layers.2.residual.2"
    picture.get_by_test_id("matrix-sum").focus()
    page.keyboard.press("ArrowRight")
    total = float(trace[f"{path}.sum"].tensor[0, 2, 1])
    expect(picture.get_by_test_id("law")).to_contain_text(f"{total:.4f}".replace("-", MINUS))
    page.keyboard.press("n")
    expect(picture.get_by_test_id("matrix-normed")).to_be_visible()
    said = picture.get_by_test_id("law").inner_text()
    result = read(said.rsplit("= ", 1)[1].rstrip("."))
    column = int(re.search(r"d_model (\d+)", said)[1])  # type: ignore[index]
    assert result == pytest.approx(float(trace[f"{path}.normed"].tensor[0, 2, column]), abs=2e-4)


def test_what_is_asked_for_is_measured_in_chinese_as_well(visit: application.Visit, trace: Trace) -> None:
    page = visit.page
    page.locator(".st-key-stacks summary").click()
    gradients = chart(page, "gradients")
    gradients.get_by_test_id("plot").focus()
    page.keyboard.press("End")
    expect(gradients.get_by_test_id("live")).to_contain_text("layer 50")
    page.locator(".st-key-language").get_by_text("中文").click()
    application.settle(page)
    expect(gradients.get_by_test_id("title")).to_contain_text("未经训练")
    gradients.get_by_test_id("plot").focus()
    page.keyboard.press("Home")
    expect(gradients.get_by_test_id("live")).to_contain_text("后置归一化")
    expect(chart(page, "shares").get_by_test_id("live")).to_contain_text(trace.target[2].label)
