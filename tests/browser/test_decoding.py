"""Decoding in a browser: step without the server, take another branch, a link that reopens it, keyboard, the tree."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from app import session
from model.trace import Trace
from tests.browser.attention import Visitor, eventually, parameters, visitor

SENTENCE = "The cat saw the tall dog."


@pytest.fixture(scope="module")
def trace() -> Trace:
    return session.trace("en-fr", SENTENCE)


@pytest.fixture(scope="module")
def visit(server: str, browser: BrowserContext) -> Iterator[Visitor]:
    with visitor(browser, server, "decoding", lang="en", model="en-fr", text=SENTENCE, step=1) as visit:
        yield visit


def said(picture: Locator) -> str:
    return re.sub("[\u2068\u2069]", "", picture.get_by_test_id("live").text_content() or "")


def test_steps_and_candidates_are_walked_without_the_server(visit: Visitor, trace: Trace) -> None:
    page, picture = visit.page, visit.page.locator("[data-testid=decoding-steps][data-painted]")
    expect(picture).to_have_attribute("data-step", "1")
    before = visit.sent()
    page.get_by_test_id("decoding-stage").focus()
    page.keyboard.press("ArrowRight")
    assert parameters(page)["step"] == "2"
    assert f"Step 3 reads {trace.target[2].label} and produces {trace.produced[2].label} " in said(picture)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    row = trace["logits"].tensor[0, 2].double()
    second = row.softmax(-1).topk(2)
    assert f"(id {int(second.indices[1])})" in said(picture)
    assert f"probability {float(second.values[1]):.4f}" in said(picture)
    page.keyboard.press("Home")
    assert "step" not in parameters(page)
    assert visit.sent() == before


def test_another_branch_is_taken_and_a_reload_keeps_it(visit: Visitor, trace: Trace, tmp_path: Path) -> None:
    page, picture = visit.page, visit.page.locator("[data-testid=decoding-steps][data-painted]")
    page.get_by_test_id("decoding-stage").focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    row = trace["logits"].tensor[0, 2]
    ids = [trace.produced[0].id, trace.produced[1].id, int(row.topk(2).indices[1])]
    wanted = "-".join(map(str, ids))
    eventually(lambda: parameters(page).get("prefix"), wanted)
    expect(picture.get_by_test_id("back")).to_be_visible()
    assert parameters(page)["step"] == "2"
    assert "This token was given." in said(picture)
    page.reload()
    expect(picture).to_have_attribute("data-step", "2")
    assert "This token was given." in said(picture)
    with page.expect_download() as download:
        picture.get_by_test_id("csv").click()
    download.value.save_as(tmp_path / "steps.csv")
    lines = list(csv.DictReader((tmp_path / "steps.csv").read_text("utf-8-sig").splitlines()))
    third = [line for line in lines if line["step"] == "2" and line["rank"]]
    assert [float(line["logit"]) for line in third] == pytest.approx(row.topk(20).values.tolist(), abs=1e-4)
    picture.get_by_test_id("typed").fill("voit")
    picture.get_by_test_id("typed").press("Enter")
    pieces = [token.id for token in session.load("en-fr").tokenizers.target.encode("voit")]
    eventually(lambda: parameters(page).get("prefix"), "-".join(map(str, [*ids[:2], *pieces])))
    picture.get_by_test_id("back").click()
    eventually(lambda: parameters(page).get("prefix"), None)
    expect(picture.get_by_test_id("back")).to_be_hidden()


def test_the_tree_is_walked_and_a_search_goes_on_from_a_node(visit: Visitor) -> None:
    page = visit.page
    page.get_by_test_id("stMain").get_by_text("Beam search", exact=True).first.click()
    tree = page.locator("[data-testid=beam-tree][data-painted]")
    expect(tree).to_be_visible()
    page.get_by_test_id("tree-stage").focus()
    page.keyboard.press("Home")
    expect(tree).to_have_attribute("data-node", "0")
    first = said(tree)
    page.keyboard.press("ArrowDown")
    expect(tree).to_have_attribute("data-node", "1")
    assert said(tree) != first
    assert parameters(page)["node"] == "1"
    page.keyboard.press("Enter")
    eventually(lambda: parameters(page).get("prefix"), lambda value: bool(value) and "-" not in value)
    expect(tree.get_by_test_id("back")).to_be_visible()
    eventually(lambda: parameters(page).get("node"), None)  # that node was one of the tree before
    assert page.evaluate("document.querySelectorAll('[data-testid=stException]').length") == 0
