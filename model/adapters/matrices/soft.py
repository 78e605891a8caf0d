"""Soft alignments as translation systems print them: for each target word the weights of the source words.

A row is named by the word that it wrote; what it read is the word before, at first the start token.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from model.adapters.matrices.checks import Made, Map, made, stacked
from model.adapters.matrices.labels import labels
from model.adapters.matrices.problem import MatrixError, at, said
from model.tokenizer import encodable

START, END = "<s>", "</s>"
_BAR = re.compile(r"\s*\|\|\|\s*")
_SHOWN = 60  # characters of a line that are quoted

Sentence = Callable[[], Made]


def read(text: str) -> tuple[str, Iterator[tuple[int, Sentence]]]:
    """The format of a text file, and for each sentence its line and what makes it: headings and blocks, or a line a sentence."""
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise MatrixError("empty")
    if _heading(lines[0]):
        return "sockeye", _blocks(lines)
    return "marian", ((number, partial(_line, line)) for number, line in enumerate(lines, start=1))


def _line(line: str) -> Made:
    """Marian's `--alignment soft`: "0.9,0.1 0.2,0.8", behind the translation (and what else is printed) and |||.

    In an n-best list the number of the sentence stands before, and scores stand behind.
    """
    parts = [part.strip() for part in _BAR.split(line.strip())]
    column = next((index for index in range(len(parts) - 1, -1, -1) if "," in parts[index] and _numeric(parts[index])), None)
    if column is None:
        raise MatrixError("no_soft", given=line[:_SHOWN])
    rows = [_row(group.split(",")) for group in parts[column].split()]
    before = [part.split() for part in parts[:column]]
    if len(before) == 2 and parts[0].isdigit() and len(rows[0]) > 2:
        before = before[1:]
    target = _fitting(before[-1] if before else [], len(rows), "query")
    source = _fitting(before[-2] if len(before) > 1 else [], len(rows[0]), "key")
    return _made(rows, source, target)


def _heading(line: str) -> list[str] | None:
    """The parts of "id ||| target ||| score ||| source ||| numbers"; its two numbers may stand together or apart."""
    parts = _BAR.split(line.strip())
    ends = " ".join(parts[4:]).split()
    return parts if len(parts) in (5, 6) and len(ends) == 2 and all(end.isdigit() for end in ends) else None


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, Sentence]]:
    """A heading, then a line of weights for each target word; an empty line may stand between sentences."""
    heads = [place for place, line in enumerate(lines) if _heading(line)]
    for start, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        rows = [(number, line) for number, line in enumerate(lines[start + 1 : end], start=start + 2) if line.strip()]
        yield start + 1, partial(_block, lines[start], rows)


def _block(heading: str, written: Sequence[tuple[int, str]]) -> Made:
    parts, rows = _heading(heading) or [], []
    for number, values in written:
        with at("line", number):
            rows.append(_row(values.split()))
    if not rows:
        raise MatrixError("no_rows")
    return _made(rows, _fitting(parts[3].split(), len(rows[0]), "key"), _fitting(parts[1].split(), len(rows), "query"))


MATRICES = ("attention_matrix", "attention_alignment", "matrix")
TARGETS = ("target_tokens", "translation", "target_sent", "target")
SOURCES = ("source_tokens", "source_sent", "source")


def is_sentence(content: Mapping[str, Any]) -> bool:
    """Whether an object of JSON is a sentence of Sockeye: its matrix with its words."""
    return any(name in content for name in MATRICES)


def sentence(content: Mapping[str, Any]) -> Made:
    """A matrix (target, source) with its words as lists or as texts."""
    name = next(name for name in MATRICES if name in content)
    weights = stacked(content[name], name)
    target, source = (
        labels(next((content[name] for name in names if content.get(name) is not None), []), names[0])
        for names in (TARGETS, SOURCES)
    )
    return _of(weights, _fitting(source, weights.shape[3], "key"), _fitting(target, weights.shape[2], "query"))


def are_links(content: Any) -> bool:
    """Whether a list is Nematus' links: [target word, source word, weight, ...]."""
    return isinstance(content, list) and bool(content) and all(
        isinstance(link, list) and len(link) >= 3 and isinstance(link[0], str) and isinstance(link[1], str) for link in content
    )  # fmt: skip


def links(content: Sequence[Sequence[Any]]) -> Made:
    """Nematus' JSON: links row by row, each with its words; both sentences end in </s>, which tells how long a row is."""
    sources = [link[1] for link in content]
    width = sources.index(END) + 1 if END in sources else len(content)
    if len(content) % width:
        raise MatrixError("links", given=len(content), places=width)
    rows = [content[start : start + width] for start in range(0, len(content), width)]
    return _made(
        [_row([str(link[2]) for link in row]) for row in rows],
        labels([str(link[1]) for link in rows[0]], "links"),
        labels([str(row[0][0]) for row in rows], "links"),
    )


def links_of(content: Mapping[str, Any]) -> list[list[Any]]:
    """Links that stand in an object with its nodes, as the same rows."""
    given = content["links"]
    if not isinstance(given, list) or not given or not all(isinstance(link, dict) for link in given):
        raise MatrixError("links", given=len(given) if isinstance(given, list) else 0, places=0)
    return [[str(link.get("target")), str(link.get("source")), link.get("value")] for link in given]


def _made(rows: Sequence[Sequence[float]], source: Sequence[str], target: Sequence[str]) -> Made:
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise MatrixError("row_lengths", least=lengths[0], most=lengths[-1])
    return _of(stacked(np.array(rows), "weights"), source, target)


def _of(weights: Any, source: Sequence[str], target: Sequence[str]) -> Made:
    if target:
        sides = {"source": source, "target": [START, *target[:-1]]}
        return made([Map("decoder.cross_attention", weights)], sides, target)
    places = [str(place) for place in range(weights.shape[2])]
    found = made([Map("decoder.cross_attention", weights)], {"source": source, "target": places}, places)
    return replace(found, doubts=(said("no_tokens", side="target"), *found.doubts))


def _fitting(words: list[str], places: int, axis: str) -> list[str]:
    """The words along an axis, and the end token where the system counts it; none where the file has none."""
    if len(words) + 1 == places and words:
        return [*words, END]
    if words and len(words) != places:
        raise MatrixError("word_count", axis=axis, places=places, words=len(words))
    return words


def _row(values: Sequence[str]) -> list[float]:
    try:
        return [float(np.float32(float(value))) for value in values]
    except (ValueError, OverflowError):
        raise MatrixError("not_numbers", given=encodable(" ".join(values))[:_SHOWN]) from None


def _numeric(text: str) -> bool:
    return re.fullmatch(r"[0-9eE+\-.,\snaif]+", text) is not None
