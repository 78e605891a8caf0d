"""The sinusoidal table in LaTeX, with this example's numbers. Only numbers and symbols."""

from collections.abc import Sequence

from app.charts.formulas import aligned, number

DIGITS = 4
Pair = tuple[float, float]


def cell(position: int, dimension: int, wave: str, pair: int, d_model: int, base: float, angle: float, value: float) -> str:
    """One number of the table: its wave ("sin" or "cos") of position / base^(2 pair / d_model)."""
    fraction = rf"\frac{{{position}}}{{{base:g}^{{{2 * pair}/{d_model}}}}}"
    return (
        rf"PE({position}, {dimension}) = \{wave}\left({fraction}\right) = \{wave}({number(angle, DIGITS)})"
        rf" = {number(value, DIGITS)}"
    )


def block(pair: int, angle: float, rows: tuple[Pair, Pair]) -> str:
    """The block of one pair: its angle, and the rotation."""
    return rf"k\, w_{{{pair}}} = {number(angle, DIGITS)}, \qquad R_{{{pair}}} = {_matrix(rows)}"


def turned(rows: tuple[Pair, Pair], before: Pair, after: Pair, position: int, offset: int) -> str:
    """The pair of one position before and after its block."""
    moved = f"{position} {'+' if offset >= 0 else '-'} {abs(offset)}"
    return (
        rf"{_matrix(rows)} \underbrace{{{_matrix([[value] for value in before])}}}_{{p = {position}}}"
        rf" = \underbrace{{{_matrix([[value] for value in after])}}}_{{p = {moved}}}"
    )


def added(rows: tuple[Pair, Pair], before: Pair, after: Pair) -> str:
    """The same as two sums: a sine and a cosine of p + k from those of p and of k."""
    c, s = (_bracketed(value) for value in rows[0])
    sine, cosine = (_bracketed(value) for value in before)
    return aligned(
        rf"{sine} \cdot {c} + {cosine} \cdot {s} = {number(after[0], DIGITS)}",
        rf"{cosine} \cdot {c} - {sine} \cdot {s} = {number(after[1], DIGITS)}",
    )


def product(distance: int, value: float, d_model: int, squared_length: float) -> str:
    """The dot product of two positions at this distance, beside that of a position with itself."""
    whole = rf"\lVert PE(p) \rVert^2 = \tfrac{{{d_model}}}{{2}} = {number(squared_length, 0)}"
    return rf"PE(p) \cdot PE(p + {distance}) = \sum_i \cos({distance}\, w_i) = {number(value, DIGITS)}, \qquad {whole}"


def _bracketed(value: float) -> str:
    shown = number(value, DIGITS)
    return f"({shown})" if shown.startswith("-") else shown


def _matrix(rows: Sequence[Sequence[float]]) -> str:
    lines = r" \\ ".join(" & ".join(number(value, DIGITS) for value in row) for row in rows)
    return rf"\begin{{bmatrix}} {lines} \end{{bmatrix}}"
