"""The formulas of training with an example's numbers in them, as LaTeX, and its numbers as a file."""

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from app.charts.archive import packed
from app.charts.formulas import number
from model.trace import Trace


def power(value: float, digits: int = 3) -> str:
    """A number as a decimal times a power of ten, in LaTeX."""
    leading, _, exponent = f"{value:.{digits}e}".partition("e")
    return rf"{leading} \cdot 10^{{{int(exponent)}}}"


def rate(step: int, d_model: int, warmup: int, factor: float, value: float) -> str:
    """One learning rate from its step, width and warm-up."""
    scale = "" if factor == 1 else rf"{factor:g} \cdot "
    return (
        rf"\eta_{{{step}}} = {scale}{d_model}^{{-0.5}} \cdot \min\left({step}^{{-0.5}},\; {step} \cdot {warmup}^{{-1.5}}\right)"
        rf" = {power(value, 6)}"
    )


def smoothed_loss(target: float, plain: float, from_others: float, total: float, floor: float) -> str:
    """The loss of a row: its right class and all others; and the floor."""
    return (
        rf"L = {number(target, 4)} \cdot {number(plain, 4)} + {number(from_others, 4)} = {number(total, 4)}"
        rf" \;\ge\; H(q) = {number(floor, 4)}"
    )


def perplexity(plain: Sequence[float], mean: float, value: float) -> str:
    """exp of the mean plain loss."""
    shown = " + ".join(number(loss, 3) for loss in plain[:4]) + (r" + \cdots" if len(plain) > 4 else "")
    return rf"\exp\left(\tfrac{{1}}{{{len(plain)}}} ({shown})\right) = e^{{{number(mean, 4)}}} = {number(value, 3)}"


def archive(
    trace: Trace,
    log_probabilities: Tensor,
    rates: Mapping[str, Sequence[float | None]],
    steps: Sequence[int],
    losses: Mapping[str, Sequence[float]],
    caption: Mapping[str, str],
) -> bytes:
    """What the page draws from: log-probabilities (row, vocab), losses of the rows, rates by step, tokens and a caption.

    Read it with `numpy.load(file)`; nothing in it is pickled.
    """  # fmt: skip
    arrays: dict[str, np.ndarray] = {"log_probabilities": log_probabilities.float().cpu().numpy(), "steps": np.array(steps)}
    arrays |= {f"rate.{name}": np.array(values, dtype=np.float64) for name, values in rates.items()}
    arrays |= {f"loss.{name}": np.array(values, dtype=np.float64) for name, values in losses.items()}
    arrays["ids.produced"] = np.array([token.id for token in trace.produced])
    return packed(arrays, trace, caption)
