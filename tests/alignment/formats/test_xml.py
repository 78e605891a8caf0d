"""Translation memories and translation files: what their programs write, what attackers write, and writing them again."""

import io
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.alignment.formats.pairs import Entry, Pair, one_line
from model.alignment.formats.problem import FormatError, Problem
from model.alignment.formats.read import read_pairs
from model.alignment.formats.xml import read_tmx, read_xliff, write_tmx, write_xliff

Reader = Callable[..., Iterator[Entry]]

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header srclang="en"/><body>\n'
TAIL = "\n</body></tmx>\n"


def unit(*sides: tuple[str, str]) -> str:
    return "<tu>" + "".join(f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>' for tag, text in sides) + "</tu>"


def memory(*units: str) -> bytes:
    return (HEAD + "\n".join(units) + TAIL).encode()


def read(
    data: bytes, languages: tuple[str, str] | None = ("en", "fr"), reader: Reader = read_tmx
) -> tuple[list[tuple[str, str]], list[Problem]]:
    problems: list[Problem] = []
    entries = list(reader(io.BytesIO(data), languages, problems))
    return [(entry.source, entry.target) for entry in entries], problems


def told(problems: list[Problem]) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.message.code) for problem in problems]


def test_a_memory_with_entities_inline_codes_and_three_ways_to_name_a_language() -> None:
    """Case 115 of the public record."""
    data = (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        b'<tmx version="1.4"><header creationtool="x" creationtoolversion="1" segtype="sentence" o-tmf="x" adminlang="EN" '
        b'srclang="EN" datatype="plaintext"/><body>\n'
        b'<tu><tuv xml:lang="en"><seg>Fish &amp; chips &lt; 5 &#8364;</seg></tuv>'
        b'<tuv xml:lang="fr"><seg>Poisson &amp; frites &lt; 5 \xe2\x82\xac</seg></tuv></tu>\n'
        b'<tu><tuv xml:lang="en-US"><seg>Press <bpt i="1">&lt;b&gt;</bpt>Enter<ept i="1">&lt;/b&gt;</ept> now</seg></tuv>'
        b'<tuv xml:lang="fr-FR"><seg>Appuyez sur <bpt i="1">&lt;b&gt;</bpt>Entr\xc3\xa9e<ept i="1">&lt;/b&gt;</ept> maintenant'
        b"</seg></tuv></tu>\n"
        b'<tu><tuv lang="EN-us"><seg>Colour</seg></tuv><tuv lang="FR"><seg>Couleur</seg></tuv></tu>\n'
        b'<tu><tuv xml:lang="en"><seg>Only English</seg></tuv><tuv xml:lang="de"><seg>Nur Englisch</seg></tuv></tu>\n'
        b"</body></tmx>\n"
    )
    expected = [
        ("Fish & chips < 5 €", "Poisson & frites < 5 €"),
        ("Press Enter now", "Appuyez sur Entrée maintenant"),
        ("Colour", "Couleur"),
    ]
    for languages in (("en", "fr"), None):  # named, or found in the header and the first unit
        pairs, problems = read(data, languages)
        assert pairs == expected
        assert told(problems) == [(6, "tmx_side_missing")]
        assert "Unit 4" in problems[0].message
    assert read(data, ("fr", "en"))[0] == [(target, source) for source, target in expected]


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]>',
        '<!DOCTYPE tmx [<!ENTITY e SYSTEM "file:///nonexistent-for-test.txt">]>',
        '<!DOCTYPE tmx [<!ENTITY % p SYSTEM "http://example.invalid/p.dtd"> %p;]>',
        '<!DOCTYPE tmx SYSTEM "tmx14.dtd">',
        "<!DOCTYPE tmx>",
    ],
)
def test_document_types_and_entities_are_refused_and_nothing_is_opened(declaration: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 117: whatever it declares, and before anything of it is looked at."""

    def opened(*arguments: object, **options: object) -> None:
        raise AssertionError(f"opened {arguments}")

    monkeypatch.setattr("builtins.open", opened)
    monkeypatch.setattr("socket.socket.connect", opened)
    data = HEAD.replace("<tmx", f"{declaration}\n<tmx") + unit(("en", "&e;"), ("fr", "ha")) + TAIL
    with pytest.raises(FormatError, match=r"line 2: document type / entities not allowed"):
        read(data.encode())


def test_emoji_stay_whole() -> None:
    """Case 118, the good file."""
    assert read(memory(unit(("en", "📖 Chapter 1"), ("fr", "📖 Chapitre 1")))) == ([("📖 Chapter 1", "📖 Chapitre 1")], [])


def test_a_broken_file_keeps_what_came_before_and_names_the_line() -> None:
    """Case 118, the files with a control character and cut in the middle; and other ways to break."""
    good = unit(("en", "one"), ("fr", "un"))
    cases = {
        unit(("en", "a&#x1F;b"), ("fr", "ab")): "xml_character",
        unit(("en", "a\x1fb"), ("fr", "ab")): "xml_broken",
        "<tu><tuv></tu>": "xml_broken",
        '<tu><tuv xml:lang="en"><seg>caf&eacute;</seg></tuv></tu>': "xml_entity",
    }
    for broken, code in cases.items():
        pairs, problems = read(memory(good, broken, good))
        assert pairs == [("one", "un")]
        assert told(problems) == [(4, code)]
    cut = memory(good, unit(("en", "two"), ("fr", "deux"))).decode().partition("deux")[0]
    assert read(cut.encode())[0] == [("one", "un")]
    assert told(read(cut.encode())[1]) == [(4, "xml_cut")]
    assert told(read(b"")[1]) == [(1, "xml_cut")]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("<tu>" + "<hi>" * 5_000, "xml_deep"),
        ("<x>" * 5_000, "xml_deep"),
        ("<tu note='" + "a" * 3_000_000, "xml_long_tag"),
        ("<!--" + "a" * 3_000_000, "xml_long_tag"),
        ("<tu><tuv xml:lang='en'><seg>" + "word " * 300_000 + "</seg></tuv></tu>" + TAIL, "xml_large_unit"),
        ("<tu>" + "<prop/>" * 20_001 + "</tu>" + TAIL, "xml_large_unit"),
    ],
    ids=["deep inside a unit", "deep outside", "attribute", "comment", "text", "elements"],
)
def test_what_would_fill_the_memory_is_refused(body: str, code: str) -> None:
    pairs, problems = read((HEAD + unit(("en", "one"), ("fr", "un")) + "\n" + body).encode())
    assert pairs == [("one", "un")]
    assert told(problems) == [(4, code)]


def test_reading_goes_on_after_a_unit_that_is_too_large() -> None:
    large = unit(("en", "word " * 300_000), ("fr", "x"))
    assert read(memory(large, unit(("en", "one"), ("fr", "un"))))[0] == [("one", "un")]


def test_units_come_one_by_one_before_the_file_is_read_to_its_end() -> None:
    class Endless(io.RawIOBase):
        """A memory without an end."""

        def __init__(self) -> None:
            self.asked = 0

        def read(self, size: int = -1) -> bytes:
            self.asked += 1
            start = HEAD.encode() if self.asked == 1 else b""
            return start + unit(("en", "one"), ("fr", "un")).encode() * 100

    entries = read_tmx(Endless(), ("en", "fr"), [])  # type: ignore[arg-type]
    assert [next(entries).source for _ in range(1000)] == ["one"] * 1000


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030", "windows-1252"]
)
def test_encodings_by_their_mark_or_declaration(encoding: str) -> None:
    text = "“naïve” 你好" if encoding != "windows-1252" else "“naïve”"
    document = HEAD.replace("UTF-8", encoding.removesuffix("-sig")) + unit(("en", text), ("fr", text)) + TAIL
    assert read(document.encode(encoding)) == ([(text, text)], [])


def test_a_declaration_that_cannot_be_true_is_not_believed() -> None:
    for declared in ("utf-16", "UTF-16LE"):  # what some programs write before UTF-8
        assert read(memory(unit(("en", "é"), ("fr", "é"))).replace(b"UTF-8", declared.encode()))[0] == [("é", "é")]
    latin = memory(unit(("en", "it’s"), ("fr", "café"))).decode().replace("UTF-8", "ISO-8859-1")
    assert read(latin.encode("windows-1252"))[0] == [("it’s", "café")]
    for unknown in ("klingon", "zip", "idna", "undefined"):
        with pytest.raises(FormatError, match=unknown):
            read(memory().replace(b"UTF-8", unknown.encode()))


def test_bytes_in_another_encoding_end_the_reading_with_the_line() -> None:
    data = memory(unit(("en", "one"), ("fr", "un")), "<tu>", "§") + b"\n"
    assert told(read(data.replace("§".encode(), b"\xe9"))[1]) == [(5, "xml_bytes")]
    assert read(data.replace("§".encode(), b"\xe9"))[0] == [("one", "un")]
    entries = read_tmx(io.BytesIO(memory(unit(("en", "é"), ("fr", "à"))).decode().encode("latin-1")), ("en", "fr"), [], "latin-1")
    assert [(entry.source, entry.target) for entry in entries] == [("é", "à")]


def test_another_outermost_element_is_refused() -> None:
    with pytest.raises(FormatError, match="<html>; <tmx> was needed"):
        read(b"<html><body/></html>")
    with pytest.raises(FormatError, match="<tmx>; <xliff> was needed"):
        read(memory(), reader=read_xliff)


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ('a <ph x="1">{0}</ph> b<it pos="begin">&lt;i></it>c<ut>x</ut>', "a  bc"),
        ('a <hi type="bold">b <hi>c</hi></hi> d', "a b c d"),
        ("see<ph>&lt;note><sub>the note</sub>&lt;/note></ph>here", "see the note here"),
        ('one<ph type="lb">&lt;br></ph>two', "one two"),
        ("\n      two\n      lines\n    ", "two lines"),
        (" kept  as it is ", " kept  as it is "),
        ("a<![CDATA[ < b & ]]>c<!-- not text --><?x y?>", "a < b & c"),
        ("a <b>bold</b> word", "a bold word"),
        ("x&#13;&#10;y&#x9;z", "x y\tz"),
        ("cafe\u0301", "caf\u00e9"),
    ],
)
def test_the_text_of_a_segment(segment: str, text: str) -> None:
    assert read(memory(unit(("en", segment), ("fr", "x")))) == ([(text, "x")], [])


def test_the_wanted_pair_of_several_languages() -> None:
    three = unit(("de", "Farbe"), ("en-US", "color"), ("en-GB", "colour"), ("fr-CA", "couleur"), ("zh_Hans", "颜色"))
    assert read(memory(three), ("en-GB", "zh"))[0] == [("colour", "颜色")]
    assert read(memory(three), ("eng", "deu"))[0] == [("color", "Farbe")]
    pairs, problems = read(memory(three), ("fr", "en"))
    assert pairs == [("couleur", "color")]
    assert told(problems) == [(3, "tmx_variants")]
    assert read(memory(three), ("en-GB", "fr"))[1] == []
    assert read(memory(three), None)[0] == [("color", "Farbe")]


def test_units_without_segments_or_with_text_beside_them() -> None:
    bare = '<tu><tuv xml:lang="en"><prop type="x">1</prop>Hello</tuv><tuv xml:lang="fr"> Bonjour </tuv></tu>'
    stray = '<tu><tuv xml:lang="en"><seg>Hi</seg> there</tuv><tuv xml:lang="fr"><seg>Salut</seg></tuv></tu>'
    alone = unit(("en", "x"))
    pairs, problems = read(memory(bare, stray, alone, unit(("en", "x"), ("fr", " "))))
    assert pairs == [("Hello", "Bonjour"), ("Hi", "Salut")]
    assert told(problems) == [(4, "tmx_stray_text"), (5, "tmx_side_missing"), (6, "tmx_side_missing")]
    assert told(read(memory(alone), None)[1]) == [(3, "tmx_one_language")]


XLIFF = b"""<?xml version="1.0" encoding="utf-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2">
  <file original="page" source-language="en" target-language="fr" datatype="html">
    <body><group id="g"><group id="h">
      <trans-unit id="1"><source>Press <g id="1">Enter</g><x id="2"/> now</source>
        <target state="translated">Appuyez sur <bpt id="1">&lt;b></bpt>Entr\xc3\xa9e<ept id="1">&lt;/b></ept> maintenant</target>
        <alt-trans><source>Press Enter</source><target>Tapez Entr\xc3\xa9e</target></alt-trans>
        <note>a button</note></trans-unit></group></group>
      <trans-unit id="2"><source>One<x id="1" ctype="lb"/>two <mrk>three</mrk></source>
        <target>Un deux trois</target></trans-unit>
      <trans-unit id="3"><source>Nothing yet</source></trans-unit>
      <trans-unit id="4"><source>Empty</source><target/></trans-unit>
      <trans-unit id="5"><source>A. B. C.</source>
        <seg-source><g id="0"><mrk mtype="seg" mid="0">A.</mrk> <mrk mtype="seg" mid="1">B.</mrk>
        <mrk mtype="seg" mid="2">C.</mrk></g></seg-source>
        <target><mrk mtype="seg" mid="1">Be.</mrk> <mrk mtype="seg" mid="0">Ah.</mrk></target></trans-unit>
    </body>
  </file>
</xliff>
"""

XLIFF_2 = b"""<?xml version="1.0" encoding="utf-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0" version="2.0"
 srcLang="en-GB" trgLang="fr">
  <file id="f1"><group id="g1"><unit id="u1">
    <mtc:matches><mtc:match ref="#1"><source>Other</source><target>Autre</target></mtc:match></mtc:matches>
    <notes><note>a key</note></notes>
    <originalData><data id="d1">&lt;b></data></originalData>
    <segment><source>Press <pc id="1" dataRefStart="d1">Enter</pc><ph id="2"/> <sc id="3"/>now<ec startRef="3"/></source>
      <target>Appuyez sur <mrk id="m1" type="term">Entr\xc3\xa9e</mrk> maintenant</target></segment>
    <ignorable><source> </source></ignorable>
    <segment><source>Bell <cp hex="0007"/></source><target>Cloche <cp hex="0007"/></target></segment>
    <segment><source>Untranslated</source></segment>
  </unit></group></file>
</xliff>
"""


def test_a_translation_file_of_version_1() -> None:
    pairs, problems = read(XLIFF, reader=read_xliff)
    assert pairs == [
        ("Press Enter now", "Appuyez sur Entrée maintenant"),
        ("One two three", "Un deux trois"),
        ("A.", "Ah."),
        ("B.", "Be."),
    ]
    assert told(problems) == [(11, "xliff_no_target"), (12, "xliff_no_target"), (15, "xliff_no_target")]
    assert read(XLIFF, ("fr", "en"), read_xliff)[0] == [(target, source) for source, target in pairs]
    entries = list(read_xliff(io.BytesIO(XLIFF), None, []))
    assert [(entry.line, entry.note) for entry in entries[:2]] == [(5, "a button"), (9, "")]


def test_a_translation_file_of_version_2() -> None:
    pairs, problems = read(XLIFF_2, reader=read_xliff)
    assert pairs == [("Press Enter now", "Appuyez sur Entrée maintenant"), ("Bell \x07", "Cloche \x07")]
    assert told(problems) == [(12, "xliff_no_target")]
    assert next(read_xliff(io.BytesIO(XLIFF_2), None, [])).note == "a key"
    bad = XLIFF_2.replace(b'<cp hex="0007"/></source>', b'<cp hex="D800"/></source>')
    pairs, problems = read(bad, reader=read_xliff)
    assert pairs[1][0] == "Bell \ufffd"
    assert told(problems)[0] == (11, "xliff_code_point")


def test_prefixes_and_missing_namespaces_make_no_difference() -> None:
    prefixed = XLIFF.decode().replace("xmlns=", "xmlns:a=").replace("<", "<a:").replace("<a:/", "</a:").replace("<a:?", "<?")
    bare = XLIFF.decode().replace(' xmlns="urn:oasis:names:tc:xliff:document:1.2"', "")
    assert (
        read(prefixed.encode(), reader=read_xliff)[0]
        == read(bare.encode(), reader=read_xliff)[0]
        == read(XLIFF, reader=read_xliff)[0]
    )


def test_a_translation_file_in_other_languages_is_left_out_with_a_word() -> None:
    pairs, problems = read(XLIFF, ("en", "zh"), read_xliff)
    assert pairs == []
    assert told(problems) == [(3, "xliff_languages")]
    assert "en, fr" in problems[0].message
    found = read_pairs(io.BytesIO(XLIFF), languages=("en", "zh"))
    assert (list(found.rows), told(found.problems)) == ([], [(None, "no_pairs"), (3, "xliff_languages")])
    without = XLIFF.replace(b' target-language="fr"', b"")
    assert read(without, ("en", "zh"), read_xliff)[0] == read(XLIFF, reader=read_xliff)[0]


def test_a_file_that_is_still_to_be_translated_is_sources_alone() -> None:
    units = '<trans-unit id="a"><source>Hello</source></trans-unit><trans-unit id="b"><source>You</source><target/></trans-unit>'
    body = f'<xliff version="1.2"><file source-language="en" original="x" datatype="x"><body>{units}</body></file></xliff>'
    found = read_pairs(io.BytesIO(body.encode()))
    assert found.alone
    assert [(pair.source, pair.target) for pair in found.rows] == [("Hello", ""), ("You", "")]
    assert found.problems == []
    assert not read_pairs(io.BytesIO(XLIFF)).alone  # two units lack theirs, the others do not


SIDES = st.text(
    st.one_of(st.sampled_from(" <>&\"']\t\u00a0\u2028é你📖\u0301"), st.characters(codec="utf-8")), min_size=1, max_size=20
)
TEXTS = SIDES.map(one_line).filter(str.strip)
PAIRS = st.lists(st.builds(Pair, TEXTS, TEXTS), max_size=5)
FORBIDDEN = [*map(chr, range(0x20)), "\ufffe", "\uffff"]


def allowed(pair: Pair) -> Pair:
    return Pair(*("".join("\ufffd" if char in FORBIDDEN and char != "\t" else char for char in text) for text in pair))


@settings(max_examples=30, deadline=None)
@given(PAIRS)
def test_what_is_written_is_read_again(pairs: list[Pair]) -> None:
    """Any text; a control character, which only XLIFF 2 can hold, is told of and U+FFFD stands in its place."""
    for write, reader, exact in (
        (write_tmx, read_tmx, False),
        (write_xliff, read_xliff, False),
        (partial(write_xliff, version="2.0"), read_xliff, True),
    ):
        file = io.BytesIO()
        told_of = write(pairs, file, ("en", "zh"))
        expected = pairs if exact else [allowed(pair) for pair in pairs]
        assert read(file.getvalue(), ("en", "zh"), reader) == ([tuple(pair) for pair in expected], [])
        changed = [number for number, pair in enumerate(pairs, 1) if pair != allowed(pair)]
        assert sorted({problem.line for problem in told_of}) == ([] if exact else changed)


def test_writing_tells_what_xml_cannot_hold() -> None:
    told_of = write_tmx([Pair("bell \x07", "x"), Pair("y", "half \ud83d")], io.BytesIO())
    assert [(problem.line, problem.message.values["character"]) for problem in told_of] == [(1, "U+0007"), (2, "U+D83D")]


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_damaged_files_give_messages_and_never_a_traceback(data: st.DataObject) -> None:
    good, reader = data.draw(
        st.sampled_from([(XLIFF, read_xliff), (XLIFF_2, read_xliff), (memory(unit(("en", "a"), ("fr", "b"))), read_tmx)])
    )
    damaged = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged)))
        damaged[place : place + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=4))
    try:
        pairs, problems = read(bytes(damaged), reader=reader)
    except FormatError as error:
        pairs, problems = [], [error.problem]
    assert all(source.strip() and target.strip() for source, target in pairs)
    assert all(problem.message for problem in problems)
