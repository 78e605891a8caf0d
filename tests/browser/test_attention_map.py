"""The attention map in a browser, on traces made by hand: every number that it shows is computed a second time here."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Locator, Page

from app.components.attention_map import pack_detail
from model.trace import Trace
from tests.browser import standalone
from tests.components import synthetic

SOURCE, TARGET = ["un", "happy", "the", "the", "."], ["mal", "heur", "eux", "le", "le"]
WORDS = {"source": (0, 0, 1, 2, 3, 4), "target": (0, 1, 1, 1, 2, 3), "produced": (0, 0, 0, 1, 2, 3)}
CROSS, DECODER, ENCODER = "decoder.cross_attention", "decoder.self_attention", "encoder.self_attention"
Show = Callable[..., Page]


@pytest.fixture
def show(browser: BrowserContext) -> Iterator[Show]:
    """Open a trace in a tab of its own; a script error fails the test at its end."""
    pages: list[Page] = []
    errors: list[str] = []

    def show(
        trace: Trace, *, width: int = 1280, dark: bool = False, query: dict[str, object] | None = None, **options: Any
    ) -> Page:
        page = standalone.visit(browser, standalone.payload(trace, **options), width=width, dark=dark, query=query)
        page.on("pageerror", lambda error: errors.append(str(error)))
        pages.append(page)
        return page

    yield show
    for page in pages:
        page.close()
    assert not errors, errors


@pytest.fixture
def trace() -> Trace:
    return synthetic.trace(SOURCE, TARGET, source_text="unhappy the the .", target_text="malheureux le le", layers=2, heads=3)


def weights(trace: Trace, attention: str, layer: int, head: int | str) -> np.ndarray:
    stack, name = attention.split(".")
    values = trace[f"{stack}.layers.{layer}.{name}.weights"].tensor[0].double().numpy()
    return values.mean(axis=0) if head == "mean" else values[head]


def groups(trace: Trace, side: str, unit: str, *, hide: bool) -> list[list[int]]:
    """The positions behind each row or column, counted by hand."""
    tokens = getattr(trace, side)
    word_of = WORDS[side] if unit == "words" else range(len(tokens))
    found: dict[int, list[int]] = {}
    for position, word in enumerate(word_of):
        if not (hide and tokens[position].special):
            found.setdefault(word, []).append(position)
    return list(found.values())


def expected(trace: Trace, attention: str, layer: int, head: int | str, *, row: str, unit: str, special: str) -> np.ndarray:
    """Sum over key pieces, mean over query pieces; then special keys out and what is left scaled back to the row's sum."""
    hide = special == "hide"
    query = "source" if attention == ENCODER else "produced" if row == "produced" else "target"
    rows = groups(trace, query, unit, hide=hide)
    columns = groups(trace, "target" if attention == DECODER else "source", unit, hide=hide)
    values = weights(trace, attention, layer, head)
    table = np.array([[values[np.ix_(r, c)].sum(axis=1).mean() for c in columns] for r in rows])
    if not hide:
        return table
    kept = table.sum(axis=1, keepdims=True)
    return np.divide(table, kept, out=np.full_like(table, np.nan), where=kept > 1e-3)


def table(page: Page) -> list[list[str]]:
    twin = page.get_by_test_id("table")
    if twin.get_attribute("open") is None:
        twin.locator("summary").click()
    twin.locator("td").first.wait_for()
    found: list[list[str]] = twin.locator("tbody").evaluate(
        "body => [...body.rows].map(row => [...row.querySelectorAll('td')].map(cell => cell.innerText))"
    )
    return found


def point_at(page: Page, row: int, column: int) -> Locator:
    """The keyboard cursor on a cell."""
    page.get_by_test_id("matrix").focus()
    page.keyboard.press("Control+Home")
    for key, count in (("ArrowDown", row), ("ArrowRight", column)):
        for _ in range(count):
            page.keyboard.press(key)
    return page.get_by_test_id("live")


@pytest.mark.parametrize(
    ("attention", "head", "row"),
    [(CROSS, 1, "produced"), (CROSS, "mean", "read"), (DECODER, 2, "produced"), (ENCODER, 0, "read")],
)
def test_the_table_holds_the_weights(show: Show, trace: Trace, attention: str, head: int | str, row: str) -> None:
    page = show(trace, words=WORDS, query={"attention": attention, "layer": 1, "head": head, "row": row})
    for unit in ("pieces", "words"):
        page.get_by_test_id(f"unit-{unit}").click()
        for special in ("show", "hide"):
            page.get_by_test_id("control-special").set_checked(special == "hide")
            wanted = expected(trace, attention, 1, head, row=row, unit=unit, special=special)
            assert_same(table(page), wanted)


def assert_same(shown: list[list[str]], wanted: np.ndarray) -> None:
    assert [len(line) for line in shown] == [wanted.shape[1]] * wanted.shape[0]
    for cell, number in zip((cell for line in shown for cell in line), wanted.flat, strict=True):
        if cell in ("–", "no key allowed", "all of it on special tokens"):
            assert number == 0 or np.isnan(number)
        else:
            digits = len(cell.partition(".")[2])
            assert float(cell) == pytest.approx(number, abs=0.51 * 10**-digits + 3e-5)


def test_the_cell_under_the_cursor_is_said_with_both_tokens_and_places(show: Show, trace: Trace) -> None:
    page = show(trace, query={"attention": CROSS, "layer": 0, "head": 2})
    said = point_at(page, 1, 3).inner_text().replace("\u2068", "").replace("\u2069", "")
    assert said == f"“heur” (position 1) reads {weights(trace, CROSS, 0, 2)[1, 3]:.4f} from “the” (position 3). Layer 1, head 3."


def test_the_cell_under_the_pointer_is_said(show: Show, trace: Trace) -> None:
    page = show(trace, query={"attention": ENCODER, "layer": 1, "head": 0})
    box = page.get_by_test_id("matrix").locator("canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.6)
    live = page.get_by_test_id("live")
    live.filter(has_text="reads").wait_for()
    row, column = (int(live.get_attribute(f"data-{name}") or -1) for name in ("query", "key"))
    assert f"{weights(trace, ENCODER, 1, 0)[row, column]:.4f}" in live.inner_text()
    page.mouse.move(2, 2)
    page.wait_for_function("!document.querySelector('#host').shadowRoot.querySelector('[data-testid=live]').textContent")


def test_equal_words_keep_their_own_rows_and_columns(show: Show, trace: Trace) -> None:
    page = show(trace, query={"attention": CROSS, "layer": 0, "head": 0})
    values = weights(trace, CROSS, 0, 0)
    for row, column in ((3, 2), (3, 3), (4, 2), (4, 3)):
        live = point_at(page, row, column).inner_text()
        assert f"{values[row, column]:.4f}" in live
        assert f"position {row}" in live
        assert f"position {column}" in live


def test_masked_cells_and_rows_are_said_to_be_masked(show: Show) -> None:
    page = show(synthetic.trace(SOURCE, TARGET, dead_query=2), query={"attention": DECODER, "layer": 0, "head": 0})
    assert "masked" in point_at(page, 0, 1).inner_text()
    assert "no key allowed" in point_at(page, 2, 0).inner_text()
    assert table(page)[2] == ["no key allowed"] * 6


def test_everything_on_hidden_tokens_is_said_and_not_scaled_up(show: Show, trace: Trace) -> None:
    page = show(trace, query={"attention": DECODER, "layer": 0, "head": 0, "special": "hide"})
    assert "1.0000 of this row lies on special tokens" in point_at(page, 0, 0).inner_text()
    assert set(table(page)[0]) == {"all of it on special tokens"}
    removed = weights(trace, DECODER, 0, 0)[:5, 0]
    assert f"{removed.mean():.4f} on average" in page.get_by_test_id("note").inner_text()
    assert f"special tokens: {removed[3]:.4f}" in point_at(page, 3, 1).inner_text()


def test_switching_sends_no_message(show: Show, trace: Trace) -> None:
    page = show(trace, words=WORDS)
    page.get_by_test_id(f"map-{CROSS}-1-2").click()
    for name in (
        "layer-0",
        "head-mean",
        "row-read",
        "unit-words",
        "scale-map",
        f"attention-{ENCODER}",
        "control-special",
        "overlay-1",
    ):
        before = int(page.get_by_test_id("attention-map").get_attribute("data-painted") or 0)
        page.get_by_test_id(name).click()
        assert int(page.get_by_test_id("attention-map").get_attribute("data-painted") or 0) > before
    assert standalone.sent(page) == []


def test_a_choice_stands_in_the_url_beside_the_parameters_of_the_server(show: Show, trace: Trace) -> None:
    page = show(trace, query={"lang": "en", "text": "a%20b", "layer": 99, "row": "nonsense"})
    page.get_by_test_id(f"map-{DECODER}-1-2").click()
    page.get_by_test_id("row-read").click()
    found = {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}
    assert found == {
        "lang": "en", "text": "a b", "attention": DECODER, "overview": "all", "layer": "1", "head": "2",
        "row": "read", "unit": "pieces", "special": "show", "scale": "unit",
    }  # fmt: skip
    page.reload()
    page.wait_for_selector("[data-testid=attention-map][data-painted]")
    assert page.get_by_test_id("opened-title").inner_text() == "Decoder self-attention, layer 2, head 3"


def test_this_tab_remembers_where_the_url_says_nothing(show: Show, trace: Trace) -> None:
    page = show(trace)
    page.get_by_test_id(f"map-{CROSS}-1-1").click()
    page.goto(standalone.ADDRESS)
    page.wait_for_selector("[data-testid=attention-map][data-painted]")
    assert page.get_by_test_id("opened-title").inner_text() == "Cross-attention, layer 2, head 2"


def test_reset_and_escape_go_back_to_the_first_view(show: Show, trace: Trace) -> None:
    page = show(trace)
    overview = page.get_by_test_id("overview")
    first = overview.screenshot()
    for way in ("button", "escape"):
        page.get_by_test_id(f"map-{CROSS}-0-1").click()
        point_at(page, 2, 2)
        if way == "button":
            page.get_by_test_id("reset").click()
        else:
            page.keyboard.press("Escape")
            assert page.get_by_test_id("live").inner_text() == ""
            page.keyboard.press("Escape")
        assert not page.get_by_test_id("opened").is_visible()
        page.evaluate("document.querySelector('#host').shadowRoot.activeElement?.blur()")
        page.mouse.move(0, 0)
        assert overview.screenshot() == first


def test_the_keyboard_alone_opens_a_head(show: Show, trace: Trace) -> None:
    page = show(trace)
    page.get_by_test_id(f"map-{ENCODER}-0-0").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.get_by_test_id("opened-title").inner_text() == "Encoder self-attention, layer 2, head 2"


def test_typed_markup_stays_text(show: Show) -> None:
    odd = ["<img/src=x>", "&lt;", "$x$", "**b**", "1E1", "NaN", "مرحبا", "123"]
    page = show(synthetic.trace(odd, odd), query={"attention": CROSS, "layer": 0, "head": 0})
    table(page)
    for column, word in enumerate(odd):
        assert f"“\u2068{word}\u2069” (position {column})." in point_at(page, 0, column).inner_text()
    assert page.locator("img, script:not([type=module])").count() == 0


def test_one_token_is_one_cell(show: Show) -> None:
    page = show(synthetic.trace(["go"], [], heads=1), query={"attention": DECODER, "layer": 0, "head": 0})
    assert table(page) == [["1.0000"]]


def test_a_long_head_is_asked_for_once_and_exact(show: Show) -> None:
    long = synthetic.long_trace(140, layers=2, heads=2)
    page = show(long)
    said = page.get_by_test_id("pooled")
    assert "2 × 2" in said.inner_text()
    assert "the switches act" not in said.inner_text()
    page.get_by_test_id("control-special").check()
    assert "the switches act on the head that is opened" in said.inner_text()
    page.get_by_test_id("control-special").uncheck()
    page.get_by_test_id(f"map-{CROSS}-1-0").click()
    asked = {"attention": CROSS, "layer": 1, "head": 0}
    assert standalone.sent(page) == [["open", asked]]
    assert page.get_by_test_id("loading").is_visible()
    page.evaluate("text => { window.send(text); }", standalone.encoded(standalone.payload(long) + pack_detail(long, **asked)))
    assert f"{weights(long, CROSS, 1, 0)[3, 7]:.4f}" in point_at(page, 3, 7).inner_text()
    page.get_by_test_id("unit-words").click()
    page.get_by_test_id("reset").click()
    page.get_by_test_id(f"map-{CROSS}-1-0").click()
    assert not page.get_by_test_id("loading").is_visible()
    assert len(standalone.sent(page)) == 1


def test_new_data_keeps_the_choice_and_the_same_data_changes_nothing(show: Show, trace: Trace) -> None:
    page = show(trace, query={"attention": CROSS, "layer": 1, "head": 1, "row": "read"})
    painted = page.get_by_test_id("attention-map").get_attribute("data-painted")
    page.evaluate("text => { window.send(text); }", standalone.encoded(standalone.payload(trace)))
    assert page.get_by_test_id("attention-map").get_attribute("data-painted") == painted
    other = synthetic.trace(["a", "b"], ["c"], heads=3, seed=5)
    page.evaluate("text => { window.send(text); }", standalone.encoded(standalone.payload(other)))
    assert page.get_by_test_id("opened-title").inner_text() == "Cross-attention, layer 2, head 2"
    assert f"{weights(other, CROSS, 1, 1)[1, 2]:.4f}" in point_at(page, 1, 2).inner_text()
    assert "“\u2068c\u2069”" in page.get_by_test_id("live").inner_text()


def test_a_word_lights_up_its_row_and_the_sentence_says_it(show: Show, trace: Trace) -> None:
    page = show(trace, view="linked", defaults={"layer": 1, "head": 2})
    row = weights(trace, CROSS, 1, 2)[3]
    best = int(row.argmax())
    page.get_by_test_id("target-3").hover()
    page.get_by_test_id("sentence").filter(has_text="was produced").wait_for()
    sentence = page.get_by_test_id("sentence").inner_text()
    assert f"“le” was produced with probability {np.exp(trace.log_probabilities[3]):.2f}." in sentence
    assert f"layer 2, head 3 it read mostly from “{trace.source[best].label}” ({row[best]:.2f})" in sentence
    assert f"{row[best]:.4f}" in page.get_by_test_id("live").inner_text()
    page.get_by_test_id("row-read").click()
    page.get_by_test_id("target-4").hover()
    page.get_by_test_id("live").filter(has_text="position 4").wait_for()
    assert f"{weights(trace, CROSS, 1, 2)[4].max():.4f}" in page.get_by_test_id("live").inner_text()
    assert f"probability {np.exp(trace.log_probabilities[3]):.2f}" in page.get_by_test_id("sentence").inner_text()


def test_every_step_says_what_it_read_wrote_and_looked_at(show: Show, trace: Trace) -> None:
    page = show(trace, view="linked", defaults={"layer": 0, "head": 1})
    values = weights(trace, CROSS, 0, 1)
    for step in range(len(trace.produced)):
        cells = page.get_by_test_id(f"step-{step}").locator("td").all_inner_texts()
        best = int(values[step].argmax())
        assert cells[:4] == [
            str(step + 1),
            trace.target[step].label,
            trace.produced[step].label,
            f"{np.exp(trace.log_probabilities[step]):.2f}",
        ]
        assert cells[4].split() == [trace.source[best].label, f"{values[step, best]:.2f}"]


def download(page: Page, name: str) -> bytes:
    with page.expect_download() as event:
        page.get_by_test_id(name).click()
    return Path(event.value.path()).read_bytes()


def test_exports_say_what_they_are(show: Show, trace: Trace) -> None:
    page = show(trace, query={"attention": CROSS, "layer": 1, "head": 0, "row": "read"})
    svg = download(page, "svg").decode()
    assert "decoder.layers.1.cross_attention.weights[0, 0]" in re.sub(r"</text>\s*<text[^>]*>", "", svg)
    assert all(token.label.replace("<", "&lt;").replace(">", "&gt;") in svg for token in trace.target)
    assert download(page, "png").startswith(b"\x89PNG")
    rows = list(csv.DictReader(io.StringIO(download(page, "csv").decode("utf-8-sig"))))
    values = weights(trace, CROSS, 1, 0)
    assert len(rows) == values.size
    for line, (row, column) in zip(rows, np.ndindex(*values.shape), strict=True):
        assert (line["query"], line["key"]) == (trace.target[row].label, trace.source[column].label)
        assert (line["query_position"], line["key_position"]) == (str(row), str(column))
        assert line["weight"] == f"{values[row, column]:.4f}"
    assert "named by the token that the row reads" in rows[0]["caption"]


def test_what_is_hidden_and_which_way_a_label_reads_stand_in_the_picture(show: Show) -> None:
    words = ["اشتريت", "IBM", "٣", "שלום"]
    page = show(synthetic.trace(words, words), query={"attention": CROSS, "layer": 0, "head": 0, "special": "hide"})
    svg = download(page, "svg").decode()
    directions = {word: set(re.findall(rf'<text[^>]*?(direction="rtl" )?style="[^"]*">{word}</text>', svg)) for word in words}
    assert directions == {word: {'direction="rtl" ' if word in ("اشتريت", "שלום") else ""} for word in words}
    assert "Special tokens are hidden and each row is renormalised to 1." in download(page, "overview-svg").decode()


def test_a_label_in_a_file_is_no_formula(show: Show) -> None:
    """Spreadsheets compute what begins like a formula; a token may have been typed by anybody."""
    target = ["=1+1", "@home", "－7", "-5", "-0.25", "-cat", "a=b"]
    shown = synthetic.trace(["one", "two"], target)
    page = show(shown, query={"attention": CROSS, "layer": 0, "head": 0, "row": "read"})
    rows = list(csv.DictReader(io.StringIO(download(page, "csv").decode("utf-8-sig"))))
    labels = list(dict.fromkeys(row["query"] for row in rows))
    assert labels == ["<s>", "'=1+1", "'@home", "'－7", "-5", "-0.25", "'-cat", "a=b"]


@pytest.mark.parametrize("view", ["heads", "linked"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page(show: Show, trace: Trace, view: str, width: int) -> None:
    page = show(trace, view=view, width=width, dark=True, language="zh", query={"layer": 0, "head": 0})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_clean_up_lets_go(show: Show, trace: Trace) -> None:
    page = show(trace)
    painted = page.get_by_test_id("attention-map").get_attribute("data-painted")
    page.evaluate("window.close_map()")
    page.set_viewport_size({"width": 800, "height": 700})
    page.wait_for_timeout(100)
    assert page.get_by_test_id("attention-map").get_attribute("data-painted") == painted
