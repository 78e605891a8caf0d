"""Encodings are found by looking at the whole file, and wrong bytes are told by line and place."""

import pytest

from model.alignment.formats.encodings import ENCODINGS, canonical, decode, detect
from model.alignment.formats.files import BLOCK, File
from model.alignment.formats.problem import FormatError
from tests.alignment.formats.brought import Named, read

FRENCH = "Il a déjà été élève à l’école où l’on fête Noël, « ça va » ? Cœur, œuvre – 5 €.\n"
CHINESE = "他叫小明，今年十二岁。我们一起去公园玩吧！\n"


def found(content: bytes) -> tuple[str, bool]:
    encoding = detect(File(Named("a.txt", content)))
    return encoding.name, encoding.sure


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "utf-8"),
        (CHINESE, "utf-8"),
        ("plain ASCII\n", "utf-8"),
        (FRENCH, "windows-1252"),
        ("déjà vu", "windows-1252"),
        ("À bientôt\tSee you\nÇa va\tFine\n", "windows-1252"),
        (CHINESE, "gb18030"),
        ("Hello\t你好\n", "gb18030"),
        ("Tea\t茶叶\nRong\t镕基\nMilk\t牛奶\n", "gb18030"),
        (FRENCH, "utf-16-le"),
        (CHINESE, "utf-16-le"),
        (CHINESE, "utf-16-be"),
        ("I see\tЯ вижу\n", "utf-16-le"),
    ],
)
def test_the_encoding_is_found(text: str, encoding: str) -> None:
    content = text.encode(encoding)
    assert found(content)[0] == encoding
    assert decode(Named("a.txt", content)) == text
    assert encoding in detect(File(Named("a.txt", content))).plausible


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_is_believed_and_is_no_text(encoding: str) -> None:
    content = ("\ufeff" + FRENCH + CHINESE).encode(encoding)
    assert found(content) == (encoding, True)
    assert decode(Named("a.txt", content)) == FRENCH + CHINESE


def test_a_curly_quote_late_in_a_large_file_decides() -> None:
    """Case 109: the beginning is ASCII, and says nothing."""
    content = b"He said yes\tIl a dit oui\n" * 4000 + b"He said \x93yes\x94\tIl a dit \xab oui \xbb\n"
    assert len(content) > BLOCK
    pairs, rows = read(("a.tsv", content))
    assert (pairs.encoding, rows[-1]) == ("windows-1252", ("He said “yes”", "Il a dit « oui »"))


def test_one_bad_byte_late_in_a_large_file_is_told_by_line_and_byte() -> None:
    good = "a café\tun café\n".encode()
    content = good * 5000 + "b caf\u00e9\tété ".encode() + b"\xe9t\xe9\n" + good
    pairs, rows = read(("a.tsv", content))
    assert (pairs.encoding, len(rows), rows[5000]) == ("utf-8", 5002, ("b café", "été \ufffdt\ufffd"))
    assert [problem.sentence for problem in pairs.problems] == [
        "a.tsv, line 5001: Byte 15 of the line is 0xE9, which is not utf-8; it is shown as \ufffd. Another encoding may fit."
    ]


def test_a_character_on_the_edge_of_a_block_is_whole() -> None:
    for encoding in ("utf-8", "gb18030", "utf-16-le"):
        text = "\u9555" * BLOCK + "\r\n" + "é" * BLOCK
        pairs, rows = read(("a.txt", text.encode(encoding)), encoding=encoding)
        assert ([row[0] for row in rows], list(pairs.problems)) == (["\u9555" * BLOCK, "é" * BLOCK], [])


def test_line_ends_of_every_kind() -> None:
    for encoding in ("utf-8", "utf-16-be"):
        _, rows = read(("a.txt", "1\r2\n3\r\n\r\n4\n\r5".encode(encoding)), encoding=encoding)
        assert [row[0] for row in rows] == ["1", "2", "3", "", "4", "", "5"]


def test_what_is_in_doubt_is_not_sure_and_can_be_chosen() -> None:
    content = "Привет, как дела? Спасибо, хорошо.\tHello\n".encode("windows-1251")
    assert found(content)[1] is False
    pairs, rows = read(("a.tsv", content), encoding="cp1251")
    assert (pairs.encoding, pairs.sure, rows[0][0]) == ("windows-1251", True, "Привет, как дела? Спасибо, хорошо.")
    assert pairs.encodings[0] == "windows-1251"


def test_a_wrong_choice_is_told_and_never_fails() -> None:
    for encoding in ENCODINGS:
        _, rows = read(("a.txt", CHINESE.encode() + b"\xff\xfe\x81 end\n"), encoding=encoding, format="lines")
        assert rows
        assert not any("\ud800" <= character <= "\udfff" for row in rows for character in row[0])


def test_names_of_encodings() -> None:
    assert [canonical(name) for name in ("UTF8", "utf-8-sig", "GBK", "gb2312", "cp1252", "latin-1", "UTF-16")] == [
        "utf-8",
        "utf-8",
        "gb18030",
        "gb18030",
        "windows-1252",
        "iso-8859-1",
        "utf-16-le",
    ]
    for name in ("base64", "zip", "idna", "", "\0", "utf-7"):
        with pytest.raises(FormatError, match="is no encoding known here"):
            canonical(name)
