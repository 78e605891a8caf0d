"""Learning rates by step."""


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


def cooldown(step: int, steps: int, last: int) -> float:
    """A factor that falls in a straight line from 1 to 0 over the `last` of `steps` updates; 1 before that."""
    return min(1.0, (steps - step + 1) / (last + 1))
