"""Plain tables of numbers (numpy.savetxt, a spreadsheet): a row a query, a column a key, perhaps with names."""

import csv
from collections.abc import Sequence

import numpy as np

from model.adapters.matrices.checks import LONGEST, Kind, Made, Map, made
from model.adapters.matrices.labels import labels
from model.adapters.matrices.problem import MatrixError

Rows = list[list[str]]
_PERCENT = 20  # a table of percentages has one above this
_SUMS = ((0.5, 1.5), (50.0, 150.0))  # of rows of shares, and of percentages, which are refused by their name


def cells(text: str) -> Rows | None:
    """The cells of a table, or None for any other text.

    A table has two rows at least, equally long, whose numbers sum to about 1 (or 100), which those of lists of links do not.
    Raises `MatrixError` for one that is too long to be shown.
    """
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("# ")]
    if len(lines) < 2 or "|||" in lines[0]:  # what translation systems write
        return None
    for sign in ("\t", ";", ",", " "):
        found = [_parted(lines[0], sign)]
        corner = found[0][:1] == [""]
        for line in lines[1 : LONGEST + 2]:
            row = _parted(line, sign) if line.count(sign) < 4 * LONGEST else []
            if not found[0] or not _is_row(row, corner) or (len(found) > 1 and len(row) != len(found[1])):
                break
            found.append(row)
        else:
            if len(lines) > LONGEST + 1:
                raise MatrixError("long", array="table", axis="query", given=len(lines), limit=LONGEST)
            return found if _broken(found[1:]) else None
    return None


def table(rows: Rows) -> Made:
    """The trace of a table: of a sentence to itself where its rows and columns have the same names. Raises `MatrixError`."""
    corner = len(rows[0]) == len(rows[1]) and not rows[0][0]
    headed = corner or any(_number(cell) is None for cell in rows[0][1:]) or len(rows[0]) < len(rows[1])
    body = rows[1:] if headed else rows
    if len(body[0]) != len(body[-1]):  # only a row of names may have another length
        raise MatrixError("ragged", array="table")
    named = corner or any(_number(row[0]) is None for row in body)
    keys = rows[0][-(len(body[0]) - named) :] if headed else []
    queries = [row[0] for row in body] if named else []
    weights = np.array([[_number(cell) for cell in row[named:]] for row in body], np.float32)[None, None]
    source, target = labels(keys, "columns"), labels(queries, "rows")
    if weights.shape[2] == weights.shape[3] and (source == target or not target):
        kind: Kind = "encoder.self_attention"
        return made([Map(kind, weights)], {"source": source})
    return made([Map("decoder.cross_attention", weights)], {"source": source, "target": target})


def _is_row(row: Sequence[str], named: bool) -> bool:
    """Whether this is a row of shares, behind a name (which may be a number) or not."""
    numbers = [_number(cell) for cell in row]
    if len(row) < 2 or None in numbers[1:]:
        return False
    total = sum(number for number in numbers[named:] if number is not None)
    return any(low <= total <= high for low, high in _SUMS)


def _broken(rows: Rows) -> bool:
    """Whether a number is no whole one: pairs of places are."""
    return any(number % 1 > 0 or number > _PERCENT for row in rows for number in map(_number, row) if number is not None)


def _parted(line: str, sign: str) -> list[str]:
    """Cells; a comma in a number is a point where cells are parted by something else than commas and spaces."""
    if sign == " ":
        return line.split()
    try:
        found = [cell.strip() for cell in next(csv.reader([line], delimiter=sign), [])]
    except csv.Error:
        return []
    return [_pointed(cell) for cell in found] if sign in "\t;" else found


def _pointed(cell: str) -> str:
    pointed = cell.replace(",", ".", 1)
    return cell if _number(pointed) is None else pointed


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if np.isfinite(number) and "_" not in cell else None
