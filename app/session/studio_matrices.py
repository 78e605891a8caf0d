"""Brought matrices as an aligner of a study: their own choice of layer, head and row, their threshold, their links."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.session.matrices import Refused, read_matrices
from app.session.rates import allowed
from app.session.studio_rivals import Rival, add_file, rivals
from app.session.studio_study import File, Study
from app.session.studio_table import Links
from model.adapters.matrices import Matrices, MatrixError
from model.adapters.matrices.pairs import best, between_words, links, rows_of
from model.adapters.matrices.problem import said
from model.alignment.extract import ROWS, Choice, Row, WordWeights
from model.alignment.formats.link_tables import Written
from model.alignment.formats.problem import Message
from model.alignment.heads import Scoreboard, scoreboard
from model.alignment.pharaoh import Link

SIDE = "matrices"
_ARRAYS = (b"PK", b"\x93NUMPY")  # how a file begins that is one of arrays, whatever is in it
_NOT_OURS = frozenset({"no_soft", "names", "entry", "json", "binary", "web", "empty", "too_large"})  # it may be a file of links
FIRST = Choice(0, None, "produced")


@dataclass(frozen=True)
class Misfit:
    """Why a pair (from 0; None: the file as a whole) has no matrix."""

    pair: int | None
    message: Message


@dataclass(frozen=True)
class Scored:
    """A pair with what each choice links in it, as `heads.scoreboard` takes it."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    best: np.ndarray
    problem: object | None = None


@dataclass(eq=False)
class MatrixRival(Rival):
    """Weights between the words of each pair, None where a pair has none; `rows` are those that the file tells apart."""

    weights: list[WordWeights | None] = field(default_factory=list)
    scored: list[Scored | None] = field(default_factory=list)
    misfits: list[Misfit] = field(default_factory=list)
    rows: tuple[Row, ...] = ROWS
    choice: Choice = FIRST
    threshold: float | None = None
    refused: Refused | None = None
    weighted: list[Mapping[Link, float] | None] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, int]:
        """How many layers and heads there are to choose from."""
        found = next((one.produced.shape for one in self.weights if one is not None), (0, 1))
        return found[0], found[1] - 1

    def use(self, choice: Choice, threshold: float | None) -> None:
        """Take the links from there."""
        self.choice, self.threshold = choice, threshold
        self.weighted = [None if one is None else links(one, choice, threshold) for one in self.weights]
        linked: Links = [None if one is None else frozenset(one) for one in self.weighted]
        self.sides = {SIDE: linked}


def add_links_or_matrices(study: Study, file: File) -> None:
    """A file beside the pairs of the study: matrices where it holds any, else links."""
    found = read_matrices(file.name, file.content)
    if _may_be_links(file.content, found.code if isinstance(found, Refused) else ""):
        add_file(study, file)
    elif not allowed("upload"):
        return
    elif isinstance(found, Refused):
        _put(study, MatrixRival("matrices", file.name, state="failed", refused=found))
    else:
        add_matrices(study, file.name, found)


def _may_be_links(content: bytes, refused: str) -> bool:
    """Whether a file is rather one of links: it is refused as no matrix, or lists of lists that have no names.

    Those of whole numbers alone are links, though they may have the shape of a matrix.
    """
    nameless = content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[[")
    if nameless and b"." not in content:
        return True
    return bool(refused) and (nameless or refused in _NOT_OURS) and not content.startswith(_ARRAYS)


def add_matrices(study: Study, name: str, matrices: Matrices) -> None:
    """Lay matrices that were read beside the pairs that are aligned so far; what does not fit is told by pair and axis."""
    rival = MatrixRival("matrices", name, state="done", share=1.0)
    by_pair = dict(zip(matrices.numbers, matrices.traces, strict=True))
    for doubt in matrices.doubts:
        if doubt.left_out:
            rival.misfits.append(Misfit(None, doubt.message))
    if (most := max(by_pair) + 1) > study.done:
        rival.misfits.append(Misfit(None, said("pair_over", given=most, needed=study.done)))
    shape: tuple[int, int] | None = None
    for index, aligned in enumerate(list(study.results)):
        weights: WordWeights | None = None
        try:
            if index not in by_pair:
                raise MatrixError("pair_left")
            weights = between_words(by_pair[index], aligned.source_words, aligned.target_words)
            layers, heads = weights.produced.shape[:2]
            if shape and shape != (layers, heads):
                raise MatrixError("pair_shape", given=f"{layers} × {heads - 1}", needed=f"{shape[0]} × {shape[1] - 1}")
            shape = layers, heads
        except MatrixError as error:
            weights = None
            rival.misfits.append(Misfit(index, error.message))
        rival.weights.append(weights)
        rival.scored.append(None if weights is None else Scored(aligned.source_words, aligned.target_words, best(weights)))
    _put(study, rival)
    if shape is None:
        rival.state = "failed"
        return
    rival.rows = _rows(rival, matrices)
    rival.use(Choice(shape[0] - 1, None if shape[1] > 2 else 0, rival.rows[0]), None)


def use_matrices(study: Study, id: str, choice: Choice, threshold: float | None) -> None:
    """Another layer, head, row or threshold of brought matrices; what they do not have is not taken."""
    rival = rivals(study).get(id)
    if not isinstance(rival, MatrixRival) or rival.state != "done":
        return
    layers, heads = rival.shape
    if 0 <= choice.layer < layers and (choice.head is None or 0 <= choice.head < heads) and choice.row in rival.rows:
        rival.use(choice, threshold)


def matrix_scores(study: Study, id: str) -> Scoreboard | None:
    """Every layer, head and row of brought matrices against the gold; None without gold."""
    rival = rivals(study).get(id)
    if not isinstance(rival, MatrixRival) or rival.state != "done" or not study.has_gold():
        return None
    there = [(one, study.gold_of(index)) for index, one in enumerate(rival.scored) if one is not None]
    key = (rival, study.version)  # another file of the same name is another rival
    return study.once(f"scores {id}", key, lambda: scoreboard([one for one, _ in there], [gold for _, gold in there]))


def matrix_links(study: Study, rival: MatrixRival, format: str) -> bytes:
    """The links of brought matrices with their weights, in a format of `write_alignments`; empty where a pair has none.

    It does not look at the session: a download is made after the run that offered it.
    """
    from model.alignment.formats import write_alignments

    rows = [
        Written(dict(sorted((found or {}).items())), frozenset(found or {}), aligned.source_words, aligned.target_words)
        for found, aligned in zip(rival.weighted, study.results, strict=False)
    ]
    file = io.BytesIO()
    write_alignments(rows, file, format)
    return file.getvalue()


def _rows(rival: MatrixRival, matrices: Matrices) -> tuple[Row, ...]:
    told: Sequence[Row] = [row for row in ROWS if all(row in rows_of(trace) for trace in matrices.traces)]
    return tuple(told) or ROWS[:1]


def _put(study: Study, rival: MatrixRival) -> None:
    rivals(study)[f"{SIDE}:{rival.name}"] = rival
