"""Learning rates by step."""

import math


def noam(step: int, d_model: int, warmup: int, factor: float = 1.0) -> float:
    """factor x d_model^-0.5 x min(step^-0.5, step x warmup^-1.5); the peak is at step = warmup (Vaswani et al. 2017, eq. 3).

    Steps count updates from 1: step 0 would divide by zero and is refused.
    """
    if step < 1:
        raise ValueError(f"noam counts steps from 1, but step={step} was given; ask for the rate of the update to come")
    if d_model < 1 or warmup < 1:
        raise ValueError(f"d_model={d_model} and warmup={warmup} must be 1 or more")
    rate: float = factor * float(d_model) ** -0.5 * min(float(step) ** -0.5, step * float(warmup) ** -1.5)
    return rate


def constant(step: int, peak: float, warmup: int) -> float:
    """`peak`, after a rise to it in a straight line over the first `warmup` updates: peak x min(1, step / warmup)."""
    _check(step, peak, warmup)
    return peak * min(1.0, step / warmup)


def cosine(step: int, peak: float, warmup: int, steps: int) -> float:
    """The same rise, then half a cosine down to 0 at `steps`: peak / 2 x (1 + cos(pi (step - warmup) / (steps - warmup))).

    After Loshchilov and Hutter 2017, eq. 5, without restarts; beyond `steps` the rate stays 0.
    """
    _check(step, peak, warmup)
    if steps <= warmup:
        raise ValueError(f"steps={steps} leaves nothing after warmup={warmup}; give more steps than that")
    if step <= warmup:
        return constant(step, peak, warmup)
    return peak / 2 * (1 + math.cos(math.pi * min(1.0, (step - warmup) / (steps - warmup))))


def _check(step: int, peak: float, warmup: int) -> None:
    if step < 1:
        raise ValueError(f"steps are counted from 1, but step={step} was given; ask for the rate of the update to come")
    if warmup < 1 or not peak > 0:
        raise ValueError(f"warmup={warmup} must be 1 or more, and peak={peak} above 0")


def cooldown(step: int, steps: int, last: int) -> float:
    """A factor that falls in a straight line from 1 to 0 over the `last` of `steps` updates; 1 before that."""
    return min(1.0, (steps - step + 1) / (last + 1))
