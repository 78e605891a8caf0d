"""Pairs of tokens in a map of self-attention, as LaTeX."""

from app.charts.formulas import number
from model.trace import Trace

DIRECTED = (
    r"a_{i,j} = \mathrm{softmax}_j\!\left(\frac{q_i \cdot k_j}{\sqrt{d_k}}\right)"
    r" \neq a_{j,i} = \mathrm{softmax}_i\!\left(\frac{q_j \cdot k_i}{\sqrt{d_k}}\right)"
)


def both_ways(trace: Trace, attention: str, head: int, row: int, column: int) -> str:
    """The weight of a pair and the weight back."""
    weights = trace[f"{attention}.weights"].tensor[0, head]
    there, back = float(weights[row, column]), float(weights[column, row])
    return rf"a_{{{row},{column}}} = {number(there, 4)}, \qquad a_{{{column},{row}}} = {number(back, 4)}"
