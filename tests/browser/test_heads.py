"""Heads: every layer and head of the three attentions; what is opened holds the recorded numbers of exactly that head."""

import io
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, expect

from app.text import sentences
from model.trace import Trace
from model.translator import Translator
from tests.browser import attention
from tests.browser.attention import CROSS, DECODER, ENCODER, AttentionMap, Visitor, eventually, numbers, parameters, type_sentence

SENTENCE = "The cat saw the extraordinarily tall dog."
TARGET = "Le chat a vu le chien."  # forced, so that the rows are known


@pytest.fixture(scope="module")
def trace(french: Translator) -> Trace:
    return french.trace(SENTENCE, TARGET)


@pytest.fixture(scope="module")
def visitor(server: str, browser: BrowserContext) -> Iterator[Visitor]:
    """Follows a link to one head for `SENTENCE` and `TARGET`; what is typed in the last test changes that."""
    link = {"model": "en-fr", "text": SENTENCE, "target": TARGET, "attention": DECODER, "layer": 2, "head": "mean"}
    with attention.visitor(browser, server, "heads", lang="en", **link) as visitor:
        yield visitor


def open_head(shown: AttentionMap, which: str, layer: int, head: int | str) -> None:
    shown.get(f"map-{which}-{layer}-{head}").click()
    expect(shown.get(f"map-{which}-{layer}-{head}")).to_have_attribute("aria-pressed", "true")


def test_any_head_opens_without_a_message_and_says_its_own_weights(visitor: Visitor, trace: Trace) -> None:
    page, shown = visitor.page, visitor.at_first()
    linked = shown.text["attention_map.opened_mean"].format(attention=shown.text["attention_map.decoder_self_attention"], layer=3)
    expect(shown.get("opened-title")).to_have_text(linked)
    shown.check_table(numbers(trace, DECODER, 2, "mean"))
    maps = shown.root.locator("button.map").count()
    assert (
        maps
        == sum(trace[f"{stack}.layers.0.self_attention.weights"].size("head") + 1 for stack in ("encoder", "decoder", "decoder"))
        * 3
    )
    sent = visitor.sent()
    heads: list[tuple[str, int, int | str]] = [
        (ENCODER, 2, 3),
        (ENCODER, 0, 0),
        (DECODER, 1, 2),
        (CROSS, 2, 1),
        (CROSS, 0, "mean"),
    ]
    for which, layer, head in heads:
        open_head(shown, which, layer, head)
        right = numbers(trace, which, layer, head)  # type: ignore[arg-type]
        shown.check_table(right)
        shown.check_cell(shown.cursor(3, 2), right, 3, 2, layer, head)  # type: ignore[arg-type]
        assert {name: parameters(page)[name] for name in ("attention", "layer", "head")} == {
            "attention": which,
            "layer": str(layer),
            "head": str(head),
        }
    assert visitor.sent() == sent


def test_masked_cells_of_the_decoder_are_no_numbers_and_its_keys_are_always_those_read(visitor: Visitor, trace: Trace) -> None:
    page, shown = visitor.page, visitor.at_first()
    open_head(shown, DECODER, 1, 0)
    produced = numbers(trace, DECODER, 1, 0)
    assert produced.masked.sum() == sum(range(len(trace.target)))  # all above the diagonal
    assert produced.rows == tuple(token.label for token in trace.produced)
    assert produced.columns == tuple(token.label for token in trace.target)
    shown.check_table(produced)
    shown.check_cell(shown.cursor(2, 2), produced, 2, 2, 1, 0)
    page.keyboard.press("ArrowRight")
    expect(shown.get("live")).to_have_attribute("data-key", "3")
    assert "masked" in shown.said()
    shown.check_cell(shown.said(), produced, 2, 3, 1, 0)
    page.keyboard.press("End")
    last = len(trace.target) - 1
    expect(shown.get("live")).to_have_attribute("data-key", str(last))
    page.keyboard.press("ArrowRight")  # the cursor stays inside
    shown.check_cell(shown.said(), produced, 2, last, 1, 0)

    shown.pick("row", "read")
    read = numbers(trace, DECODER, 1, 0, row="read")
    assert read.rows == read.columns == tuple(token.label for token in trace.target)
    shown.check_table(read)
    shown.check_cell(shown.cursor(4, 1), read, 4, 1, 1, 0)
    attention.check_csv(shown.save("csv"), read, TARGET, sentences("en")["attention_map.convention_read"])


def test_words_and_hidden_special_tokens_of_an_encoder_head(visitor: Visitor, trace: Trace) -> None:
    shown = visitor.at_first(unit="words")
    open_head(shown, ENCODER, 2, 1)
    words = numbers(trace, ENCODER, 2, 1, unit="words")
    assert len(words.rows) < len(trace.source)
    shown.check_table(words)
    shown.get("control-special").check()
    hidden = numbers(trace, ENCODER, 2, 1, unit="words", hide_special=True)
    assert hidden.weights.sum(1) == pytest.approx(1)
    shown.check_table(hidden)
    said = shown.cursor(1, 0)
    shown.check_cell(said, hidden, 1, 0, 2, 1)
    assert abs(float(said.rstrip(".").rpartition(" ")[2]) - hidden.removed[1]) <= attention.ROUNDED
    attention.check_csv(shown.save("csv"), hidden, sentences("en")["attention_map.removed_mean"].partition("{")[0])


def test_reset_and_escape_go_back_to_the_first_view(visitor: Visitor) -> None:
    page, shown = visitor.page, visitor.at_first()
    if shown.get("opened").is_visible():
        shown.get("reset").click()
    page.mouse.move(0, 0)
    first = shown.picture("overview")
    for leave in ("button", "Escape"):
        open_head(shown, DECODER, 0, 1)
        alone = shown.picture("lines")
        shown.get("overlay-3").click()
        expect(shown.get("overlay-3")).to_have_attribute("aria-pressed", "true")
        assert shown.picture("lines") != alone
        assert shown.cursor(1, 1)
        if leave == "button":
            shown.get("reset").click()
        else:
            page.keyboard.press("Escape")  # lets go of the cell
            expect(shown.get("live")).to_be_empty()
            page.keyboard.press("Escape")  # and of the head
        expect(shown.get("opened")).to_be_hidden()
        page.mouse.move(0, 0)
        eventually(lambda: shown.picture("overview"), first)
        assert not {"layer", "head"} & parameters(page).keys()


def test_a_long_sentence_is_pooled_and_an_opened_head_is_exact(server: str, browser: BrowserContext, french: Translator) -> None:
    long = " ".join(["The cat saw the dog and the dog saw the cat ,"] * 13) + " ."
    trace = french.trace(long, TARGET)
    assert 128 < len(trace.source) <= 200
    with attention.visitor(browser, server, "heads", lang="en", model="en-fr", text=long, target=TARGET) as reader:
        page, shown = reader.page, reader.at_first()
        expect(shown.get("pooled")).to_be_visible()
        sent = reader.sent()
        open_head(shown, ENCODER, 1, 2)
        right = numbers(trace, ENCODER, 1, 2)
        expect(shown.get("loading")).to_be_hidden()
        shown.check_cell(shown.cursor(1, 0), right, 1, 0, 1, 2)
        assert reader.sent() == sent + 1
        page.keyboard.press("Control+End")
        corner = len(trace.source) - 1
        expect(shown.get("live")).to_have_attribute("data-key", str(corner))
        shown.check_cell(shown.said(), right, corner, corner, 1, 2)
        rows = shown.table()[1:]  # in a long head the table is of the current row
        assert [row[1] for row in rows] == list(right.columns)
        assert [float(row[2]) for row in rows] == pytest.approx(right.weights[corner], abs=attention.ROUNDED)


def test_files_hold_what_is_on_the_screen(visitor: Visitor, trace: Trace) -> None:
    page, shown = visitor.page, visitor.at_first()
    open_head(shown, DECODER, 2, 3)
    attention.check_csv(
        shown.save("csv"), numbers(trace, DECODER, 2, 3), SENTENCE, TARGET, "decoder.layers.2.self_attention.weights[0, 3]"
    )
    for kind in ("svg", "overview-svg"):
        svg = shown.save(kind)
        caption = "".join(text for text, *_ in attention.drawn(svg)).translate({0x2068: None, 0x2069: None})
        assert SENTENCE.replace(" ", "") in caption.replace(" ", "")
        assert sum(node.get("fill") == "url(#masked)" for node in ElementTree.fromstring(svg).iter(f"{attention.SVG}rect")) > 2
    for kind in ("png", "overview-png"):
        assert shown.save(kind).startswith(b"\x89PNG\r\n\x1a\n")
    with page.expect_download() as saved:
        page.locator(".st-key-npz_heads button").click()
    arrays = np.load(io.BytesIO(attention.saved_bytes(saved.value)))
    weights = {name for name in trace if name.endswith(".weights")}
    assert weights <= set(arrays.files)
    for name in weights:
        np.testing.assert_allclose(arrays[name], trace[name].tensor[0].numpy(), atol=1e-6)


def test_in_chinese(visitor: Visitor, trace: Trace) -> None:
    page, shown = visitor.page, visitor.at_first()
    open_head(shown, DECODER, 1, 1)
    last = len(trace.target) - 1
    right = numbers(trace, DECODER, 1, 1)
    for lang, name in (("zh", "中文"), ("en", "English")):
        page.locator(".st-key-language").get_by_text(name).click()
        shown, text = AttentionMap(page, lang), sentences(lang)
        title = text["attention_map.opened"].format(attention=text["attention_map.decoder_self_attention"], layer=2, head=2)
        expect(shown.get("opened-title")).to_have_text(title)
        expect(shown.get("control-attention")).to_contain_text(text["attention_map.all_attentions"])
        shown.check_cell(shown.cursor(1, 0), right, 1, 0, 1, 1)
        page.keyboard.press("End")
        expect(shown.get("live")).to_have_attribute("data-key", str(last))
        shown.check_cell(shown.said(), right, 1, last, 1, 1)


def test_one_word_reads_itself(visitor: Visitor, french: Translator) -> None:
    type_sentence(visitor.page, "Hi")
    trace = french.trace("Hi")
    shown = visitor.at_first(unit="words")
    open_head(shown, ENCODER, 1, 0)
    eventually(lambda: shown.table()[0][1:], ["Hi", "</s>"])
    shown.check_table(numbers(trace, ENCODER, 1, 0, unit="words"))
    shown.get("control-special").check()
    assert shown.table()[1:] == [["Hi", "1.0000"]]


def test_an_opened_head_can_be_stepped_through(visitor: Visitor) -> None:
    page, shown = visitor.page, visitor.at_first()
    open_head(shown, ENCODER, 1, 2)
    shown.get("step-into").click()
    page.wait_for_url("**/attention?**")
    expect(page.get_by_test_id("matrices").first).to_be_visible()
    assert {name: parameters(page)[name] for name in ("attention", "layer", "head")} == {
        "attention": ENCODER,
        "layer": "1",
        "head": "2",
    }
