"""A tokenizer looked into: its vocabulary, its merges in the order they were learned, and how a text is cut with them."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

from model.tokenizer import SPECIALS, UNKNOWN, Token, Tokenizer, printable
from model.trace import Trace
from model.translator import Atlas

MOST_HITS = 50
SPACE = "\N{OPEN BOX}"  # what a space looks like inside a piece

Kind = Literal["bpe", "characters"]
Side = Literal["source", "target"]


@lru_cache(maxsize=2**15)
def visible(piece: str) -> str:
    """A piece of the vocabulary as it is shown: printable, its spaces to be seen, never empty."""
    return printable(piece.replace(" ", SPACE))


@dataclass(frozen=True)
class Entry:
    """One entry of a vocabulary; `special` ones stand for no text."""

    id: int
    piece: str
    shown: str
    special: bool


def entry(tokenizer: Tokenizer, id_: int) -> Entry:
    """The entry with this id."""
    piece = tokenizer.pieces[id_]
    return Entry(id_, piece, visible(piece), id_ < len(SPECIALS))


@dataclass(frozen=True)
class Summary:
    """A vocabulary in numbers: `pieces` of any kind, of these `characters` that stand alone, `merges` learned on top of
    them, `spaced` pieces that begin with a space, `longest` the piece with the most characters."""

    kind: Kind
    pieces: int
    characters: int
    merges: int
    spaced: int
    longest: Entry


def summary(tokenizer: Tokenizer) -> Summary:
    """The vocabulary in numbers."""
    ordinary = range(len(SPECIALS), len(tokenizer))
    pieces = [tokenizer.pieces[id_] for id_ in ordinary]
    return Summary(
        kind=kind(tokenizer),
        pieces=len(tokenizer),
        characters=sum(len(piece) == 1 for piece in pieces),
        merges=len(merge_ranks(tokenizer)),
        spaced=sum(piece.startswith(" ") and piece != " " for piece in pieces),
        longest=entry(tokenizer, max(ordinary, key=lambda id_: len(tokenizer.pieces[id_]))),
    )


def summarised(atlas: Atlas, side: Side) -> Summary:
    """The vocabulary of one side in numbers."""
    return summary(getattr(atlas.tokenizers, side))


def kind(tokenizer: Tokenizer) -> Kind:
    """Whether pieces are merged from characters (byte-pair encoding) or every character is its own piece."""
    return "bpe" if _rules(tokenizer)["type"] == "BPE" else "characters"


@lru_cache(maxsize=16)
def merge_ranks(tokenizer: Tokenizer) -> Mapping[tuple[str, str], int]:
    """Every merge of two pieces with its rank: 0 was learned first and is applied first. Empty without merges."""
    return {(left, right): rank for rank, (left, right) in enumerate(_rules(tokenizer).get("merges", ()))}


@lru_cache(maxsize=16)
def _rules(tokenizer: Tokenizer) -> dict[str, Any]:
    """As its library writes it down; read once, since that takes a tenth of a second."""
    rules: dict[str, Any] = json.loads(tokenizer.engine.to_str())["model"]
    return rules


@dataclass(frozen=True)
class Merge:
    """One step of cutting a word: the pair of rank `rank` was joined; `pieces` is the word after it."""

    rank: int
    left: str
    right: str
    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Word:
    """What is cut on its own: `text` in the form the tokenizer reads (NFC, a space in front), its `characters`, the merges
    in the order they are applied, the `pieces` that remain, and their tokens. A space alone is no token."""

    text: str
    characters: tuple[str, ...]
    merges: tuple[Merge, ...]
    pieces: tuple[str, ...]
    tokens: tuple[Token, ...]


def cut(tokenizer: Tokenizer, text: str) -> tuple[Word, ...]:
    """How each word of a text becomes pieces: its characters, then always the pair that was learned earliest."""
    ranks, tokens, words = merge_ranks(tokenizer), iter(tokenizer.encode(text)), []
    for word in _words(tokenizer, text):
        units = tuple(word) if ranks else (word,)
        known = tuple(unit if unit in tokenizer.vocabulary else SPECIALS[UNKNOWN] for unit in units)
        merges = _merged(known, ranks)
        pieces = merges[-1].pieces if merges else known
        kept = [piece for piece in pieces if tokenizer.vocabulary[piece] != tokenizer.space]
        words.append(Word(word, units, merges, pieces, tuple(next(tokens) for _ in kept)))
    return tuple(words)


def words_of(atlas: Atlas, trace: Trace, side: Side) -> tuple[Word, ...]:
    """How the text of one side is cut."""
    return cut(getattr(atlas.tokenizers, side), trace.source_text if side == "source" else trace.target_text)


def most_merged(words: Sequence[Word]) -> int:
    """The index of the first word that took the most pieces or, among equals, the most merges: the one worth looking at."""
    return max(range(len(words)), key=lambda index: (len(words[index].pieces), len(words[index].merges), -index), default=0)


def _words(tokenizer: Tokenizer, text: str) -> list[str]:
    engine = tokenizer.engine
    normal = engine.normalizer.normalize_str(re.sub("[\ud800-\udfff]", "\ufffd", text))
    return [word for word, _ in engine.pre_tokenizer.pre_tokenize_str(normal)]


def _merged(characters: tuple[str, ...], ranks: Mapping[tuple[str, str], int]) -> tuple[Merge, ...]:
    pieces, steps = list(characters), []
    while found := [(ranks[pair], at) for at, pair in enumerate(pairwise(pieces)) if pair in ranks]:
        rank, at = min(found)
        left, right = pieces[at : at + 2]
        pieces[at : at + 2] = [left + right]
        steps.append(Merge(rank, left, right, tuple(pieces)))
    return tuple(steps)


@dataclass(frozen=True)
class Found:
    """What a search found: how many entries in all, and the first of them, the closest first."""

    total: int
    entries: tuple[Entry, ...]


def search(tokenizer: Tokenizer, asked: str, most: int = MOST_HITS) -> Found:
    """The entries that hold this text, whatever its case, or have this id. Nothing asked: all, in the order of their ids.

    A space in front, typed or as the sign that stands for it, asks for pieces that begin a word.
    """
    wanted = unicodedata.normalize("NFC", asked.replace(SPACE, " ")).casefold()
    wanted = f" {wanted.strip()}" if wanted.startswith(" ") and wanted.strip() else wanted.strip()
    if not wanted:
        return Found(len(tokenizer.pieces), tuple(entry(tokenizer, id_) for id_ in range(min(most, len(tokenizer.pieces)))))
    found = []
    for id_, piece in enumerate(tokenizer.pieces):
        folded = piece.casefold()
        if wanted in folded or wanted == str(id_) or (wanted.startswith("u+") and wanted == visible(piece).casefold()):
            closeness = (
                0 if str(id_) == wanted or folded.strip() == wanted.strip() else 1 if folded.strip().startswith(wanted) else 2
            )
            found.append((closeness, id_))
    return Found(len(found), tuple(entry(tokenizer, id_) for _, id_ in sorted(found)[:most]))


@dataclass(frozen=True)
class Spelling:
    """The same text written another way, whether that `differs` from what was typed, and whether its ids are the `same`."""

    name: str
    differs: bool
    same: bool


def spellings(tokenizer: Tokenizer, text: str) -> tuple[Spelling, ...]:
    """Ways to write a text that look alike on a screen, each cut by the tokenizer and compared with the text as typed."""
    ids = [token.id for token in tokenizer.encode(text)]
    ways = {
        "composed": unicodedata.normalize("NFC", text),
        "decomposed": unicodedata.normalize("NFD", text),
        "no_break": text.replace(" ", "\N{NO-BREAK SPACE}"),
        "narrow": text.replace(" ", "\N{NARROW NO-BREAK SPACE}"),
        "ideographic": text.replace(" ", "\N{IDEOGRAPHIC SPACE}"),
        "doubled": text.replace(" ", "  "),
        "zero_width": text.replace(" ", " \N{ZERO WIDTH SPACE}"),
    }
    return tuple(
        Spelling(name, written != text, [token.id for token in tokenizer.encode(written)] == ids)
        for name, written in ways.items()
    )


def spellings_of(atlas: Atlas, trace: Trace, side: Side) -> tuple[Spelling, ...]:
    """The text of one side written in other ways."""
    return spellings(getattr(atlas.tokenizers, side), trace.source_text if side == "source" else trace.target_text)
