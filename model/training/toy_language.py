"""The toy language: small English sentences, and what they are in an invented language with another order of words.

    the red cat sees a dog and the king hears the bird
    miru toba ka velo no dase e  ramo ka pino no lite

Subject, verb, object becomes subject, object, verb; an adjective follows its noun; articles are dropped; a particle marks the
subject (`ka`) and the object (`no`), and nothing in the source says it but the order. So the alignment is known exactly: each
noun, verb, adjective and "and" has one word on the other side; articles and particles have none.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

Link = tuple[int, int]  # source word, target word, from 0

NOUNS = {
    "cat": "miru", "dog": "velo", "bird": "pino", "horse": "taska", "fish": "uli", "mouse": "seni", "king": "ramo",
    "child": "dilu", "woman": "oreta", "man": "bako", "star": "zimi", "tree": "luko",
}  # fmt: skip
VERBS = {
    "sees": "dase", "likes": "fole", "hears": "lite", "finds": "muge", "follows": "ronte", "calls": "vise", "knows": "hale",
    "paints": "kise", "helps": "jome", "feeds": "tupe",
}  # fmt: skip
ADJECTIVES = {
    "red": "toba", "small": "nima", "old": "gura", "young": "pela", "white": "sora", "black": "doka", "happy": "wina",
    "quiet": "hemu",
}  # fmt: skip
ARTICLES = ("the", "a")
SUBJECT, OBJECT = "ka", "no"
AND = ("and", "e")


@dataclass(frozen=True)
class Written:
    """Words of both sides, and which belong together."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: frozenset[Link]

    def __add__(self, other: "Written") -> "Written":
        """This, and behind it the other."""
        moved = {(source + len(self.source), target + len(self.target)) for source, target in other.links}
        return Written(self.source + other.source, self.target + other.target, self.links | moved)


@dataclass(frozen=True)
class NounPhrase:
    """An article, adjectives and a noun, in English."""

    article: str
    adjectives: tuple[str, ...]
    noun: str

    def __len__(self) -> int:
        return 2 + len(self.adjectives)

    def written(self, particle: str) -> Written:
        """The noun comes first in the toy language, its adjectives from the nearest to the farthest; the particle ends it."""
        last = len(self.adjectives) + 1
        source = (self.article, *self.adjectives, self.noun)
        target = (NOUNS[self.noun], *(ADJECTIVES[word] for word in reversed(self.adjectives)), particle)
        return Written(source, target, frozenset((last - place, place) for place in range(last)))


def clause(subject: NounPhrase, verb: str, thing: NounPhrase) -> Written:
    """Subject, verb, object on one side; subject, object, verb on the other."""
    first, second = subject.written(SUBJECT), thing.written(OBJECT)
    at_object, at_verb = len(first.source) + 1, len(first.target) + len(second.target)
    moved = {(source + at_object, target + len(first.target)) for source, target in second.links}
    return Written(
        (*first.source, verb, *second.source),
        (*first.target, *second.target, VERBS[verb]),
        first.links | moved | {(len(first.source), at_verb)},
    )


def sentence(clauses: Sequence[Written]) -> Written:
    """Clauses joined by "and"."""
    whole, *rest = clauses
    joint = Written((AND[0],), (AND[1],), frozenset({(0, 0)}))
    for other in rest:
        whole = whole + joint + other
    return whole


def draw(chance: random.Random, shortest: int, longest: int) -> Written:
    """A sentence of `shortest` to `longest` source words, 5 at least: one clause or several, with up to two adjectives a noun."""
    while True:
        clauses = [_clause(chance)]
        while chance.random() < 0.3 or _length(clauses) < shortest:
            clauses.append(_clause(chance))
        if shortest <= _length(clauses) <= longest:
            return sentence(clauses)


def read(words: Sequence[str]) -> Written | None:
    """The sentence that these English words make, with its translation; None where they are no sentence of the language."""
    made, at = [], 0
    while True:
        subject = _read_phrase(words[at:])
        verb = at + len(subject) if subject else at
        thing = _read_phrase(words[verb + 1 :])
        if subject is None or thing is None or words[verb] not in VERBS:
            return None
        made.append(clause(subject, words[verb], thing))
        at = verb + 1 + len(thing)
        if at == len(words):
            return sentence(made)
        if words[at] != AND[0]:
            return None
        at += 1


def _read_phrase(words: Sequence[str]) -> NounPhrase | None:
    """The noun phrase that these words begin with."""
    place = 1
    while place < len(words) and words[place] in ADJECTIVES:
        place += 1
    if place >= len(words) or words[0] not in ARTICLES or words[place] not in NOUNS:
        return None
    return NounPhrase(words[0], tuple(words[1:place]), words[place])


def _clause(chance: random.Random) -> Written:
    return clause(_noun_phrase(chance), chance.choice(list(VERBS)), _noun_phrase(chance))


def _noun_phrase(chance: random.Random) -> NounPhrase:
    count = chance.choice((0, 0, 0, 1, 1, 2))
    return NounPhrase(chance.choice(ARTICLES), tuple(chance.sample(list(ADJECTIVES), count)), chance.choice(list(NOUNS)))


def _length(clauses: Sequence[Written]) -> int:
    return sum(len(one.source) for one in clauses) + len(clauses) - 1
