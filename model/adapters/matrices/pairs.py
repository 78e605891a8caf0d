"""Brought matrices laid beside sentence pairs: their tokens joined to the words that the pairs are counted in."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Int16

from model.adapters.matrices.problem import MatrixError
from model.alignment import words
from model.alignment.extract import ROWS, Choice, Labels, WordWeights, cross_attention, of_map, of_weights
from model.alignment.pharaoh import Link
from model.tokenizer import Token
from model.trace import Trace

_LANGUAGE = re.compile(r">>\w+<<|__[a-z]{2,3}__|<2\w+>|[a-z]{2,3}_([A-Z]{2}|[A-Z][a-z]{3})")
"""Tokens that name a language to a model of many: >>fra<< (Marian), __fr__ (M2M-100), <2fr>, fr_XX (mBART), fra_Latn (NLLB)."""


def between_words(trace: Trace, source: Sequence[str], target: Sequence[str]) -> WordWeights:
    """Weights between the words of a pair, over every layer and head (the mean last).

    Tokens find their words by their letters, whatever the case and wherever spaces stand; where letters differ, by their number.
    Raises `MatrixError` for a file without cross-attention, and where neither fits: with the axis and both lengths.
    """
    if "decoder.layers.0.cross_attention.weights" not in trace:
        raise MatrixError("no_cross")
    keys = _of_words(trace.source, trace.source_text, source, "key", "source")
    read = _of_words(trace.target, trace.target_text, target, "query", "target") if not trace.produced else ()
    produced = _of_words(trace.produced, trace.target_text, target, "query", "target") if trace.produced else read
    if not read:  # the words that were read are those that were produced, one step later, where the file tells both
        read = produced if _same(trace) else (len(target), *produced[:-1])
    return of_weights(cross_attention(trace), Labels(keys, produced, read, len(source), len(target)))


def rows_of(trace: Trace) -> tuple[str, ...]:
    """By which rows a word of the target can be looked up: "produced", "read"; one of them where the file tells one."""
    if not trace.produced:
        return ROWS[1:]
    return ROWS[:1] if _same(trace) else ROWS


def best(weights: WordWeights) -> Int16[np.ndarray, "layer one_more row target"]:
    """The source word with the largest weight for each target word of every choice, -1 for none (`corpus.Aligned.best`)."""
    both = np.stack([weights.produced.numpy(), weights.read.numpy()], axis=2)
    found, highest = both.argmax(axis=-1), both.max(axis=-1)
    return np.where((highest > 0.0) & (found < weights.sources), found, -1).astype(np.int16)


def links(weights: WordWeights, choice: Choice, threshold: float | None) -> dict[Link, float]:
    """The links of one choice with their weights."""
    found = weights.at(choice).numpy()
    return {(i, j): float(found[j, i]) for i, j in of_map(found, weights.sources, threshold)}


def _same(trace: Trace) -> bool:
    return [token.text for token in trace.produced] == [token.text for token in trace.target]


def _of_words(tokens: Sequence[Token], text: str, given: Sequence[str], axis: str, side: str) -> tuple[int, ...]:
    """The word of each token; special tokens are words of their own behind the last, and so is an end that has no name."""
    plain = [token for token in tokens if not token.special]
    places = _by_letters([token.text for token in plain], given)
    if places is None and any(_LANGUAGE.fullmatch(token.text) for token in plain):
        tokens = [replace(token, special=token.special or bool(_LANGUAGE.fullmatch(token.text))) for token in tokens]
        return _of_words(tokens, text, given, axis, side)
    if places is None and len(plain) == len(given) + 1 and [token.text for token in plain] == list(map(str, range(len(plain)))):
        return tuple(range(len(plain)))  # a file without tokens, which counts the end of the sentence as systems do
    if places is None and len(plain) == len(given):
        places = list(range(len(plain)))
    if places is None:
        joined = words.of_tokens(plain, text, split_punctuation=False)
        places = list(joined) if len(set(joined)) == len(given) else None
    if places is None:
        raise MatrixError("pair_words", axis=axis, side=side, given=len(plain), needed=len(given))
    found, special, at = [], len(given), iter(places)
    for token in tokens:
        if token.special:
            found.append(special)
            special += 1
        else:
            found.append(next(at))
    return tuple(found)


def _by_letters(pieces: Sequence[str], given: Sequence[str]) -> list[int] | None:
    """The word of each piece, where both spell the same; a piece belongs to the word in which it begins."""
    letters, whole = [_letters(piece) for piece in pieces], [_letters(word) for word in given]
    if not all(letters) or "".join(letters) != "".join(whole):
        return None
    owner = [number for number, word in enumerate(whole) for _ in word]
    starts = np.cumsum([0, *map(len, letters)])
    return [owner[int(start)] for start in starts[:-1]]


def _letters(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).casefold().split())
