"""The formulas of rotary positions with one query's and one key's numbers in them, as LaTeX. Only numbers and symbols."""

from collections.abc import Sequence

from torch import Tensor

from app.charts.formulas import LARGEST_TERMS, number, summed


def turned_pair(pair: int, position: int, w: float, matrix: Tensor, query: Tensor, turned: Tensor) -> str:
    """The rotation of one pair: matrix, numbers before, numbers after.

    `query` and `turned` are rows (1, head_dim), `matrix` (head_dim, head_dim) turns the one into the other.
    """
    at = [2 * pair, 2 * pair + 1]
    upper, lower = (" & ".join(number(value, 4) for value in row) for row in matrix[at][:, at].T.tolist())
    before, after = (r" \\ ".join(number(value, 3) for value in values[0, at].tolist()) for values in (query, turned))
    return (
        rf"{position} \cdot w_{{{pair}}} = {position} \cdot {number(w, 4)}, \qquad "
        rf"\begin{{pmatrix}} {upper} \\ {lower} \end{{pmatrix}} "
        rf"\begin{{pmatrix}} {before} \end{{pmatrix}} = \begin{{pmatrix}} {after} \end{{pmatrix}}"
    )


def score(
    offset: int, width: int, first: tuple[float, float, float], terms: Sequence[float], product: float, score: float
) -> str:
    """The score as the sum of its cosines: the first one written out (size, frequency, phase), and the division."""
    size, w, phase = first
    sign = "-" if phase < 0 else "+"
    terms_shown = summed(terms[:LARGEST_TERMS], 3) + (r" + \cdots" if len(terms) > LARGEST_TERMS else "")
    written = rf"{number(size, 3)} \cos({offset} \cdot {number(w)} {sign} {number(abs(phase), 3)})"
    return (
        rf"\underset{{\scriptscriptstyle i=0}}{{{written}}} + \cdots = {terms_shown} = {number(product, 3)}, \qquad "
        rf"\frac{{{number(product, 3)}}}{{\sqrt{{{width}}}}} = {number(score, 4)}"
    )
