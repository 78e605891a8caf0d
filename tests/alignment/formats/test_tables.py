"""Tables: where cells and rows end, which columns are the texts, what is told of rows that do not fit."""

import pytest

from model.alignment.formats.delimited import cells_of
from model.alignment.formats.tables import without_html
from tests.alignment.formats.brought import GOOD, read, told

Rows = list[tuple[str, str]]


def rows_of(content: str, name: str = "a.csv", **options: object) -> Rows:
    return read((name, content.encode()), **options)[1]


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("a,b", ["a", "b"]),
        ('"a, b","c ""d"" e"', ["a, b", 'c "d" e']),
        ('"","b"', ["", "b"]),
        ('5" nail,"b', ['5" nail', '"b']),
        ('"no" he said,b', ['"no" he said', "b"]),
        ('a, "b c"', ["a", "b c"]),
        ("a,b,", ["a", "b", ""]),
        ("", [""]),
    ],
)
def test_quotation_marks_enclose_a_cell_only_where_they_do_so_properly(line: str, cells: list[str]) -> None:
    assert cells_of(line, ",").cells == cells


def test_a_stray_quote_in_csv_merges_no_rows() -> None:
    content = '"Wait !,Attendez !\nYes .,Oui .\n"Stop",Halte\nHe said "no" .,Il a dit non .\n5" nail,clou\n"a ""b""\nc",d\n'
    pairs, rows = read(("a.csv", content.encode()))
    assert rows == [
        ('"Wait !', "Attendez !"),
        ("Yes .", "Oui ."),
        ("Stop", "Halte"),
        ('He said "no" .', "Il a dit non ."),
        ('5" nail', "clou"),
        ('a "b" c', "d"),
    ]
    assert told(pairs) == [("stray_quote", 1)]


def test_a_cell_over_lines_that_could_be_rows_is_told() -> None:
    pairs, rows = read(("a.csv", b'"One, two\nthree","Un, deux\ntrois"\n"Yes","Oui"\n"No","Non"\n'))
    assert rows == [("One, two three", "Un, deux trois"), ("Yes", "Oui"), ("No", "Non")]
    assert told(pairs) == [("long_quote", 1)]


def test_an_unclosed_quote_far_from_the_next_ends_with_its_line() -> None:
    content = '"open,ouvert\n' + "yes,oui\n" * 300 + '"no","non"\n'
    pairs, rows = read(("a.csv", content.encode()))
    assert (len(rows), rows[0], rows[-1]) == (302, ('"open', "ouvert"), ("no", "non"))
    assert told(pairs) == [("stray_quote", 1)]


def test_commas_outside_quotation_marks_are_told_not_guessed() -> None:
    pairs, rows = read(("a.csv", b"en,fr\nHello,Bonjour\nHello, you,Salut, toi\nYes,Oui\n"))
    assert rows == [("Hello", "Bonjour"), ("Yes", "Oui")]
    assert told(pairs) == [("many_cells", 3)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_delimiters(delimiter: str, quote: str) -> None:
    rows = [("Hello", "Bonjour"), ("I came", "Je suis venu"), ("5 %", "5 %")]
    content = "".join(delimiter.join(f"{quote}{cell}{quote}" for cell in row) + "\r\n" for row in rows)
    pairs, found = read(("a.csv", content.encode()))
    assert (pairs.delimiter, found) == (delimiter, rows)


def test_a_separator_line_may_name_any() -> None:
    assert rows_of("sep=|\na, b|c\nd|e;f\n") == [("a, b", "c"), ("d", "e;f")]


def test_a_comma_in_each_sentence_does_not_win() -> None:
    assert rows_of("I came, I saw;Je suis venu, j'ai vu\n") == [("I came, I saw", "Je suis venu, j'ai vu")]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("en,fr", True),
        ("English,French", True),
        ("anglais,français", True),
        ("英语,法语", True),
        ("src,tgt", True),
        ("Source text,Target text", True),
        ("en-US,fr_FR", True),
        ("text_en,text_fr", True),
        ("English,French,Notes", True),
        ("French,français", False),
        ("it,la", False),
        ("Hello,Bonjour", False),
        ("NA,null", False),
        ("source of light,source de lumière", False),
    ],
)
def test_a_header_is_known_by_its_names(header: str, names: bool) -> None:
    pairs, rows = read(("a.csv", f"{header}\nOne,Un{',x' * (header.count(',') - 1)}\n".encode()))
    assert (pairs.header, len(rows)) == (names, 2 - names)


def test_the_reader_can_be_corrected() -> None:
    content = "en,fr\nfr,en\nx,y\n"
    assert rows_of(content, header=False)[0] == ("en", "fr")
    assert rows_of("Hello,Bonjour\na,b\n", header=True) == [("a", "b")]
    assert rows_of(content, columns=(1, 0))[0] == ("en", "fr")
    assert rows_of("a,b,c\n", columns=(2, 0)) == [("c", "a")]
    named = "note,English,French\nx,One,Un\n"
    assert rows_of(named) == rows_of(named, columns=("en", "French")) == rows_of(named, columns=(1, 2)) == [("One", "Un")]
    assert rows_of("a;b,c\n", delimiter=";") == [("a", "b,c")]
    assert rows_of("a\tb\n", name="a.tsv", format="lines") == [("a\tb", "")]


def test_sources_alone_in_a_table() -> None:
    for content in ("text\nHello\nBye\n", 'source\n"Hello"\n"Bye"\n', "en\nHello\nBye\n"):
        pairs, rows = read(("a.csv", content.encode()))
        assert (pairs.alone, pairs.header, rows) == (True, True, [("Hello", ""), ("Bye", "")])
    pairs, rows = read(("a.csv", b"text\nHello, you\nBye\nNo\n"))
    assert (rows, told(pairs)) == ([("Bye", ""), ("No", "")], [("many_cells", 2)])


def test_columns_that_are_no_text_are_kept_for_credit() -> None:
    """Case 100, with and without the numbers of the sentences."""
    pairs, _ = read(*GOOD["tatoeba"].files)
    assert next(pairs.entries).note == "CC-BY 2.0 (France) Attribution: tatoeba.org #1 (aaa) & #2 (bbb)"
    pairs, _ = read(*GOOD["tatoeba with numbers"].files)
    assert (pairs.columns, next(pairs.entries).note) == ((1, 3), "1276 · 3087")
    pairs, rows = read(("a.tsv", b"77\teng\tI am here.\n78\teng\tWe were late.\n"))
    assert (pairs.alone, rows) == (True, [("I am here.", ""), ("We were late.", "")])


def test_a_column_of_links_comes_along() -> None:
    pairs, _ = read(("a.tsv", b"the car\tla voiture\t0-0 1-1\na b\tc\t0-0 1p0\nno\tnon\t\n"))
    assert [(entry.links, entry.note) for entry in pairs.entries] == [("0-0 1-1", ""), ("0-0 1p0", ""), ("", "")]
    pairs, _ = read(("a.csv", b"en,fr,links\na,b,0-0\nc,d,oops\n"))
    assert [entry.links for entry in pairs.entries] == ["0-0", ""]
    assert told(pairs) == [("links_cell", 3)]


def test_rows_without_both_sides_are_told_and_blank_ones_stay_in_step() -> None:
    pairs, rows = read(("a.tsv", b"a\tb\n\nc\td\n\te\nf\t \ng\n\t\nh\ti\tj\nk\tl\n\n\n"))
    assert rows == [("a", "b"), ("", ""), ("c", "d"), ("", ""), ("h", "i"), ("k", "l")]
    assert told(pairs) == [("empty_source", 4), ("empty_target", 5), ("few_cells", 6), ("more_cells", 8)]
    assert [entry.line for entry in pairs.entries] == [1, 2, 3, 7, 8, 9]


def test_words_that_mean_nothing_elsewhere_are_words_here() -> None:
    content = "NA\tnull\nnan\tNone\n1E1\t2024-05-06\n=1+1\t#N/A\n"
    assert rows_of(content, name="a.tsv") == [("NA", "null"), ("nan", "None"), ("1E1", "2024-05-06"), ("=1+1", "#N/A")]


def test_anki_settings() -> None:
    content = (
        "#separator:Semicolon\n#html:false\n#notetype column:1\n#columns:Type;French;English;Tags\n#tags column:4\n"
        "Basic;<b>;less <;t\nBasic;Oui;Yes;t u\n"
    )
    pairs, rows = read(("a.txt", content.encode()), languages=("en", "fr"))
    assert rows == [("less <", "<b>"), ("Yes", "Oui")]
    assert [(entry.line, entry.note) for entry in pairs.entries] == [(6, "t"), (7, "t u")]


def test_fields_of_cards_without_their_markup() -> None:
    assert without_html('<div>a<br>b</div> [sound:x.mp3]<img src="y"> &lt;c&gt; 3 < 4 &amp; 5 > 2') == "a b <c> 3 < 4 & 5 > 2"


def test_dictionaries_in_cells_are_parsed_and_never_run() -> None:
    lines = [
        "id,translation",
        "1,\"{'en': 'a', 'fr': 'b'}\"",
        "2,\"{'en': __import__('os').getcwd(), 'fr': 'b'}\"",
        "3,\"{'en': 'no end\"",
        "4,\"{'en': 'caf\\xe9', 'fr': None}\"",
        "5,\"{'fr': 'c\\'est', 'en': 'it\\'s \\u4f60'}\"",
        "6," + "{" * 50,
        "7,\"{'en': '\\ud800', 'fr': 'half'}\"",
    ]
    pairs, rows = read(("a.csv", "\n".join(lines).encode()))
    assert rows == [("a", "b"), ("it's 你", "c'est"), ("\ufffd", "half")]
    assert told(pairs) == [
        ("bad_dictionary", 3),
        ("bad_dictionary", 4),
        ("missing_key", 5),
        ("bad_dictionary", 7),
        ("lone_surrogate", 8),
    ]
