"""Decoding in formulas with their numbers, and as a file."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from app.charts.archive import saved
from app.charts.formulas import number, probability


def softmax(logit: float, log_sum: float, entries: int) -> str:
    """The probability of one token: the exponential of its logit over the sum of all."""
    return (
        rf"p = \frac{{e^{{{number(logit)}}}}}{{\sum_{{j=1}}^{{{entries}}} e^{{z_j}}}}"
        rf" = \frac{{e^{{{number(logit)}}}}}{{e^{{{number(log_sum)}}}}} = {probability(logit - log_sum)}"
    )


def divided(logit: float, other: float, temperature: float, kept: int) -> str:
    """How many times likelier one token is than another, before and after the logits are divided."""
    gap = logit - other
    if not temperature:
        return rf"T \to 0: \quad p = 1, \qquad {kept}\ \text{{of}}\ V"
    return (
        rf"\frac{{p_1}}{{p_2}} = e^{{({number(logit)} - {_bracketed(other)}) / {number(temperature)}}}"
        rf" = {_ratio(gap / temperature)} \qquad (T = 1:\ {_ratio(gap)})"
    )


def worth(total: float, length: int, alpha: float, penalty: float, result: float) -> str:
    """What an output is worth: its log-probability over the length penalty."""
    return (
        rf"s = \frac{{{number(total)}}}{{\left(\frac{{5 + {length}}}{{6}}\right)^{{{alpha:g}}}}}"
        rf" = \frac{{{number(total)}}}{{{number(penalty, 3)}}} = {number(result, 3)}"
    )


def _bracketed(value: float) -> str:
    return f"({number(value)})" if value < 0 else number(value)


def _ratio(logarithm: float) -> str:
    if logarithm > math.log(1e6):
        return rf"10^{{{logarithm / math.log(10):.1f}}}"
    return number(math.exp(logarithm), 2)


def npz(
    logits: np.ndarray,
    labels: Mapping[str, Sequence[str]],
    numbers: Mapping[str, Sequence[Sequence[float]] | Sequence[float] | Sequence[int]],
    caption: Mapping[str, str],
) -> bytes:
    """The logits of every step (step, vocab), the tokens, whatever `numbers` names, and a caption; nothing in it is pickled."""
    arrays: dict[str, np.ndarray] = {"logits": logits}
    arrays |= {f"tokens.{name}": np.array(list(values), dtype=np.str_) for name, values in labels.items()}
    arrays |= {name: np.array(values) for name, values in numbers.items()}
    return saved(arrays, caption)
