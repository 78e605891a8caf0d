"""What can be said of a pair before any work: that it may be no translation, or in other languages than the model's."""

import math
import re
from collections.abc import Sequence

from app.session.common_words import READ, may_be
from app.session.loading import known_words, languages
from model.alignment import words
from model.alignment.formats import Entry

FLAGS = ("empty", "source_language", "target_language", "copy", "ratio", "problem")

UNUSUAL = math.log(2.1)  # how far the ratio of lengths may be from the usual one
FEW = 3  # words by which a side must be longer as well: of two words against one nothing is said
_LATIN = re.compile("[A-Za-zªº\u00c0-\u024f\u1e00-\u1eff\uff21-\uff5a\ufb00-\ufb06]")
_KANA_OR_HANGUL = re.compile("[\u3041-\u3096\u30a1-\u30fa\uac00-\ud7a3]")
CHINESE = 1.5  # Chinese characters and marks for each word of English


def flags_of(entries: Sequence[Entry], name: str, *, alone: bool = False) -> list[frozenset[str]]:
    """The flags of each pair for a model of this name; `alone`: the targets are still to be written."""
    source, target = languages(name)[:2]
    usual = {("en", "zh"): CHINESE, ("zh", "en"): 1 / CHINESE}.get((source, target), 1.0)
    closed = known_words(name)  # a small language of its own: nothing is known of its words and lengths
    return [frozenset(_flags(entry, source, target, usual, alone=alone, closed=closed)) for entry in entries]


def _may_be(written: str, language: str) -> bool:
    """Whether a side may be in this language, by its words and by its script."""
    return may_be(written, language) and _script_fits(written[:READ], language)


def _script_fits(written: str, language: str) -> bool:
    """Whether most letters are Latin where the language has these; or none is Japanese or Korean where it is Chinese."""
    if language == "zh":
        return _KANA_OR_HANGUL.search(written) is None
    letters = sum(map(str.isalpha, written))
    return 2 * len(_LATIN.findall(written)) >= letters


def _flags(entry: Entry, source: str, target: str, usual: float, *, alone: bool, closed: bool) -> list[str]:
    if not entry.source.strip() or not (entry.target.strip() or alone):
        return ["empty"]
    found = []
    if not closed and not _may_be(entry.source, source):
        found.append("source_language")
    if alone or closed:
        return found
    if not _may_be(entry.target, target):
        found.append("target_language")
    if entry.source == entry.target and any(map(str.isalpha, entry.source)):
        found.append("copy")
    sources, targets = (len(words.split(side, True)) for side in (entry.source, entry.target))
    expected = sources * usual
    if sources and targets and abs(math.log(targets / expected)) > UNUSUAL and abs(targets - expected) >= FEW:
        found.append("ratio")
    return found
