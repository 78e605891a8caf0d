"""Learning rates against published curves."""

import itertools
import math

import pytest

from model.training.schedule import cooldown, noam


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
