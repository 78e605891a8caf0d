"""Soft alignments as translation systems print them: for each target word the weights of the source words."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from model.adapters.matrices.checks import Map, MatrixError, labels, made, stacked
from model.trace import Trace

END = "</s>"
_MOST = 1000  # sentences of a file
_BAR = re.compile(r"\s*\|\|\|\s*")


def read(text: str, what: str) -> tuple[str, tuple[Trace, ...]]:
    """The format and the traces of a text file: blocks with a heading (Sockeye, Nematus), or a line a sentence (Marian)."""
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    traces = _blocks(lines, what) if _heading(lines[0]) else _lines(lines, what)
    if len(traces) > _MOST:
        raise MatrixError(f"{what} has {len(traces):,} sentences, at most {_MOST:,} are read; cut it into smaller files")
    return ("sockeye" if _heading(lines[0]) else "marian"), tuple(traces)


def _lines(lines: Sequence[str], what: str) -> list[Trace]:
    """Marian's `--alignment soft`: "0.9,0.1 0.2,0.8", behind the translation (and what else is printed) and |||."""
    traces = []
    for number, line in enumerate(lines, start=1):
        where = f"{what}, line {number}"
        parts = [part.strip() for part in _BAR.split(line.strip())]
        column = next((index for index in range(len(parts) - 1, -1, -1) if "," in parts[index] and _numeric(parts[index])), None)
        if column is None:
            raise MatrixError(
                f'{where}: "{line[:60]}" has no soft alignment; needed is "0.9,0.1 0.2,0.8", one group a target word'
            )
        rows = [_row(group.split(","), f"{where}, target word {index}") for index, group in enumerate(parts[column].split(), 1)]
        before = [part.split() for part in parts[:column]]
        target = _fitting(before[-1] if before else [], len(rows), "query", where)
        source = _fitting(before[-2] if len(before) > 1 else [], len(rows[0]), "key", where)
        traces.append(_trace(rows, source, target, where))
    return traces


def _heading(line: str) -> list[str] | None:
    """The parts of "id ||| target ||| score ||| source ||| numbers"; its two numbers may stand together or apart."""
    parts = _BAR.split(line.strip())
    ends = " ".join(parts[4:]).split()
    return parts if len(parts) in (5, 6) and len(ends) == 2 and all(end.isdigit() for end in ends) else None


def _blocks(lines: Sequence[str], what: str) -> list[Trace]:
    """A heading, then a line of weights for each target word; an empty line may stand between sentences."""
    traces, at = [], 0
    while at < len(lines):
        where, parts = f"{what}, line {at + 1}", _heading(lines[at])
        if parts is None:
            raise MatrixError(
                f'{where}: "{lines[at][:60]}" is no heading; needed is "id ||| target ||| score ||| source ||| 3 4"'
            )
        at += 1
        rows = []
        while at < len(lines) and lines[at].strip() and not _heading(lines[at]):
            rows.append(_row(lines[at].split(), f"{what}, line {at + 1}"))
            at += 1
        if not rows:
            raise MatrixError(f"{where}: axis 'query' has 0 rows below this heading; give a line of weights for each target word")
        target = _fitting(parts[1].split(), len(rows), "query", where)
        source = _fitting(parts[3].split(), len(rows[0]), "key", where)
        traces.append(_trace(rows, source, target, where))
        while at < len(lines) and not lines[at].strip():
            at += 1
    return traces


def is_sentence(content: Mapping[str, Any]) -> bool:
    """Whether an object of JSON is a sentence of Sockeye: its matrix with its words."""
    return any(name in content for name in ("attention_matrix", "attention_alignment", "matrix"))


def sentence(content: Mapping[str, Any], what: str) -> Trace:
    """A matrix (target, source) with its words as lists or as texts."""
    name = next(name for name in ("attention_matrix", "attention_alignment", "matrix") if name in content)
    weights = stacked(content[name], name)

    def words(*names: str) -> list[str]:
        found: Any = next((content[one] for one in names if content.get(one) is not None), [])
        return found.split() if isinstance(found, str) else labels(found, names[0])

    target = _fitting(words("target_tokens", "translation", "target_sent", "target"), weights.shape[2], "query", what)
    source = _fitting(words("source_tokens", "source_sent", "source"), weights.shape[3], "key", what)
    return made([Map("decoder.cross_attention", weights)], {"source": source, "target": target})


def are_links(content: Any) -> bool:
    """Whether a list is Nematus' links: [target word, source word, weight, ...]."""
    return isinstance(content, list) and bool(content) and all(
        isinstance(link, list) and len(link) >= 3 and isinstance(link[0], str) and isinstance(link[1], str) for link in content
    )  # fmt: skip


def links(content: Any, what: str) -> Trace:
    """Nematus' JSON: links row by row, each with its words; both sentences end in </s>, which tells how long a row is."""
    if isinstance(content[0], dict):
        content = [[link.get("target"), link.get("source"), link.get("value")] for link in content[0]["links"]]
    sources = [link[1] for link in content]
    width = sources.index(END) + 1 if END in sources else len(content)
    if len(content) % width:
        raise MatrixError(
            f"{what}: {len(content)} links are no whole rows of axis 'key', which has {width} places up to the first {END}; "
            "give a link for each pair of words"
        )
    rows = [content[start : start + width] for start in range(0, len(content), width)]
    weights = [_row([str(link[2]) for link in row], f"{what}, row {number}") for number, row in enumerate(rows)]
    return _trace(weights, [str(link[1]) for link in rows[0]], [str(row[0][0]) for row in rows], what)


def _trace(rows: Sequence[Sequence[float]], source: Sequence[str], target: Sequence[str], where: str) -> Trace:
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise MatrixError(f"{where}: axis 'key' has {lengths[0]} places in one row, {lengths[-1]} in another; give equally many")
    try:
        return made([Map("decoder.cross_attention", stacked(rows, "weights"))], {"source": source, "target": target})
    except MatrixError as error:
        raise MatrixError(f"{where}: {error}") from None


def _fitting(words: list[str], places: int, axis: str, where: str) -> list[str]:
    """The words along an axis, and the end token where the system counts it; positions where the file has no words."""
    if not words:
        return [str(place) for place in range(places)]
    if len(words) + 1 == places:
        return [*words, END]
    if len(words) != places:
        raise MatrixError(
            f"{where}: axis {axis!r} has {places} places, there are {len(words)} words; give one for each, or one less"
        )
    return words


def _row(values: Sequence[str], where: str) -> list[float]:
    try:
        return [float(np.float32(float(value))) for value in values]
    except ValueError:
        raise MatrixError(f'{where}: "{" ".join(values)[:60]}" is no list of numbers; needed are weights such as 0.9') from None


def _numeric(text: str) -> bool:
    return re.fullmatch(r"[0-9eE+\-.,\snaif]+", text) is not None
