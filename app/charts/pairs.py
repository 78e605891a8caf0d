"""Pairs of tokens in a map of self-attention, as LaTeX."""

from app.charts.formulas import aligned, number
from model.trace import Trace


def directed(*, turned: bool) -> str:
    """A weight and the weight back; with rotary positions queries and keys have a prime, being turned."""
    prime = "'" if turned else ""

    def weight(here: str, there: str) -> str:
        score = rf"\frac{{q{prime}_{here} \cdot k{prime}_{there}}}{{\sqrt{{d_k}}}}"
        return rf"a_{{{here},{there}}} = \mathrm{{softmax}}_{there}\!\left({score}\right)"

    return rf"{weight('i', 'j')} \neq {weight('j', 'i')}"


def three(*, turned: bool, bias: bool) -> str:
    """The three attentions of a layer: what each makes its queries, keys and values of; R turns by position."""

    def projected(stream: str, name: str) -> str:
        return f"{stream} W^{name}" + (f" + b^{name}" if bias else "")

    def one(name: str, asks: str, answers: str, mask: str = "") -> str:
        query, key = projected(asks, "Q"), projected(answers, "K")
        rotation = "R" if turned and asks == answers else ""
        query = f"{rotation}({query})" if bias or rotation else query
        value = f"({projected(answers, 'V')})" if bias else projected(answers, "V")
        score = rf"\frac{{{query}\, {rotation}({key})^\top}}{{\sqrt{{d_k}}}}{mask}"
        return rf"\text{{{name}}} = \mathrm{{softmax}}\!\left({score}\right) {value}"

    return aligned(one("encoder", "X", "X"), one("decoder", "X", "X", r" + \text{mask}"), one("cross", "Z", "M"))


def both_ways(trace: Trace, attention: str, head: int, row: int, column: int) -> str:
    """The weight of a pair and the weight back."""
    weights = trace[f"{attention}.weights"].tensor[0, head]
    there, back = float(weights[row, column]), float(weights[column, row])
    return rf"a_{{{row},{column}}} = {number(there, 4)}, \qquad a_{{{column},{row}}} = {number(back, 4)}"
