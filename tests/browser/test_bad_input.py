"""Awkward sentences: each gives a correct picture or a clear message, and whatever was typed is shown as typed.

One visitor types one sentence after another; each test says what it typed. The cases come from bug reports against
comparable programs (equal words, words like numbers, markup, other scripts, characters that cannot be seen).
"""

import itertools
from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import BrowserContext, Page, expect

import model
from app.text import sentences
from model.translator import Translator
from tests.browser import application, attention
from tests.browser.attention import CROSS, AttentionMap, Visitor, eventually, numbers, parameters, type_sentence

ENGLISH = sentences("en")
LIMIT = 200


@pytest.fixture(scope="module")
def visitor(server: str, browser: BrowserContext) -> Iterator[Visitor]:
    with attention.visitor(browser, server, lang="en", model="en-fr", layer=1, head=0) as visitor:
        yield visitor


@pytest.fixture
def page(visitor: Visitor) -> Page:
    return visitor.page


def shown_for(page: Page, french: Translator, sentence: str) -> AttentionMap:
    """Type a sentence and wait for its picture: every source label must be that of the tokenizer, the echo what was typed."""
    type_sentence(page, sentence)
    shown = AttentionMap(page)
    as_at_first(shown)
    eventually(lambda: shown.labels("source"), [token.label for token in french.source_tokens(sentence)])
    assert echoed(page) == sentence
    return shown


def check_rows(shown: AttentionMap, labels: Sequence[str]) -> None:
    """A row for every produced token, hidden ones too, under its own label."""
    eventually(lambda: shown.get("steps").locator("td.writes").all_text_contents(), list(labels))


def as_at_first(shown: AttentionMap) -> None:
    """By piece, special tokens shown: the test before may have left other switches."""
    if shown.get("unit-words").get_attribute("aria-checked") == "true":
        shown.pick("unit", "pieces")
    shown.get("control-special").uncheck()


def echoed(page: Page) -> str:
    """The sentence as the sidebar repeats it."""
    return page.locator(".atlas-box").text_content() or ""


def notices(page: Page) -> list[str]:
    return page.locator(".atlas-notice").all_text_contents()


def write_target(page: Page, target: str) -> None:
    """Write the translation by hand."""
    page.get_by_role("button", name=ENGLISH["translate.edit"]).click()
    box = page.get_by_role("textbox", name=ENGLISH["translate.target"])
    box.fill(target)
    box.press("Control+Enter")
    eventually(lambda: parameters(page).get("target"), target)
    application.settle(page)


def columns(svg: bytes, labels: list[str]) -> list[tuple[float, float]]:
    """Where the picture has these labels, drawn one after the other."""
    texts = attention.drawn(svg)
    names = [text for text, *_ in texts]
    last: list[tuple[float, float]] = []
    for start in range(len(names)):
        if names[start : start + len(labels)] == labels:
            places = [(x, y) for _, x, y in texts[start : start + len(labels)]]
            if len({y for _, y in places}) == 1 and len(labels) > 1:
                last = places
    return last


# ----- labels


def test_repeated_words_keep_their_own_rows_and_columns(page: Page, french: Translator) -> None:
    source, target = "the cat sees the dog and the horse", "le chat voit le chien et le cheval"
    shown = shown_for(page, french, source)
    write_target(page, target)
    trace = french.trace(source, target)
    check_rows(shown, [token.label for token in trace.produced])
    right = numbers(trace, CROSS, 1, 0)
    shown.check_table(right)
    thes, les = (
        [i for i, label in enumerate(side) if label == word] for side, word in ((right.columns, "the"), (right.rows, "le"))
    )
    assert (len(thes), len(les)) == (3, 3)
    for row, column in zip(les, thes, strict=True):
        shown.check_cell(shown.cursor(row, column), right, row, column, 1, 0)
        shown.get(f"source-{column}").hover()
        eventually(lambda column=column: shown.get("live").get_attribute("data-key"), str(column))
    page.mouse.move(0, 0)
    places = columns(shown.save("svg"), list(right.columns))
    widths = [round(there - here, 1) for (here, _), (there, _) in itertools.pairwise(places)]
    assert len(set(widths)) == 1  # each its own column, all as wide
    assert widths[0] > 10


def test_words_like_numbers_and_dates_stay_labels(page: Page, french: Translator) -> None:
    source = "1 2 10 2024-05-06 1E1 3.50 007 NaN inf ."
    shown = shown_for(page, french, source)
    shown.pick("unit", "words")
    right = numbers(french.trace(source), CROSS, 1, 0, unit="words")
    shown.check_table(right)
    assert "".join(right.columns[:-1]) == source.replace(" ", "")  # whatever counts as a word: in order, as typed
    places = columns(shown.save("svg"), list(right.columns))
    widths = [there - here for (here, _), (there, _) in itertools.pairwise(places)]
    assert max(widths) - min(widths) < 0.1


def test_markup_stays_text_and_nothing_runs(page: Page, french: Translator) -> None:
    source = 'a<b & &lt;tag&gt; <script>document.title="x"</script> $5 or $6, *stars* __init__'
    target = '<img src=x onerror="document.title=1"> <b>gras</b> # [x] `tick` :red[plain] ~~no~~'
    title = page.title()
    shown = shown_for(page, french, source)
    write_target(page, target)
    trace = french.trace(source, target)
    check_rows(shown, [token.label for token in trace.produced])
    for unit in ("words", "pieces"):
        shown.pick("unit", unit)
        shown.check_table(numbers(trace, CROSS, 1, 0, unit=unit))  # type: ignore[arg-type]
    svg = shown.save("svg")
    caption = "".join(text for text, *_ in attention.drawn(svg)).translate({0x2068: None, 0x2069: None}).replace(" ", "")
    assert f"{source} → {target}".replace(" ", "") in caption
    assert not [part for part in (b"<script", b"<img", b"<b>", b'onerror="') if part in svg]
    assert source in attention.csv_caption(shown.save("csv"))
    assert page.title() == title
    for made in ('img[src="x"]', "b:text-is('gras')", "em:text-is('stars')", "code:text-is('tick')", "s:text-is('no')"):
        assert page.locator(made).count() == 0, made
    assert page.locator(".st-key-stage .katex, [data-testid=stSidebar] .katex, .st-key-answer .katex").count() == 0


def test_right_to_left_words_keep_their_order(page: Page, french: Translator) -> None:
    source = "I bought 3 books from IBM שלום עולם 42"
    target = "اشتريت 3 كتب من IBM"
    shown = shown_for(page, french, source)
    write_target(page, target)
    trace = french.trace(source, target)
    check_rows(shown, [token.label for token in trace.produced])
    shown.pick("unit", "words")
    right = numbers(trace, CROSS, 1, 0, unit="words")
    shown.check_table(right)
    assert "اشتريت" in right.rows[0]
    shown.check_cell(shown.cursor(0, 0), right, 0, 0, 1, 0)
    places = [(round(top), left) for left, top, *_ in shown.boxes("source")]
    assert places == sorted(places)  # in reading order, not mirrored
    assert shown.get("source-6").evaluate("button => button.dir") == "auto"
    svg = shown.save("svg")
    places = columns(svg, list(right.columns))
    assert places == sorted(places)
    assert svg.count(b"unicode-bidi:isolate") == svg.count(b"<text")  # digits and Latin letters keep their places inside


# ----- tokens


def test_characters_that_cannot_be_seen_do_not_shift_the_words_after_them(page: Page, french: Translator) -> None:
    source = "one \U000f0000 two \u200b three \x07 four"  # a private-use character, a space of no width, a control character
    shown = shown_for(page, french, source)
    shown.pick("unit", "words")
    right = numbers(french.trace(source), CROSS, 1, 0, unit="words")
    eventually(lambda: tuple(shown.labels("source")), right.columns)
    for word in ("one", "two", "three", "four"):
        shown.check_cell(shown.cursor(0, right.columns.index(word)), right, 0, right.columns.index(word), 1, 0)


def test_unknown_words_are_named_and_stay_apart(page: Page, french: Translator) -> None:
    source = "my ☃ likes 漢 and ⚗"
    trace = french.trace(source)
    unknown = [(position, token) for position, token in enumerate(trace.source) if token.unknown]
    assert len(unknown) == 3
    shown = shown_for(page, french, source)
    named = ", ".join(f"{token.text} ({position})" for position, token in unknown)
    assert any("3" in notice and named in notice for notice in notices(page))
    labels = shown.labels("source")
    assert [labels[position] for position, _ in unknown] == [f"<unk> {token.text}" for _, token in unknown]
    for position, _ in unknown:
        right = numbers(trace, CROSS, 1, 0)
        shown.check_cell(shown.cursor(0, position), right, 0, position, 1, 0)

    write_target(page, "mon ☃")
    forced = french.trace(source, "mon ☃")
    row = next(row for row, token in enumerate(forced.produced) if token.unknown)
    eventually(lambda: any(f"☃ ({row})" in notice for notice in notices(page)), True)
    eventually(lambda: shown.get(f"target-{row}").get_attribute("aria-label").startswith("<unk> ☃"), True)


def test_special_tokens_that_are_typed_are_text(page: Page, french: Translator) -> None:
    source = "<s> good </s> <pad> <unk>"
    trace = french.trace(source)
    shown = shown_for(page, french, source)
    assert [token.special for token in trace.source] == [False] * (len(trace.source) - 1) + [True]
    shown.get("control-special").check()
    eventually(lambda: shown.labels("source"), [token.label for token in trace.source[:-1]])
    assert "".join(token.text for token in trace.source[:-1]) == source.replace(" ", "")
    reads = shown.get("steps").locator("tbody tr td:nth-child(2)").all_text_contents()
    assert reads.count("<s>") == 1  # the start is added once


def test_one_word(page: Page, french: Translator) -> None:
    shown = shown_for(page, french, "Hi")
    shown.pick("unit", "words")
    shown.get("control-special").check()
    right = numbers(french.trace("Hi"), CROSS, 1, 0, unit="words", hide_special=True)
    assert right.columns == ("Hi",)
    shown.check_table(right)


@pytest.mark.parametrize("source", ["ha " * 11 + "ha", "12.1 C | MENU | RADIO | 08:05", "。"])
def test_output_that_never_ends_or_is_empty_is_said(page: Page, french: Translator, source: str) -> None:
    own = french.translate(source)
    shown = shown_for(page, french, source)
    written = [token.label for token in own.produced] + ["</s>"] * (own.stopped == "limit")
    check_rows(shown, written)
    stopped = ENGLISH["translate.stopped"].replace("`", "").format(count=len(own.produced))
    assert (stopped in notices(page)) == (own.stopped == "limit")
    assert (ENGLISH["translate.empty"].replace("`", "") in notices(page)) == (len(own.produced) == 1)


# ----- limits


def test_a_text_over_the_limit_is_refused_with_what_was_given(page: Page, french: Translator) -> None:
    source = "word " * 249 + "word"
    given = len(french.tokenizers.source.encode(source))
    assert given > LIMIT
    type_sentence(page, source)
    expect(page.get_by_text(ENGLISH["limits.source_tokens"].format(given=given, limit=LIMIT))).to_be_visible()
    expect(page.get_by_test_id("attention-map")).to_have_count(0)
    assert page.locator(".st-key-sentence textarea").input_value() == source  # nothing was cut
    assert echoed(page) == source


@pytest.mark.parametrize("nothing", ["", "   ", "\n\t "])
def test_nothing_typed_is_asked_for(page: Page, nothing: str) -> None:
    type_sentence(page, nothing)
    expect(page.get_by_text(ENGLISH["limits.empty"])).to_be_visible()
    expect(page.get_by_test_id("attention-map")).to_have_count(0)


# ----- the other model, and therefore last


def test_chinese_labels_are_complete(page: Page) -> None:
    source = "This morning I met an old friend at the school gate and we talked for a long time."
    target = (
        "今天早上我在学校门口遇见了一位多年没有见面的老朋友我们一起喝了一杯热茶谈了很久以后才回家吃饭睡觉第二天又见面聊天散步了。"
    )
    trace = model.load("en-zh").trace(source, target)
    assert len(trace.produced) > 60
    type_sentence(page, source)
    attention.choose(page, "model", "en-zh")
    eventually(lambda: parameters(page)["model"], "en-zh")
    application.settle(page)
    write_target(page, target)
    shown = AttentionMap(page)
    wanted = [token.label for token in trace.produced]
    eventually(lambda: [label.rpartition(" ")[0] for label in shown.labels("target")], wanted)
    frame = shown.get("text").bounding_box()
    assert frame
    boxes = shown.boxes("target")
    assert min(left for left, *_ in boxes) >= frame["x"]
    assert max(right for *_, right, _ in boxes) <= frame["x"] + frame["width"] + 1
    rows = [text for text, *_ in attention.drawn(shown.save("svg"))]
    assert "".join(rows).count("".join(wanted)) >= 1  # drawn one under the other, none shortened
    last = len(wanted) - 1
    shown.get("matrix").focus()
    page.keyboard.press("Control+End")
    expect(shown.get("live")).to_have_attribute("data-query", str(last))
    layer, head = int(parameters(page)["layer"]), int(parameters(page)["head"])
    shown.check_cell(shown.said(), numbers(trace, CROSS, layer, head), last, len(trace.source) - 1, layer, head)
