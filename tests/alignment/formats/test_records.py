"""JSON and JSON Lines in the shapes that data sets have."""

import json

import pytest

from model.alignment.formats import FormatError
from tests.alignment.formats.brought import read, told

TWO = [("Hello", "Bonjour"), ("yes", "oui")]


@pytest.mark.parametrize(
    "value",
    [
        [{"translation": {"en": "Hello", "fr": "Bonjour"}}, {"translation": {"fr": "oui", "en": "yes"}}],
        [{"en": "Hello", "fr": "Bonjour", "id": "x"}, {"id": "y", "en": "yes", "fr": "oui"}],
        [{"src": "Hello", "tgt": "Bonjour"}, {"src": "yes", "tgt": "oui"}],
        [{"id": "a", "source": "Hello", "target": "Bonjour"}, {"source": "yes", "target": "oui"}],
        [{"text_en": "Hello", "text_fr": "Bonjour"}, {"text_en": "yes", "text_fr": "oui"}],
        [{"question": "Hello", "answer": "Bonjour"}, {"question": "yes", "answer": "oui"}],
        [["Hello", "Bonjour"], ["yes", "oui"]],
        {"data": [{"en": "Hello", "fr": "Bonjour"}, {"en": "yes", "fr": "oui"}]},
        {"en": ["Hello", "yes"], "fr": ["Bonjour", "oui"]},
        {"en": {"0": "Hello", "1": "yes"}, "fr": {"0": "Bonjour", "1": "oui"}},
        {"Hello": "Bonjour", "yes": "oui"},
    ],
)
def test_shapes(value: object) -> None:
    for indent in (None, 2):
        pairs, rows = read(("a.json", json.dumps(value, indent=indent).encode()))
        assert (pairs.format, rows, list(pairs.problems)) == ("json", TWO, [])
    if isinstance(value, list):
        pairs, rows = read(("a.txt", "\n".join(json.dumps(record) for record in value).encode()))
        assert (pairs.format, rows) == ("jsonl", TWO)


def test_lines_and_columns_of_what_is_wrong() -> None:
    lines = [
        '{"en": "a", "fr": "b"}',
        '{"en": "a", "fr": }',
        "null",
        '{"en": "a"}',
        '{"en": "a", "fr": 3}',
        "",
        '{"en": "", "fr": "b"}',
        '{"en": "a\\ud800", "fr": "two\\nlines"}',
        "[" * 100_000,
    ]
    pairs, rows = read(("a.jsonl", "\n".join(lines).encode()))
    assert rows == [("a", "b"), ("a\ufffd", "two lines")]
    assert told(pairs) == [
        ("bad_json", 2),
        ("no_record", 3),
        ("missing_key", 4),
        ("missing_key", 5),
        ("empty_source", 7),
        ("lone_surrogate", 8),
        ("too_deep", 9),
    ]
    assert "column 19" in pairs.problems[0].message


def test_a_list_that_breaks_off_gives_what_came_before() -> None:
    pairs, rows = read(("a.json", b'[{"en": "a",\n "fr": "b"},\n{"en": "c", "fr": "d"}\n'))
    assert (rows, told(pairs)) == ([("a", "b"), ("c", "d")], [("bad_json", 4)])
    assert [entry.line for entry in pairs.entries] == [1, 3]
    pairs, rows = read(("a.json", b'[{"en": "a",\n "fr": "b"},\n{"en": "c", "fr\n'))
    assert (rows, told(pairs)) == ([("a", "b")], [("bad_json", 3)])


def test_keys_and_direction_can_be_chosen() -> None:
    content = b'{"en": "a", "fr": "b", "de": "c", "note": "n", "links": "0-0"}\n'
    for options, row in (
        ({}, ("a", "b")),
        ({"languages": ("de", "en")}, ("c", "a")),
        ({"columns": ("fr", "de")}, ("b", "c")),
        ({"columns": ("French", "note")}, ("b", "n")),
    ):
        pairs, rows = read(("a.jsonl", content), **options)
        assert rows == [row]
    entry = next(pairs.entries)
    assert (entry.note, entry.links) == ("n", "0-0")


def test_sources_alone() -> None:
    pairs, rows = read(("a.jsonl", b'{"text": "Hello"}\n{"text": "Bye"}\n'))
    assert (pairs.alone, rows) == (True, [("Hello", ""), ("Bye", "")])


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"[1, 2, 3]", "no_record_at_all"),
        (b"{}", "no_record_at_all"),
        (b'{"en": ["a"], "fr": ["b", "c"]}', "unequal_lists"),
        (b'[{"en": ', "bad_json"),
        (b"[" * 200_000, "too_deep"),
        (b"[" + b"1" * 10_000 + b"]", "bad_json"),
    ],
)
def test_what_has_no_pairs_is_refused(content: bytes, code: str) -> None:
    with pytest.raises(FormatError) as refused:
        read(("a.json", content), format="json")
    assert refused.value.problem.message.code == code
