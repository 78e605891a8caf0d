"""Text <-> pieces <-> ids, every piece with its place in the text as typed."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Engine

from model.config import END as END
from model.config import PADDING as PADDING
from model.config import START as START
from model.config import UNKNOWN as UNKNOWN

RECENT = 256  # texts whose pieces are kept
SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")  # named by PADDING, START, END and UNKNOWN


@dataclass(frozen=True)
class Token:
    """One piece of a sentence.

    `text` is what was typed (for special tokens their name), `span` its place in the text as typed, counted in
    characters; special tokens have an empty span. `unknown`: the vocabulary has no id for it.
    """

    text: str
    id: int
    span: tuple[int, int]
    special: bool = False
    unknown: bool = False

    @property
    def unknown_name(self) -> str:
        """What the vocabulary calls a piece that it has no id for."""
        return SPECIALS[UNKNOWN]

    @property
    def label(self) -> str:
        """A printable form, never empty: invisible characters by number, unknown pieces marked."""
        shown = printable(self.text)
        return f"{self.unknown_name} {shown}" if self.unknown and self.text != self.unknown_name else shown


@lru_cache(maxsize=2**14)
def printable(text: str) -> str:
    """The text with every character that would not be seen written as U+XXXX."""
    shown = "".join(
        character if character == " " or not unicodedata.category(character).startswith(("C", "Z")) else f"U+{ord(character):04X}"
        for character in text
    )
    if not shown.strip():
        return " ".join(f"U+{ord(character):04X}" for character in text) or "∅"
    return "\N{DOTTED CIRCLE}" + shown if unicodedata.combining(shown[0]) else shown


class Tokenizer:
    """A vocabulary of pieces and the rules that cut a sentence into them.

    Typed text never becomes a special token: "<s>" typed by a user is three ordinary characters. Text is read in Unicode
    NFC whichever way it was typed; spans refer to the text as typed.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.vocabulary: dict[str, int] = engine.get_vocab()
        self.pieces: tuple[str, ...] = tuple(sorted(self.vocabulary, key=self.vocabulary.__getitem__))
        self.space = self.vocabulary.get(" ")  # a space that nothing was merged with; it is not passed on as a token
        self._recent = lru_cache(maxsize=RECENT)(self._cut)  # a page asks for the pieces of its sentence ten times

    def __len__(self) -> int:
        return len(self.pieces)

    def encode(self, text: str) -> tuple[Token, ...]:
        """The pieces of a sentence, without special tokens."""
        return self._recent(text)

    def _cut(self, text: str) -> tuple[Token, ...]:
        encoding = self.engine.encode(encodable(text), add_special_tokens=False)
        following = [*(begin for begin, _ in encoding.offsets[1:]), len(text)]
        tokens = []
        for id_, (begin, end), limit in zip(encoding.ids, encoding.offsets, following, strict=False):
            if id_ == self.space:
                continue
            while begin < end - 1 and text[begin].isspace():  # a piece owns the space before it; its label does not
                begin += 1
            while end < limit and not text[end].isspace():  # marks typed apart belong to the letter that they compose
                end += 1
            tokens.append(Token(text[begin:end], id_, (begin, end), unknown=id_ == UNKNOWN))
        return tuple(tokens)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Only the ids of many sentences, fast."""
        encodings = self.engine.encode_batch_fast([encodable(text) for text in texts], add_special_tokens=False)
        return [[id_ for id_ in encoding.ids if id_ != self.space] for encoding in encodings]

    def decode(self, ids: Iterable[int], after: str = "") -> str:
        """The text of these pieces behind that of `after`; special tokens are left out, an unknown piece shows as <unk>."""
        written = "".join(self.pieces[id_] for id_ in ids if id_ not in (PADDING, START, END)).rstrip()
        return after + written if after else written.lstrip()

    def produced(self, ids: Sequence[int], after: str = "") -> tuple[Token, ...]:
        """The tokens of a text that was produced rather than typed: their spans lie in `decode(ids, after)`."""
        tokens, length, whole = [], len(after), len(self.decode(ids, after))  # decode drops a space that was produced last
        for id_ in ids:
            if id_ in (PADDING, START, END):
                tokens.append(special(id_, min(length, whole)))
                continue
            piece = self.pieces[id_] if length else self.pieces[id_].lstrip()
            begin = length + len(piece) - len(piece.lstrip())
            length += len(piece)
            span = min(begin, whole), min(length, whole)
            tokens.append(Token(piece.lstrip(), id_, span, unknown=id_ == UNKNOWN))
        return tuple(tokens)

    def save(self, path: Path) -> None:
        """Write the vocabulary and the rules; put in place at once, so that a kill leaves no half of it."""
        new = path.with_suffix(".new")
        new.write_text(json.dumps(json.loads(self.engine.to_str()), ensure_ascii=False, indent=0), encoding="utf-8")
        new.replace(path)

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        return cls(Engine.from_str(path.read_text(encoding="utf-8")))


def encodable(text: str) -> str:
    """Half a surrogate pair is no character; it is read as the replacement character, so that positions stay."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def special(id_: int, at: int = 0) -> Token:
    """A token that is not text: padding, start or end."""
    return Token(SPECIALS[id_], id_, (at, at), special=True)


def train_bpe(sentences: Sequence[str], vocab_size: int, minimum: int = 5) -> Tokenizer:
    """Byte-pair encoding (Sennrich et al. 2016) on characters, within words, numbers and runs of punctuation.

    A piece at the beginning of a word carries the space before it, also in front of the sentence, so that joining pieces
    gives the text back. Digits stand alone. A character that occurs fewer than `minimum` times stays unknown, so that the
    model learns what to do with an unknown piece.
    """
    engine = Engine(models.BPE(unk_token=SPECIALS[UNKNOWN]))
    engine.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Replace(Regex(r"[\s\u00a0\u202f]+"), " "),
            normalizers.Strip(),
            normalizers.Prepend(" "),
        ]
    )
    engine.pre_tokenizer = pre_tokenizers.Split(Regex(r" ?\p{N}| ?[\p{L}\p{M}]+| ?[^\s\p{L}\p{M}\p{N}]+"), behavior="isolated")
    counts = Counter("".join(map(engine.normalizer.normalize_str, sentences)))
    engine.train_from_iterator(
        sentences,
        trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=list(SPECIALS),
            limit_alphabet=sum(count >= minimum for count in counts.values()),
            show_progress=False,
        ),
    )
    return _without_control_tokens(engine)


def train_characters(sentences: Iterable[str], minimum: int = 1) -> Tokenizer:
    """Every character that occurs at least `minimum` times has an id; spaces are not tokens."""
    engine = Engine(models.WordLevel(unk_token=SPECIALS[UNKNOWN]))
    engine.normalizer = normalizers.NFC()
    engine.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\s+"), behavior="removed"),
            pre_tokenizers.Split(Regex(r"."), behavior="isolated"),
        ]
    )
    engine.train_from_iterator(
        sentences,
        trainers.WordLevelTrainer(
            min_frequency=minimum, special_tokens=list(SPECIALS), show_progress=False, vocab_size=1_000_000
        ),
    )
    return _without_control_tokens(engine)


def train_words(sentences: Iterable[str]) -> Tokenizer:
    """Every word has an id, and so has every run of punctuation: for small languages whose words are all known.

    As in `train_bpe`, a piece carries the space before it, so that joining pieces gives the text back.
    """
    engine = Engine(models.WordLevel(unk_token=SPECIALS[UNKNOWN]))
    engine.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip(), normalizers.Prepend(" ")]
    )
    engine.pre_tokenizer = pre_tokenizers.Split(Regex(r" ?[\p{L}\p{M}\p{N}]+| ?[^\s\p{L}\p{M}\p{N}]+"), behavior="isolated")
    engine.train_from_iterator(sentences, trainers.WordLevelTrainer(special_tokens=list(SPECIALS), show_progress=False))
    return _without_control_tokens(engine)


def _without_control_tokens(engine: Engine) -> Tokenizer:
    """The same tokenizer in which no typed text is matched as a special token (the trainer registers them for matching)."""
    settings = json.loads(engine.to_str())
    settings["added_tokens"] = []
    return Tokenizer(Engine.from_str(json.dumps(settings)))
