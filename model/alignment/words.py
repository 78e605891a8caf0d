"""What a word is: the one rule that every page, file and command of this project uses.

1. ASCII white space (space, tab, line ends, form feed) and the Unicode line separators part words. A no-break space
   never does.
2. Each character of a Chinese run, ideograph or full-width punctuation, is a word alone, with the marks that follow it.

With `split_punctuation` two more rules hold:

3. Each punctuation mark is a word alone. Whole stay: a run of dots or of hyphens (`...`, `--`), a hyphen or no-break
   space inside a word (`week-ends`, `10 000`), signs between digits (`8:30`, `3.5`, `2024-05-06`), initials (`U.S.`),
   a few titles (`Mr.`).
4. An apostrophe inside a word parts it. An English ending begins a word (`do n't`, `it 's`, `we 'll`); any other
   apostrophe ends one, as French elision does (`t' aime`, `qu' est-ce`). `o'clock` and `O'Brien` stay whole: no
   elision is written `o'`.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol, runtime_checkable

Span = tuple[int, int]

_SEPARATORS = frozenset(" \t\n\r\v\f\x85\u2028\u2029")
_APOSTROPHES = frozenset("'\u2018\u2019\u02bc\uff07")
_HYPHENS = frozenset("-\u2010\u2011")
_DASHES = frozenset("\u2012\u2013\u2014\u2015")
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "st", "m", "mme", "mlle"})

# Code points of which each is a word alone: ideographs with all their extensions, CJK and full-width punctuation.
_ALONE = (
    (0x2E80, 0x2FDF),
    (0x3001, 0x3029),
    (0x3030, 0x3030),
    (0x3038, 0x303F),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFE10, 0xFE1F),
    (0xFE30, 0xFE4F),
    (0xFF01, 0xFF06),
    (0xFF08, 0xFF0F),
    (0xFF1A, 0xFF20),
    (0xFF3B, 0xFF40),
    (0xFF5B, 0xFF65),
    (0x20000, 0x323AF),
)

# Patterns run over the kinds of a text's characters, one letter each (see `_kind`): short, and blind to no script.
_CHUNK = re.compile(r"[^ ]+")
_ALONE_OR_REST = re.compile(r"hx*|[^h]+")
_PIECE = re.compile(
    r"hx*"  # a Chinese character
    r"|(?<![wd])(?:wx*\.){2,}"  # initials: U.S.
    r"|(?:^-(?=d))?[wd]x*(?:[wdx]|(?<=d)[.,](?=d)|[-sa](?=[wd]))*"  # a word or a number
    r"|\.{2,}|[-=]{2,}"
    r"|ex*(?:[ex])*"  # a run of emoji and their joiners
    r"|[^s]x*"  # a mark alone
)
_APOSTROPHE = "['\u2018\u2019\u02bc\uff07]"
_ENGLISH_ENDING = re.compile(rf"(?<=.)(?:n{_APOSTROPHE}t|{_APOSTROPHE}(?:s|m|d|re|ve|ll))$", re.IGNORECASE)
_BARE_NOT = re.compile(rf"n{_APOSTROPHE}t", re.IGNORECASE)
_LEADING_ENDING = re.compile(rf"{_APOSTROPHE}(?:s|m|d|t|re|ve|ll)$", re.IGNORECASE)
_ELISION = re.compile(r"(?:^|-)(?:[cdjlmnst]|\w*qu|aujourd|entr)$", re.IGNORECASE)


@runtime_checkable
class Piece(Protocol):
    """What `indices` needs of a token: where it stands in the text, and whether it stands for no text at all."""

    @property
    def span(self) -> Span: ...

    @property
    def special(self) -> bool: ...


def split(text: str, split_punctuation: bool) -> tuple[Span, ...]:
    """The spans (start, end) of the words of `text`, in order, none empty, none overlapping."""
    kinds = "".join(map(_kind, text))
    spans: list[Span] = []
    for chunk in _CHUNK.finditer(kinds):
        if split_punctuation:
            spans.extend(_split_chunk(text, kinds, *chunk.span()))
        elif "h" not in chunk.group():
            spans.append(chunk.span())
        else:
            parts = (part.span() for part in _ALONE_OR_REST.finditer(kinds, *chunk.span()))
            spans.extend((start, end) for start, end in parts if not text[start:end].isspace())
    return tuple(spans)


def words(text: str, split_punctuation: bool) -> tuple[str, ...]:
    """The words of `text` themselves."""
    return tuple(text[start:end] for start, end in split(text, split_punctuation))


def of_tokens(tokens: Sequence[Piece], text: str, split_punctuation: bool = True) -> tuple[int, ...]:
    """For each token the index of its word in `split(text, split_punctuation)`; see `indices`."""
    return indices(tokens, split(text, split_punctuation))


def indices(tokens: Sequence[Piece], spans: Sequence[Span]) -> tuple[int, ...]:
    """For each token the index of its word, words being given by their spans in the text of the tokens.

    A token belongs to the word that it covers most of; one that covers no character of any word (a bare space, nothing
    at all) to the word that follows, or at the end to the last. Special tokens get words of their own, numbered on
    after those of the text; so does any token of a text without words.
    """
    found, extra = [], len(spans)
    for token in tokens:
        if token.special or not spans:
            found.append(extra)
            extra += 1
        else:
            found.append(_word_at(spans, *token.span))
    return tuple(found)


def chinese_share(text: str) -> float | None:
    """How much of a text is Chinese, 0 to 1: of its words with letters, those that are Chinese characters; None without any."""
    if "h" not in map(_kind, text):  # most texts: no need to split them
        return 0.0 if any(map(str.isalpha, text)) else None
    with_letters = [word for word in words(text, split_punctuation=True) if any(map(str.isalpha, word))]
    if not with_letters:
        return None
    return sum(_kind(word[0]) == "h" for word in with_letters) / len(with_letters)


def _word_at(spans: Sequence[Span], start: int, end: int) -> int:
    following = bisect_right(spans, start, key=lambda span: span[1])  # the first word that ends behind the start
    overlapping = range(following, bisect_left(spans, end, lo=following, key=lambda span: span[0]))
    if not overlapping:
        return min(following, len(spans) - 1)
    return max(overlapping, key=lambda index: min(end, spans[index][1]) - max(start, spans[index][0]))


@lru_cache(maxsize=65536)
def _kind(character: str) -> str:
    """One letter for a character.

    Space, h (Chinese), w (letter), d (digit), x (extends the one before), s (other white space), a (apostrophe),
    - (hyphen), = (dash), . (dot), comma (other signs that stand inside numbers), e (emoji), p (any other mark).
    """
    if character in _SEPARATORS:
        return " "
    if character in _APOSTROPHES:
        return "a"
    if character in _HYPHENS:
        return "-"
    if character in _DASHES:
        return "="
    if character in ".\u2026":
        return "."
    if character in ",:/":
        return ","
    code = ord(character)
    if code in (0x3007, 0x3005) or (code > 0x2E7F and any(low <= code <= high for low, high in _ALONE)):
        return "h"
    category = unicodedata.category(character)
    if character.isspace() or category == "Zs":
        return "s"
    if category[0] == "M" or category == "Cf":
        return "x"
    if category == "Nd":
        return "d"
    if (category[0] == "P" and category != "Pc") or category in ("Sm", "Sc") or (category[0] == "S" and code < 0x80):
        return "p"
    return "e" if category[0] == "S" else "w"


def _split_chunk(text: str, kinds: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    while start < end:
        leading = kinds[start] == "a" and _leading_ending(text, kinds, start, end)
        match = None if leading else _PIECE.match(kinds, start, end)
        if leading:
            spans.append((start, leading))
            start = leading
        elif match is None:  # white space that holds nothing together
            start += 1
        elif kinds[start] not in "wd-":
            spans.append(match.span())
            start = match.end()
        else:
            stop = _with_dot_or_apostrophe(text, kinds, start, match.end(), end)
            spans.extend(_split_apostrophes(text, start, stop))
            start = stop
    return spans


def _leading_ending(text: str, kinds: str, start: int, end: int) -> int | None:
    """Where a bare English ending such as `'ve` ends, if one stands at the start of a chunk."""
    if start and kinds[start - 1] != " ":
        return None
    stop = start + 1
    while stop < end and kinds[stop] == "w":
        stop += 1
    return stop if _LEADING_ENDING.match(text[start:stop]) else None


def _with_dot_or_apostrophe(text: str, kinds: str, start: int, stop: int, end: int) -> int:
    """A title keeps its dot, an elision its apostrophe: `Mr.`, and `l'` before a space."""
    if stop < end and kinds[stop] == "." and text[start:stop].lower() in _TITLES and text[start].isupper():
        return stop + 1
    if stop < end and kinds[stop] == "a" and _ELISION.search(text[start:stop]):
        return stop + 1
    return stop


def _split_apostrophes(text: str, start: int, end: int) -> list[Span]:
    if _BARE_NOT.fullmatch(text[start:end]):
        return [(start, end)]
    endings: list[Span] = []
    while ending := _ENGLISH_ENDING.search(text[start:end]):
        cut = start + ending.start()
        endings.insert(0, (cut, end))
        end = cut
    spans: list[Span] = []
    piece = start
    for index in range(start + 1, end - 1):
        if text[index] in _APOSTROPHES and text[piece:index].lower() != "o":
            spans.append((piece, index + 1))
            piece = index + 1
    return [*spans, (piece, end), *endings]
