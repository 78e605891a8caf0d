"""Learning rates against published curves."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LinearLR, SequentialLR

from model.training.schedule import constant, cooldown, cosine, noam


@pytest.mark.parametrize(
    ("d_model", "warmup", "peak", "first", "late"),
    [
        (512, 4000, 6.987712e-4, 1.746928e-7, 3.125e-4),
        (512, 8000, 4.941059e-4, 6.176324e-8, 3.125e-4),
        (256, 4000, 9.882118e-4, 2.470529e-7, 4.419417e-4),
    ],
)
def test_published_curves(d_model: int, warmup: int, peak: float, first: float, late: float) -> None:
    assert noam(warmup, d_model, warmup) == pytest.approx(peak, rel=1e-6)
    assert noam(1, d_model, warmup) == pytest.approx(first, rel=1e-6)
    assert noam(20_000, d_model, warmup) == pytest.approx(late, rel=1e-6)


def test_it_rises_in_a_straight_line_to_the_end_of_warm_up_and_falls_after() -> None:
    rates = [noam(step, 64, 50) for step in range(1, 200)]
    assert max(range(len(rates)), key=rates.__getitem__) + 1 == 50
    assert rates[:50] == pytest.approx([rates[0] * step for step in range(1, 51)])
    assert all(one > other for one, other in itertools.pairwise(rates[49:]))
    assert noam(200, 64, 50) == pytest.approx(noam(50, 64, 50) / 2)  # with the root of the step


def test_a_wider_model_learns_more_slowly() -> None:
    assert noam(9, 256, 50) / noam(9, 512, 50) == pytest.approx(math.sqrt(2))
    assert noam(9, 256, 50, factor=3) == pytest.approx(3 * noam(9, 256, 50))


@pytest.mark.parametrize("step", [0, -1])
def test_step_0_is_refused(step: int) -> None:
    with pytest.raises(ValueError, match=f"noam counts steps from 1, but step={step} was given"):
        noam(step, 512, 4000)


@pytest.mark.parametrize(("d_model", "warmup"), [(0, 4000), (512, 0)])
def test_other_numbers_below_1_are_refused(d_model: int, warmup: int) -> None:
    with pytest.raises(ValueError, match=f"d_model={d_model} and warmup={warmup} must be 1 or more"):
        noam(1, d_model, warmup)


def test_cooldown_falls_in_a_straight_line_over_the_last_steps() -> None:
    factors = [cooldown(step, 10, 4) for step in range(1, 11)]
    assert factors == pytest.approx([1, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2])
    assert cooldown(11, 10, 4) == 0
    assert [cooldown(step, 10, 0) for step in (1, 10)] == [1, 1]


def rates_of(schedule: Callable[..., Any], count: int, lr: float, **settings: Any) -> list[float]:
    """What a scheduler of PyTorch gives, its epoch being our update: the first rate is that of step 1."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)
    made = schedule(optimizer, **settings)
    found = []
    for _ in range(count):
        found.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        made.step()
    return found


def after_a_rise(optimizer: torch.optim.Optimizer, warmup: int, steps: int | None) -> SequentialLR:
    rise = LinearLR(optimizer, start_factor=1 / warmup, total_iters=warmup - 1)
    rest = CosineAnnealingLR(optimizer, T_max=steps - warmup) if steps else LambdaLR(optimizer, lambda _: 1.0)
    return SequentialLR(optimizer, [rise, rest], milestones=[warmup - 1])


def test_noam_is_lambda_lr() -> None:
    expected = rates_of(LambdaLR, 300, lr=1.0, lr_lambda=lambda epoch: noam(epoch + 1, 64, 50, 2.0))
    assert expected == pytest.approx([2 * 64**-0.5 * min(step**-0.5, step * 50**-1.5) for step in range(1, 301)], rel=1e-12)
    assert [noam(step, 64, 50, 2.0) for step in range(1, 301)] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("warmup", [2, 7, 40])
def test_constant_and_cosine_are_sequential_lr(warmup: int) -> None:
    steps, peak = 100, 3e-4
    held = rates_of(after_a_rise, steps, lr=peak, warmup=warmup, steps=None)
    assert [constant(step, peak, warmup) for step in range(1, steps + 1)] == pytest.approx(held, rel=1e-9)
    falling = rates_of(after_a_rise, steps, lr=peak, warmup=warmup, steps=steps)
    assert [cosine(step, peak, warmup, steps) for step in range(1, steps + 1)] == pytest.approx(falling, rel=1e-9, abs=1e-15)


def test_all_three_meet_at_the_end_of_warm_up() -> None:
    peak = noam(4000, 512, 4000)
    assert constant(4000, peak, 4000) == cosine(4000, peak, 4000, 20_000) == peak
    assert constant(2000, peak, 4000) == cosine(2000, peak, 4000, 20_000) == pytest.approx(noam(2000, 512, 4000))
    assert cosine(12_000, peak, 4000, 20_000) == pytest.approx(peak / 2)
    assert cosine(20_000, peak, 4000, 20_000) == pytest.approx(0, abs=1e-18)
    assert cosine(30_000, peak, 4000, 20_000) == pytest.approx(0, abs=1e-18)


def test_what_cannot_be_is_refused() -> None:
    for schedule in (lambda step: constant(step, 1e-3, 10), lambda step: cosine(step, 1e-3, 10, 20)):
        with pytest.raises(ValueError, match="steps are counted from 1, but step=0 was given"):
            schedule(0)
    with pytest.raises(ValueError, match=r"warmup=0 must be 1 or more, and peak=0\.001 above 0"):
        constant(1, 1e-3, 0)
    with pytest.raises(ValueError, match="steps=10 leaves nothing after warmup=10"):
        cosine(1, 1e-3, 10, 10)
