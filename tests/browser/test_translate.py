"""Translate: what is typed is translated, and every weight that the linked view says is the one that the model computed."""

import io
import math
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, expect

import model
from app import session
from app.text import sentences
from model.tokenizer import Token
from model.trace import Trace
from model.translator import Translator
from tests.browser import application, attention
from tests.browser.attention import CROSS, AttentionMap, Visitor, eventually, numbers, parameters, type_sentence
from tests.browser.conftest import OpenPage

SENTENCE = "The cat saw the extraordinarily tall dog."


@pytest.fixture(scope="module")
def trace(french: Translator) -> Trace:
    return french.trace(SENTENCE)


@pytest.fixture(scope="module")
def newcomer(server: str, browser: BrowserContext) -> Iterator[Visitor]:
    """Opens the app for the first time, by its bare address."""
    with attention.visitor(browser, server, lang="en") as visitor:
        yield visitor


@pytest.fixture
def visitor(newcomer: Visitor) -> Visitor:
    """Looks at `SENTENCE` in French."""
    if parameters(newcomer.page)["model"] != "en-fr":
        choose_model(newcomer.page, "en-fr")
    if parameters(newcomer.page)["text"] != SENTENCE:
        type_sentence(newcomer.page, SENTENCE)
    return newcomer


def choose_model(page: Page, name: str) -> None:
    attention.choose(page, "model", name)
    eventually(lambda: parameters(page)["model"], name)
    application.settle(page)


def translation(page: Page) -> str:
    return page.locator(".atlas-translation").text_content() or ""


def labels(tokens: Sequence[Token]) -> list[str]:
    return [token.label for token in tokens]


def test_opens_with_an_example_translated_and_translates_what_is_typed(newcomer: Visitor, french: Translator) -> None:
    page = newcomer.page
    example = session.first_example("en-fr")
    assert page.locator(".st-key-sentence textarea").input_value() == example
    assert translation(page) == french.translate(example).text
    shown = AttentionMap(page)

    type_sentence(page, SENTENCE)
    own = french.translate(SENTENCE)
    eventually(lambda: translation(page), own.text)
    eventually(lambda: shown.labels("source"), labels(own.source))
    assert f"{own.score:.2f}".replace("-", "\N{MINUS SIGN}") in page.locator(".st-key-answer").inner_text()

    choose_model(page, "en-zh")
    chinese = model.load("en-zh").translate(SENTENCE)
    eventually(lambda: translation(page), chinese.text)
    eventually(lambda: shown.labels("source"), labels(chinese.source))
    steps = shown.get("steps").locator("tbody tr")
    written = eventually(lambda: [step.locator("td.writes").text_content() for step in steps.all()], lambda seen: len(seen) > 0)
    assert written[: len(chinese.produced)] == labels(chinese.produced)


def test_pointer_and_cursor_say_the_recorded_weight(visitor: Visitor, trace: Trace) -> None:
    page, shown = visitor.page, visitor.at_first(layer=2, head=1)
    right = numbers(trace, CROSS, 2, 1)
    for row, column in ((0, 0), (2, 3), (len(right.rows) - 1, len(right.columns) - 1)):
        shown.check_cell(shown.cursor(row, column), right, row, column, 2, 1)
    page.keyboard.press("Escape")
    expect(shown.get("live")).to_be_empty()

    canvas = shown.get("matrix").locator("canvas").bounding_box()
    assert canvas
    found = {}
    for y in (0.5, 0.9):
        for x in (0.45, 0.6, 0.72, 0.85):
            place = (x * canvas["width"], y * canvas["height"])
            if cell := shown.point(*place):
                shown.check_cell(shown.said(), right, *cell, 2, 1)
                assert shown.root.locator(".tooltip").text_content() == shown.get("live").text_content()
                if shown.point(place[0] - 3, place[1] - 3) == cell == shown.point(place[0] + 3, place[1] + 3):
                    found[cell] = place  # not at the border of a cell, where there is a line
    assert len(found) >= 3
    for (row, column), (x, y) in found.items():  # further down is a later row, further right a later column
        assert all((other <= row) == (down <= y) for (other, _), (_, down) in found.items() if other != row)
        assert all((other <= column) == (along <= x) for (_, other), (along, _) in found.items() if other != column)
    page.mouse.move(0, 0)
    expect(shown.get("live")).to_be_empty()
    darkness = [dark for _, dark in sorted((right.weights[cell], -sum(shown.colour(*place))) for cell, place in found.items())]
    assert darkness == sorted(darkness)  # more weight is never lighter

    shown.get("target-1").hover()
    eventually(lambda: shown.said() != "", True)
    best = int(right.weights[1].argmax())
    place: dict[str, Any] = {"layer": 3, "head": "head 2"}
    values = {**place, "query": right.rows[1], "query_position": 1, "key": right.columns[best], "key_position": best}
    assert abs(shown.number_in(shown.said(), "row_summary", "weight", values) - right.weights[1, best]) <= attention.ROUNDED
    probability = math.exp(trace.log_probabilities[1])
    assert f"“{right.rows[1]}” was produced with probability {probability:.2f}." in (shown.get("sentence").text_content() or "")
    shown.get("source-1").hover()
    best = int(right.weights[:, 1].argmax())
    values = {**place, "query": right.rows[best], "query_position": best, "key": right.columns[1], "key_position": 1}
    said = eventually(shown.said, lambda seen: "is read most by" in seen)
    assert abs(shown.number_in(said, "key_summary", "weight", values) - right.weights[best, 1]) <= attention.ROUNDED


def test_layer_and_head_change_in_the_browser_alone_and_stand_in_the_url(visitor: Visitor, trace: Trace) -> None:
    page, shown = visitor.page, visitor.at_first(layer=1, head=0)
    said = shown.cursor(2, 1)
    sent = visitor.sent()
    assert sent > 0
    for layer, head in ((0, 3), (2, 0), (1, "mean")):
        shown.pick("layer", layer)
        shown.pick("head", head)
        assert shown.said() != said
        said = shown.said()
        shown.check_cell(said, numbers(trace, CROSS, layer, head), 2, 1, layer, head)  # type: ignore[arg-type]
        assert (parameters(page)["layer"], parameters(page)["head"]) == (str(layer), str(head))
        assert shown.root.locator(".path").text_content() == (
            f"decoder.layers.{layer}.cross_attention.weights" + ("[0].mean(0)" if head == "mean" else f"[0, {head}]")
        )
    assert visitor.sent() == sent

    shown.get("copy-link").click()
    expect(shown.get("copy-link")).to_have_text(sentences("en")["attention_map.copied"])
    assert page.evaluate("navigator.clipboard.readText()") == page.evaluate("location.href")
    assert visitor.sent() == sent
    page.reload()
    application.settle(page)
    again = AttentionMap(page)
    again.check_cell(again.cursor(2, 1), numbers(trace, CROSS, 1, "mean"), 2, 1, 1, "mean")
    assert translation(page) == trace.target_text


def test_words_and_hidden_special_tokens(visitor: Visitor, trace: Trace) -> None:
    page, shown = visitor.page, visitor.at_first(layer=1, head=2)
    sent = visitor.sent()
    shown.pick("unit", "words")
    right = numbers(trace, CROSS, 1, 2, unit="words")
    assert len(right.columns) < len(trace.source)  # a word of several pieces
    assert right.weights.sum(1) == pytest.approx(1)
    assert tuple(shown.labels("source")) == right.columns
    row, column = 1, next(i for i, place in enumerate(right.column_places) if "\N{EN DASH}" in place)
    shown.check_cell(shown.cursor(row, column), right, row, column, 1, 2)
    shown.check_table(right)

    shown.get("control-special").check()
    hidden = numbers(trace, CROSS, 1, 2, unit="words", hide_special=True)
    assert "</s>" not in hidden.columns
    assert tuple(shown.labels("source")) == hidden.columns
    said = shown.cursor(row, column)
    shown.check_cell(said, hidden, row, column, 1, 2)
    removed = said.rpartition(sentences("en")["attention_map.removed_row"].split("{")[0])[2]
    assert abs(float(removed.rstrip(".")) - hidden.removed[row]) <= attention.ROUNDED
    note = sentences("en")["attention_map.removed_mean"].split("{removed}")
    mean = (shown.get("note").text_content() or "").partition(note[0])[2].partition(note[1])[0]
    assert abs(float(mean) - hidden.removed.mean()) <= attention.ROUNDED
    assert (parameters(page)["unit"], parameters(page)["special"]) == ("words", "hide")
    assert visitor.sent() == sent


def test_rows_are_named_by_the_token_produced_or_read(visitor: Visitor, trace: Trace) -> None:
    page, shown = visitor.page, visitor.at_first(layer=1, head=0)
    assert [label.rpartition(" ")[0] for label in shown.labels("target")] == labels(trace.produced)
    shown.check_table(numbers(trace, CROSS, 1, 0))
    shown.pick("row", "read")
    assert [label.rpartition(" ")[0] for label in shown.labels("target")[1:]] == labels(trace.target)[1:]
    assert shown.labels("target")[0] == "<s>"  # given, not produced: it has no probability
    shown.check_table(numbers(trace, CROSS, 1, 0, row="read"))
    assert tuple(shown.labels("source")) == tuple(labels(trace.source))
    note = shown.get("note").text_content() or ""
    assert sentences("en")["attention_map.convention_read"] in note
    assert parameters(page)["row"] == "read"


def test_a_translation_of_your_own_is_read_by_the_model(visitor: Visitor, french: Translator, trace: Trace) -> None:
    page, shown = visitor.page, visitor.at_first(layer=1, head=1)
    yours = "Le chat a vu le grand chien bleu."
    page.get_by_role("button", name=sentences("en")["translate.edit"]).click()
    box = page.get_by_role("textbox", name=sentences("en")["translate.target"])
    assert box.input_value() == trace.target_text
    box.fill(yours)
    box.press("Control+Enter")
    forced = french.trace(SENTENCE, yours)
    eventually(lambda: parameters(page).get("target"), yours)
    steps = shown.get("steps").locator("tbody tr")
    eventually(lambda: steps.locator("td.writes").all_text_contents(), labels(forced.produced))
    seen = [step.locator("td").all_text_contents() for step in steps.all()]
    assert [step[1] for step in seen] == labels(forced.target)
    assert [float(step[3]) for step in seen] == pytest.approx(np.exp(forced.log_probabilities), abs=0.00501)
    shown.check_cell(shown.cursor(3, 2), numbers(forced, CROSS, 1, 1), 3, 2, 1, 1)
    answer = page.locator(".st-key-answer")
    for score in (sum(forced.log_probabilities), french.translate(SENTENCE).score):
        expect(answer).to_contain_text(f"{score:.2f}".replace("-", "\N{MINUS SIGN}"))

    page.get_by_role("button", name=sentences("en")["translate.own_again"]).click()
    eventually(lambda: translation(page) if page.locator(".atlas-translation").count() else "", trace.target_text)
    eventually(lambda: len(shown.labels("target")), len(trace.produced))
    assert "target" not in parameters(page)

    page.get_by_role("button", name=sentences("en")["translate.edit"]).click()
    expect(box).to_have_value(trace.target_text)
    page.keyboard.press("Escape")
    for another in ("Good night.", SENTENCE):  # what the closed box held is not taken for a translation of these
        type_sentence(page, another)
        eventually(lambda another=another: translation(page), french.translate(another).text)
        assert "target" not in parameters(page)


def test_files_hold_what_is_on_the_screen(visitor: Visitor, trace: Trace) -> None:
    page, shown = visitor.page, visitor.at_first(layer=0, head=3)
    path = "decoder.layers.0.cross_attention.weights[0, 3]"
    attention.check_csv(shown.save("csv"), numbers(trace, CROSS, 0, 3), "en-fr", SENTENCE, trace.target_text, path)

    svg = shown.save("svg")
    texts = [text for text, *_ in attention.drawn(svg)]
    for label in (*labels(trace.source), *labels(trace.produced)):
        assert label in texts
    caption = " ".join(texts).translate({0x2068: None, 0x2069: None})
    for part in ("Model en-fr.", "Cross-attention, layer 1, head 4", path):
        assert part in caption
    assert {node.tag.rpartition("}")[2] for node in ElementTree.fromstring(svg).iter()} <= {
        "svg", "title", "defs", "pattern", "rect", "path", "text", "g", "clipPath", "image",
    }  # fmt: skip

    assert shown.save("png").startswith(b"\x89PNG\r\n\x1a\n")

    with page.expect_download() as saved:
        page.locator(".st-key-npz_translate button").click()
    assert saved.value.suggested_filename == "en-fr-translate.npz"
    arrays = np.load(io.BytesIO(attention.saved_bytes(saved.value)))
    for name, activation in trace.items():
        if name.endswith(".weights"):
            np.testing.assert_allclose(arrays[name], activation.tensor[0].numpy(), atol=1e-6)
    assert arrays["tokens.source"].tolist() == labels(trace.source)
    assert arrays["tokens.produced"].tolist() == labels(trace.produced)
    assert arrays["caption.source"] == SENTENCE


def test_in_chinese_and_the_language_keeps_the_sentence(visitor: Visitor, trace: Trace) -> None:
    page = visitor.page
    visitor.at_first(layer=1, head=2)
    for lang, name in (("zh", "中文"), ("en", "English")):
        page.locator(".st-key-language").get_by_text(name).click()
        shown, text = AttentionMap(page, lang), sentences(lang)
        expect(shown.get("steps").locator("th").last).to_have_text(text["attention_map.looked_at"])
        seen = shown.root.text_content() or ""
        for label in ("layer", "head", "unit_words", "special", "csv", "steps", "table"):
            assert text[f"attention_map.{label}"] in seen
        shown.check_cell(shown.cursor(1, 1), numbers(trace, CROSS, 1, 2), 1, 1, 1, 2)
        assert parameters(page)["lang"] == lang
        assert page.locator(".st-key-sentence textarea").input_value() == SENTENCE


def test_the_other_page_keeps_what_was_chosen(open_page: OpenPage) -> None:
    french = "Le chat noir."
    page = open_page(lang="zh", model="en-fr", text="A black cat.", target=french)
    shown = AttentionMap(page, "zh")
    shown.pick("layer", 0)
    shown.pick("head", 3)
    for name, there in (("heads", "heads.title"), ("translate", "translate.title")):
        page.locator('[data-testid="stSidebar"]').get_by_role("link", name=sentences("zh")[there]).click()
        expect(page.get_by_test_id("stMain").locator("h1").first).to_have_text(sentences("zh")[there])
        application.settle(page)
        AttentionMap(page, "zh")
        kept = eventually(lambda: parameters(page), lambda seen: "layer" in seen)
        wanted = {"lang": "zh", "model": "en-fr", "text": "A black cat.", "target": french, "layer": "0", "head": "3"}
        assert {key: kept.get(key) for key in wanted} == wanted, name
        assert page.locator(".st-key-sentence textarea").input_value() == "A black cat."
