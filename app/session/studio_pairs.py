"""What can be said of a pair before any work: that it may be no translation, or in other languages than the model's."""

import math
from collections.abc import Sequence

from app.session.common_words import may_be
from app.session.loading import known_words, languages
from model.alignment import words
from model.alignment.formats import Entry

FLAGS = ("empty", "source_language", "target_language", "copy", "ratio", "problem")

UNUSUAL = math.log(2.1)  # how far the ratio of lengths may be from the usual one
FEW = 3  # words by which a side must be longer as well: of two words against one nothing is said
CHINESE = 1.5  # Chinese characters and marks for each word of English


def flags_of(entries: Sequence[Entry], name: str, *, alone: bool = False) -> list[frozenset[str]]:
    """The flags of each pair for a model of this name; `alone`: the targets are still to be written."""
    source, target = languages(name)[:2]
    usual = {("en", "zh"): CHINESE, ("zh", "en"): 1 / CHINESE}.get((source, target), 1.0)
    closed = known_words(name)  # a small language of its own: nothing is known of its words and lengths
    return [frozenset(_flags(entry, source, target, usual, alone=alone, closed=closed)) for entry in entries]


def _flags(entry: Entry, source: str, target: str, usual: float, *, alone: bool, closed: bool) -> list[str]:
    if not entry.source or not (entry.target or alone):
        return ["empty"]
    found = []
    if not closed and not may_be(entry.source, source):
        found.append("source_language")
    if alone or closed:
        return found
    if not may_be(entry.target, target):
        found.append("target_language")
    if entry.source == entry.target and any(map(str.isalpha, entry.source)):
        found.append("copy")
    sources, targets = (len(words.split(side, True)) for side in (entry.source, entry.target))
    expected = sources * usual
    if sources and targets and abs(math.log(targets / expected)) > UNUSUAL and abs(targets - expected) >= FEW:
        found.append("ratio")
    return found
