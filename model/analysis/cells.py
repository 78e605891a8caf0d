"""Single numbers of one head that are set by hand: which may be, and how a link writes them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from model.analysis.steps import path_of
from model.trace import Trace

KINDS = ("query", "scores", "weights")  # in the order of computation
LARGEST = 1e4  # of a value that may be set
MOST = 8  # edits at once


@dataclass(frozen=True)
class CellEdit:
    """One number set by hand: `kind` is one of `KINDS`; row is the query, column the key (for a query: its entry)."""

    kind: str
    row: int
    column: int
    value: float


def problem(trace: Trace, attention: str, layer: int, head: int, edit: CellEdit) -> str:
    """Why this edit cannot be made: "kind", "row", "column", "value" or "masked"; empty if it can.

    A masked score would be covered by -inf right after it was set, and a masked weight is 0 because of that: masked cells
    stay masked.
    """
    path = path_of(attention, layer)
    if edit.kind not in KINDS:
        return "kind"
    rows, columns = trace[f"{path}.{edit.kind}"].tensor.shape[-2:]
    if not 0 <= edit.row < rows:
        return "row"
    if not 0 <= edit.column < columns:
        return "column"
    if not math.isfinite(edit.value) or abs(edit.value) > LARGEST:
        return "value"
    if edit.kind != "query" and float(trace[f"{path}.masked"].tensor[0, head, edit.row, edit.column]) == -math.inf:
        return "masked"
    return ""


_LETTERS = {"query": "q", "scores": "s", "weights": "w"}
_CELL = re.compile(
    r"(?P<kind>[qsw])_(?P<row>\d{1,4})_(?P<column>\d{1,4})_(?P<value>-?\d{1,9}(\.\d{1,20})?(e-\d{1,2})?)", re.ASCII
)


def rounded(value: float) -> float:
    """A value as it is kept: six significant digits, so that a link holds exactly what was computed with."""
    return float(f"{value:.6g}")


def as_text(cells: Sequence[CellEdit]) -> str:
    """The cells in the letters of a URL: "s_3_2_-1.5~w_0_1_0.25". `from_text` reads it again."""
    return "~".join(f"{_LETTERS[cell.kind]}_{cell.row}_{cell.column}_{rounded(cell.value):.6g}" for cell in cells)


def from_text(written: str) -> tuple[CellEdit, ...]:
    """The cells of `as_text`, at most `MOST`; ValueError for anything else."""
    if not written:
        return ()
    parts = written.split("~", MOST)
    found = [_CELL.fullmatch(part) for part in parts]
    if len(parts) > MOST or not all(found):
        raise ValueError(f"{written[:40]!r} is no list of at most {MOST} edits such as s_3_2_-1.5~w_0_1_0.25")
    kinds = {letter: kind for kind, letter in _LETTERS.items()}
    return tuple(
        CellEdit(kinds[match["kind"]], int(match["row"]), int(match["column"]), float(match["value"])) for match in found if match
    )
