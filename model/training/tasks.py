"""Small tasks whose alignment is known exactly: the toy language, copying, reversing, and dates to ISO form.

Each draws as many pairs as one likes from a seed, with the links between their tokens. Which pairs are held out is decided by
the source text alone, so that no training ever sees them, whatever its seed.
"""

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from model.checkpoint import Tokenizers
from model.tokenizer import train_characters, train_words
from model.training import toy_language
from model.training.data import Example
from model.training.toy_language import Link, Written

Part = Literal["train", "held out"]

LETTERS = "abcdefghijklmnop"
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
HELD_OUT = 0.1  # the share of all sources that no training sees


@dataclass(frozen=True)
class Pair:
    """A source, its target, and the links between their tokens: (source token, target token), from 0, without special tokens."""

    source: str
    target: str
    links: frozenset[Link]


@dataclass(frozen=True)
class Task:
    """What is to be learned.

    `draw(chance, shortest, longest)` makes a pair whose source has so many tokens; `lengths` are those of training, `longer`
    those beyond it, None where the task has none. `one_to_one`: no token has two links. `languages`: the codes of both sides
    ("art" is the code of artificial languages), "zxx" where there is none to speak of.
    """

    name: str
    draw: Callable[[random.Random, int, int], Pair]
    lengths: tuple[int, int]
    longer: tuple[int, int] | None
    one_to_one: bool
    languages: tuple[str, str]
    characters: bool = False  # a token is a character, else a word

    def pairs(self, seed: int, part: Part = "train", lengths: tuple[int, int] | None = None) -> Iterator[Pair]:
        """Endlessly many pairs of one part, the same for one seed."""
        chance = random.Random(f"{self.name} {part} {seed}")
        shortest, longest = lengths or self.lengths
        while True:
            pair = self.draw(chance, shortest, longest)
            if is_held_out(pair.source) == (part == "held out"):
                yield pair

    def distinct(self, count: int, seed: int, part: Part = "train", lengths: tuple[int, int] | None = None) -> list[Pair]:
        """`count` pairs with different sources; fewer where twenty times as many draws find no more."""
        found: dict[str, Pair] = {}
        for _, pair in zip(range(20 * count), self.pairs(seed, part, lengths), strict=False):
            found.setdefault(pair.source, pair)
            if len(found) == count:
                break
        return list(found.values())

    @property
    def tokenizers(self) -> Tokenizers:
        """One for each side, or one for both where they are written alike."""
        return _tokenizers(self.name)


def is_held_out(source: str) -> bool:
    """Whether this source is kept from training: a tenth of all are, by a hash of the text."""
    digest = hashlib.blake2b(source.encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") < HELD_OUT * 2**32


def written_pair(task: str, source: str) -> Pair | None:
    """The pair whose source somebody wrote, if it is one of the toy language; None for other texts and other tasks."""
    written = toy_language.read(source.split()) if task == "toy" else None
    return None if written is None else _joined(written)


def examples(pairs: Sequence[Pair], tokenizers: Tokenizers) -> list[Example]:
    """Pairs as ids, with their links the other way round: (target token, source token)."""
    sources = tokenizers.source.ids([pair.source for pair in pairs])
    targets = tokenizers.target.ids([pair.target for pair in pairs])
    return [
        Example(tuple(source), tuple(target), tuple(sorted((t, s) for s, t in pair.links)))
        for pair, source, target in zip(pairs, sources, targets, strict=True)
    ]


# ----- the tasks


def translate(chance: random.Random, shortest: int, longest: int) -> Pair:
    """The toy language: see `model.training.toy_language`."""
    return _joined(toy_language.draw(chance, shortest, longest))


def copy(chance: random.Random, shortest: int, longest: int) -> Pair:
    """Letters, written once more."""
    letters = _letters(chance, shortest, longest)
    return _joined(Written(letters, letters, frozenset((place, place) for place in range(len(letters)))))


def reverse(chance: random.Random, shortest: int, longest: int) -> Pair:
    """Letters, from the last to the first."""
    letters = _letters(chance, shortest, longest)
    last = len(letters) - 1
    return _joined(Written(letters, letters[::-1], frozenset((place, last - place) for place in range(last + 1))))


def date(chance: random.Random, shortest: int = 0, longest: int = 99) -> Pair:
    """A date as people write it, as ISO 8601: "March 5, 2024" is 2024-03-05. Characters are tokens, spaces are none.

    Every digit of the year is linked to itself; both digits of the month to all characters that write it, those of the day
    to those of the day; the hyphens to nothing.
    """
    year, month, day = chance.randint(1900, 2099), chance.randint(1, 12), chance.randint(1, 28)
    name = chance.choice((MONTHS[month - 1], MONTHS[month - 1][:3], str(month)))
    parts = {
        "name": (("m", name), ("", " "), ("d", str(day)), ("", ", "), ("y", str(year))),
        "day": (("d", str(day)), ("", " "), ("m", name), ("", " "), ("y", str(year))),
        "number": (("d", str(day)), ("", "."), ("m", name), ("", "."), ("y", str(year))),
    }[chance.choice(("name", "day")) if name.isalpha() else "number"]
    places = _places(parts)
    years = {(source, target) for target, source in enumerate(places["y"])}
    others = {
        (source, target) for kind, targets in (("m", (5, 6)), ("d", (8, 9))) for source in places[kind] for target in targets
    }
    return Pair("".join(text for _, text in parts), f"{year}-{month:02}-{day:02}", frozenset(years | others))


def _places(parts: tuple[tuple[str, str], ...]) -> dict[str, list[int]]:
    """Where the tokens of each kind stand, spaces not counted."""
    kinds = [kind for kind, text in parts for character in text if not character.isspace()]
    return {name: [place for place, kind in enumerate(kinds) if kind == name] for name in ("y", "m", "d")}


def _letters(chance: random.Random, shortest: int, longest: int) -> tuple[str, ...]:
    return tuple(chance.choice(LETTERS) for _ in range(chance.randint(shortest, longest)))


def _joined(written: Written) -> Pair:
    return Pair(" ".join(written.source), " ".join(written.target), written.links)


TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        Task("toy", translate, (5, 12), (13, 24), one_to_one=True, languages=("en", "art")),
        Task("copy", copy, (3, 10), (11, 20), one_to_one=True, languages=("zxx", "zxx")),
        Task("reverse", reverse, (3, 10), (11, 20), one_to_one=True, languages=("zxx", "zxx")),
        Task("dates", date, (0, 99), None, one_to_one=False, languages=("en", "zxx"), characters=True),
    )
}


@cache
def _tokenizers(name: str) -> Tokenizers:
    if name == "toy":
        content = (toy_language.NOUNS, toy_language.VERBS, toy_language.ADJECTIVES)
        source = [*toy_language.ARTICLES, *(word for words in content for word in words), toy_language.AND[0]]
        particles = (toy_language.SUBJECT, toy_language.OBJECT, toy_language.AND[1])
        target = [*particles, *(word for words in content for word in words.values())]
        return Tokenizers(train_words(source), train_words(target))
    if name == "dates":
        known = f"{''.join(MONTHS)}0123456789,.-"
        shared = train_characters(sorted(set(known)))
    else:
        shared = train_words(list(LETTERS))
    return Tokenizers(shared, shared)
