"""User text is text: whatever is typed appears character for character, and nothing in it becomes markup."""

import re
from html.parser import HTMLParser

import pytest

from app import text
from app.views import html

HOSTILE = (
    'a<b<c & &lt;tag&gt; <script>document.title="x"</script>',
    '<img src=x onerror="document.title=1"> <b>gras</b> <pad> </s>',
    "It costs $5 or $6 today.",
    "snake_case_name and *stars* and __init__",
    "[x] {y} (z) # not a heading [[token]] **bold** `code`",
    "`tick` :smile: :red[plain] ~~no~~",
    "{score} {0} {}",
    "  two  spaces and a\ttab ",
    "\u05e9\u05dc\u05d5\u05dd world 42",
)


HEAD = '<button type="button" class="term" popovertarget="term-head">注意力头</button>'


class Reader(HTMLParser):
    """The text that a browser would show, and the elements that it would make."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.shown, self.elements = "", []
        self.feed(source)
        self.close()

    def handle_data(self, data: str) -> None:
        self.shown += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)


@pytest.mark.parametrize("typed", HOSTILE)
def test_typed_text_is_shown_as_typed(typed: str) -> None:
    read = Reader(html.literal(typed))
    assert read.shown == typed
    assert read.elements == ["bdi"]


@pytest.mark.parametrize("typed", HOSTILE)
def test_a_value_in_a_sentence_is_shown_as_typed(typed: str) -> None:
    text.use("en")
    read = Reader(html.sentence("errors.unknown_model", asked=typed, name="en-fr"))
    assert typed in read.shown
    assert set(read.elements) == {"bdi"}


def test_markup_of_our_own_sentences() -> None:
    text.use("en")
    made = html.marked("**bold** `a < b` [[head]] [[weight|its weights]] {value}")
    assert made.startswith("<b>bold</b> <code>a &lt; b</code> ")
    buttons = re.findall(r'<button type="button" class="term" popovertarget="([^"]+)">([^<]+)</button>', made)
    assert buttons == [("term-head", "head"), ("term-weight", "its weights")]
    assert made.endswith("{value}")


def test_no_line_begins_with_the_mark_that_closes_a_term_a_name_or_a_value() -> None:
    text.use("zh")
    assert html.marked("（[[head]]）：[[head]] [[head]]，") == (
        f'<span class="held">（{HEAD}）：</span>{HEAD} <span class="held">{HEAD}，</span>'
    )
    made = html.sentence("doubt.repeats", piece="</bdi>，", count=3)
    assert Reader(made).shown.replace(html.WORD_JOINER, "") == "译文里 </bdi>， 连续出现了 3 次：不可轻信。"
    assert f"</b>{html.WORD_JOINER}。" in made


def test_every_term_that_a_sentence_opens_has_an_entry() -> None:
    for language in text.LANGUAGES:
        text.use(language)
        entries = html.entries(text.glossary().values())
        ids = re.findall(r'id="([^"]+)"', entries)
        assert len(ids) == len(set(ids))
        for key in text.sentences(language):
            for target in re.findall(r'popovertarget="([^"]+)"', html.marked(text.template(key))):
                assert target in ids


def test_numbers_have_a_real_minus_sign() -> None:
    assert html.number(-1.234) == "\N{MINUS SIGN}1.23"
    assert html.number(0.5, 3) == "0.500"


@pytest.mark.parametrize(
    ("after", "before", "shown"), [(-1.53, -1.646, "0.1160"), (-1.5, -1.5, "0.0000"), (0.11114, 0.22226, "−0.1112")]
)
def test_a_difference_is_that_of_the_printed_numbers(after: float, before: float, shown: str) -> None:
    assert html.difference(after, before, 4) == shown
