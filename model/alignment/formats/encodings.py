"""Which encoding a file is in: its whole text is looked at, a block at a time, before a word is believed.

In order: a byte order mark; UTF-16 by its NULs; UTF-8, which other text is hardly ever by chance; then GB18030 against
Windows-1252. Nearly all Chinese text is of the 3,755 characters of GB 2312's first level and its punctuation, and Latin
letters with accents that happen to be valid GB18030 are not.
"""

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass

from charset_normalizer import from_bytes

from model.alignment.formats.files import File, Stream
from model.alignment.formats.problem import FormatError

# Offered to choose from; the first five are detected.
ENCODINGS = (
    "utf-8",
    "utf-16-le",
    "utf-16-be",
    "gb18030",
    "windows-1252",
    "iso-8859-1",
    "iso-8859-15",
    "windows-1250",
    "windows-1251",
    "koi8-r",
    "mac-roman",
    "big5",
    "shift_jis",
    "euc-jp",
    "euc-kr",
    "utf-32-le",
    "utf-32-be",
)
BY_CODEC = {codecs.lookup(name).name: name for name in ENCODINGS}
_GUESSED = [name for name in ENCODINGS if not name.startswith("utf")]
ALIASES = {  # to what contains them
    "ascii": "utf-8",
    "utf-8-sig": "utf-8",
    "utf-16": "utf-16-le",
    "utf-32": "utf-32-le",
    "gbk": "gb18030",
    "gb2312": "gb18030",
}

MARKS = (  # the four-byte marks first: one begins like a mark of two bytes
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Encoding:
    """An encoding that was detected: the plausible ones best first, and whether the first is beyond doubt."""

    plausible: tuple[str, ...]
    sure: bool

    @property
    def name(self) -> str:
        return self.plausible[0]


def canonical(name: str, file: str = "") -> str:
    """The name in ENCODINGS of an encoding, whatever it is called; raises FormatError for one that is not offered."""
    try:
        codec = codecs.lookup(name).name
    except (LookupError, ValueError):
        codec = ""
    found = ALIASES.get(codec, BY_CODEC.get(codec))
    if found is None:
        raise FormatError.of("unknown_encoding", file=file, given=name, choices=", ".join(ENCODINGS))
    return found


def detect(file: File) -> Encoding:
    """The encoding of a whole file, read twice at most."""
    start = file.start
    for mark, name in MARKS:
        if start.startswith(mark):
            return Encoding((name, *(other for other in ENCODINGS[:5] if other != name)), sure=True)
    nuls, high, bad, size = _look_for_utf8(file.blocks())
    wide = _utf16(start) if nuls and (bad or nuls > 0.2 * size) else ()
    if wide:
        return Encoding((*wide, "utf-8", "gb18030", "windows-1252"), sure=len(wide) == 1)
    if nuls > 0.05 * size:
        raise FormatError.of("not_text", file=file.name, kind="binary data", advice="bring text, CSV, TMX or JSON")
    if bad <= 0.25 * high:
        return Encoding(("utf-8", "windows-1252", "gb18030"), sure=bad <= 0.01 * high)
    return _eight_bit(file.blocks(), start)


def decoder(encoding: str) -> codecs.IncrementalDecoder:
    """A decoder that never fails: a byte that is wrong becomes U+DC00 + byte, which no right text holds."""
    # Python's own handler does the same, in C; it is for encodings in which a wrong byte is never ASCII.
    return codecs.getincrementaldecoder(encoding)("surrogateescape" if encoding == "utf-8" else "alignment-mark")


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(chr(0xDC00 + byte) for byte in wrong), error.end


codecs.register_error("alignment-mark", _mark)

WRONG = re.compile("[\ud800-\udfff]+")  # as marked by `decoder`
_ASCII = bytes(range(0x80))
_HIGH = bytes(range(0x80, 0x100))
_LEVEL_ONE = b"".join(  # rows B0 to D7 of GB 2312; the last five places are empty
    bytes((lead, trail)) for lead in range(0xB0, 0xD8) for trail in range(0xA1, 0xFF if lead < 0xD7 else 0xFA)
).decode("gb18030")
_CHINESE_MARKS = "\u3000、。·—～…‘’“”《》〈〉【】（），．：；！？％"
_COMMON = re.compile(f"[{_LEVEL_ONE}{_CHINESE_MARKS}]")
_EXPECTED = re.compile(f"[\t\r\n -~\xa0-\u06ff\u3040-\u30ff\uac00-\ud7a3{_LEVEL_ONE}{_CHINESE_MARKS}]")
_NOT_ASCII = re.compile("[^\\x00-\\x7f]")
_WESTERN = "éèêëàâäåáãæçùûüúîïíìôöóòõøœñßÿýÉÈÊËÀÂÄÁÅÃÆÇÙÛÜÚÎÏÍÔÖÓÒØŒÑ«»‘’“”–—…€°·•¿¡©®™£§½¼²³ºª×\xa0\xad†š"
_WESTERN_BYTES = _WESTERN.encode("windows-1252")
_RUN = re.compile(rb"[\x80-\xff]{3,}")
_UTF8_AMONG = re.compile(rb"[\xc2\xc3][\x80-\xbf]|\xe2\x80[\x80-\xbf]")  # letters with accents and punctuation


def _look_for_utf8(blocks: Iterable[bytes]) -> tuple[int, int, int, int]:
    """How many bytes are NUL, how many over 0x7F, how many of these are no UTF-8, and how many there are."""
    nuls = high = bad = size = 0
    utf8 = decoder("utf-8")
    for block in _with_end(blocks):
        size += len(block)
        nuls += block.count(0)
        if not block.isascii():
            high += len(block) - len(block.translate(None, _HIGH))
        text = utf8.decode(block, final=not block)
        if not text.isascii():
            bad += sum(map(len, WRONG.findall(text)))
    return nuls, high, bad, size


def _with_end(blocks: Iterable[bytes]) -> Iterable[bytes]:
    yield from blocks
    yield b""


def _utf16(start: bytes) -> tuple[str, ...]:
    """UTF-16 of the byte order that reads like text; both, the likelier first, if neither clearly does."""
    even = start[: len(start) // 2 * 2]
    shares = {}
    for name in ("utf-16-le", "utf-16-be"):
        text = even.decode(name, "replace")
        shares[name] = len(_EXPECTED.findall(text)) / max(1, len(text))
    best, other = sorted(shares, key=lambda name: -shares[name])
    if shares[best] < 0.5:
        return ()
    return (best,) if shares[best] > 0.7 and shares[other] < 0.8 * shares[best] else (best, other)


def _eight_bit(blocks: Iterable[bytes], start: bytes) -> Encoding:
    """GB18030 or Windows-1252, for text that is no UTF-8."""
    common = other = bad = high = western = runs = undefined = 0
    gb = decoder("gb18030")
    for block in _with_end(blocks):
        text = gb.decode(block, final=not block)
        wrong = sum(map(len, WRONG.findall(text)))
        likely = len(_COMMON.findall(text))
        bad, common, other = bad + wrong, common + likely, other + len(_NOT_ASCII.findall(text)) - likely - wrong
        ours = block.translate(None, _ASCII)
        high += len(ours)
        western += len(ours) - len(ours.translate(None, _WESTERN_BYTES))
        undefined += len(ours) - len(ours.translate(None, b"\x81\x8d\x8f\x90\x9d"))
        runs += sum(map(len, _RUN.findall(block)))
    chinese = common >= 0.75 * (common + other) and bad <= 0.1 * common
    latin = western >= 0.8 * high and not undefined
    if chinese and (not latin or runs > 0.5 * high):
        return Encoding(("gb18030", "windows-1252"), sure=common >= 3 and (not latin or runs > 0.5 * high))
    if latin and _UTF8_AMONG.search(start):  # two files of different encodings were put together
        return Encoding(("windows-1252", "utf-8", "gb18030"), sure=False)
    if latin:
        return Encoding(("windows-1252", "gb18030"), sure=not chinese and runs < 0.3 * high)
    return Encoding(_guesses(start, gb_possible=bad < 0.1 * (common + other)), sure=False)


def _guesses(start: bytes, gb_possible: bool) -> tuple[str, ...]:
    """What a statistical detector says of text that neither rule claims, then what remains possible."""
    matches = from_bytes(start, cp_isolation=_GUESSED)
    found = [BY_CODEC[codec] for codec in (codecs.lookup(match.encoding).name for match in matches) if codec in BY_CODEC]
    rest = ("gb18030", "windows-1252") if gb_possible else ("windows-1252", "gb18030")
    return tuple(dict.fromkeys([*found[:3], *rest]))


def decode(stream: Stream, encoding: str | None = None) -> str:
    """The whole text of a stream in the encoding given or detected, without a byte order mark; wrong bytes are U+FFFD."""
    file = File(stream)
    text = decoder(canonical(encoding) if encoding else detect(file).name).decode(b"".join(file.blocks()), final=True)
    return WRONG.sub("\ufffd", text.removeprefix("\ufeff"))
