"""Tokens and embeddings in LaTeX: the formulas with this example's numbers. Only numbers and symbols."""

import math
from collections.abc import Sequence

from app.charts.formulas import number

SHOWN = 4  # numbers of a row that are printed


def looked_up(position: int, id_: int, size: int, row: Sequence[float]) -> str:
    """The one-hot vector of a token times the table is the token's row."""
    shown = r",\; ".join(number(value, 3) for value in row[:SHOWN])
    one_hot = rf"[\,\underbrace{{0, \ldots, 0}}_{{{id_}}},\, 1,\, \underbrace{{0, \ldots, 0}}_{{{size - 1 - id_}}}\,]"
    return rf"o_{{{position}}} = {one_hot}, \qquad o_{{{position}}} E = E_{{{id_}}} = [{shown},\; \ldots]"


def input_cell(position: int, dimension: int, id_: int, width: int, row: float, added: float | None, total: float) -> str:
    """One number of the input: the table's number times the root of the width, plus the position's."""
    name, root = rf"x_{{{position},{dimension}}}", rf"\sqrt{{{width}}} \cdot E_{{{id_},{dimension}}}"
    factor, sign = number(math.sqrt(width), 3), "" if added is None else " - " if added < 0 else " + "
    plus = "" if added is None else rf" + PE({position}, {dimension})"
    value = "" if added is None else f"{sign}{number(abs(added), 3)}"
    return rf"{name} = {root}{plus} = {factor} \cdot {_in_brackets(row)}{value} = {number(total, 3)}"


def lengths(position: int, id_: int, width: int, row: float, scaled: float, added: float | None) -> str:
    """How long the word's part of the sum is, and the position's."""
    word = (
        rf"\lVert \sqrt{{{width}}}\, E_{{{id_}}} \rVert = {number(math.sqrt(width), 3)} \cdot {number(row, 3)} = {number(scaled)}"
    )
    if added is None:
        return word
    return rf"{word}, \qquad \lVert PE({position}) \rVert = \sqrt{{\tfrac{{{width}}}{{2}}}} = {number(added)}"


def _in_brackets(value: float) -> str:
    shown = number(value, 4)
    return f"({shown})" if shown.startswith("-") else shown
