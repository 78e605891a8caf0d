"""What can be said of a pair before any work: that it may be no translation, or in other languages than the model's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.session.loading import languages
from model.alignment import words

if TYPE_CHECKING:
    from model.alignment.formats import Entry

FLAGS = ("empty", "source_language", "target_language", "copy", "ratio")

UNUSUAL = math.log(1.8)  # how far the ratio of lengths may be from the usual one
FEW = 3  # words by which a side must be longer as well: of two words against one nothing is said
CHINESE = 1.5  # Chinese characters and marks for each word of English


def flags_of(entries: Sequence[Entry], name: str) -> list[frozenset[str]]:
    """The flags of each pair for a model of this name."""
    source, target = languages(name)[:2]
    usual = {("en", "zh"): CHINESE, ("zh", "en"): 1 / CHINESE}.get((source, target), 1.0)
    return [frozenset(_flags(entry, source, target, usual)) for entry in entries]


def _flags(entry: Entry, source: str, target: str, usual: float) -> list[str]:
    if not entry.source or not entry.target:
        return ["empty"]
    found = []
    if not may_be(entry.source, source):
        found.append("source_language")
    if not may_be(entry.target, target):
        found.append("target_language")
    if entry.source == entry.target:
        found.append("copy")
    sources, targets = (len(words.split(side, True)) for side in (entry.source, entry.target))
    if sources and targets:
        expected = sources * usual
        if abs(math.log(targets / expected)) > UNUSUAL and abs(targets - expected) >= FEW:
            found.append("ratio")
    return found


def may_be(written: str, language: str) -> bool:
    """Whether a text may be in this language: Chinese is told from other writing."""
    share = words.chinese_share(written[:1000])
    return share is None or (share > 0 if language == "zh" else share <= 0.5)
