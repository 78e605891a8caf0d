"""Gold word alignments for measuring: read from files of tokens, turned into text that a model can read.

Models read natural text, gold files hold tokens with spaces between. The text is built here token by token, so that the
place of every gold word in it is known and no word is ever looked for.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.alignment import pharaoh
from model.alignment.words import Span, words

NO_SPACE_BEFORE = {".", ",", ")", "]", "…", "..."}
NO_SPACE_BEFORE_ENGLISH = {"?", "!", ":", ";"}  # French puts a space there, and so do the pairs learned from
NO_SPACE_AFTER = {"(", "["}
ENGLISH_ENDING = re.compile(r"(?:'(?:s|m|d|t|re|ve|ll)|n't)", re.IGNORECASE)


@dataclass(frozen=True)
class GoldPair:
    """One annotated pair: its words, the sure and the possible links (source, target)."""

    name: str
    number: int  # of the pair in its file, from 0
    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: pharaoh.Links
    possible: pharaoh.Links

    @property
    def longest(self) -> int:
        """Words on the longer side."""
        return max(len(self.source), len(self.target))

    @property
    def chooses(self) -> bool:
        """Whether it belongs to the half on which settings are chosen; the other half is for scores."""
        return self.number % 2 == 0

    def flipped(self) -> "GoldPair":
        """The same pair for the opposite direction of translation."""
        sure, possible = (frozenset((j, i) for i, j in links) for links in (self.sure, self.possible))
        return GoldPair(self.name, self.number, self.target, self.source, sure, possible)


def read(path: Path, longest: int | None = None) -> list[GoldPair]:
    """The pairs of a gold file, only those of at most `longest` words where that is given; numbers stay those of the file."""
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")]
    pairs = []
    for number, line in enumerate(lines):
        source, target, links = line.split("\t")
        pair = GoldPair(
            path.name.split(".")[0], number, tuple(source.split(" ")), tuple(target.split(" ")), *pharaoh.parse(links)
        )
        if longest is None or pair.longest <= longest:
            pairs.append(pair)
    return pairs


def usual_case(sentences: Iterable[str]) -> dict[str, str]:
    """How each word is mostly written when it is not the first of its sentence: `tom` -> `Tom`, `i` -> `I`."""
    forms: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for word in words(sentence, split_punctuation=True)[1:]:
            forms.setdefault(word.lower(), Counter())[word] += 1
    best = {lower: counts.most_common(1)[0][0] for lower, counts in forms.items()}
    return {lower: form for lower, form in best.items() if form != lower and len(form) == len(lower)}


def natural(tokens: Sequence[str], language: str, case: Mapping[str, str]) -> tuple[str, tuple[Span, ...]]:
    """Text as people write it, and the span of each token in it; wholly lower-case sentences get their usual case back."""
    if all(token == token.lower() for token in tokens):
        tokens = [case.get(token, token) for token in tokens]
        tokens[0] = tokens[0][0].upper() + tokens[0][1:]
    text, spans, glued, quoted = "", [], True, False
    for index, token in enumerate(tokens):
        closing = token == '"' and (quoted or index == len(tokens) - 1)
        quoted = quoted != (token == '"')
        if not (glued or closing or _joins_left(token, language)):
            text += " "
        spans.append((len(text), len(text) + len(token)))
        text += token
        glued = language == "zh" or token in NO_SPACE_AFTER or (token == '"' and not closing) or _joins_right(token, language)
    return text, tuple(spans)


def _joins_left(token: str, language: str) -> bool:
    if language == "fr":
        return token in NO_SPACE_BEFORE or re.fullmatch(r"-\w+", token) is not None
    return token in NO_SPACE_BEFORE | NO_SPACE_BEFORE_ENGLISH or ENGLISH_ENDING.fullmatch(token) is not None


def _joins_right(token: str, language: str) -> bool:
    return language == "fr" and len(token) > 1 and token.endswith("'")
