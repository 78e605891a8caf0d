"""Schedules as curves, the two mistakes with them, and what those do to a training."""

import pytest

import model
from model.analysis import schedules, schedules_tried
from model.analysis.schedules import Setting
from model.practice.order import Order
from model.training.schedule import noam


def test_the_points_of_a_curve_begin_at_1_and_hold_what_was_asked_for() -> None:
    points = schedules.points(20_000, 4000, 8000, 30_000)
    assert (points[0], points[-1]) == (1, 20_000)
    assert {4000, 8000} <= set(points)
    assert list(points) == sorted(set(points))
    assert schedules.points(5, 2) == (1, 2, 3, 4, 5)
    assert schedules.points(1) == (1,)
    with pytest.raises(ValueError, match="last=0 is no step"):
        schedules.points(0)


def test_the_three_curves_meet_at_the_peak_of_the_paper() -> None:
    paper = Setting(*schedules.PAPER)
    steps = (1, 2000, 4000, 20_000)
    found = schedules.curves(paper, 20_000, steps)
    assert found["noam"] == pytest.approx((1.746928e-7, 3.493856e-4, 6.987712e-4, 3.125e-4), rel=1e-6)
    assert found["constant"] == pytest.approx((1.746928e-7, 3.493856e-4, 6.987712e-4, 6.987712e-4), rel=1e-6)
    assert found["cosine"] == pytest.approx((1.746928e-7, 3.493856e-4, 6.987712e-4, 0), rel=1e-6, abs=1e-18)
    assert schedules.curves(paper, 4000, steps)["cosine"] == (None,) * 4
    assert Setting(512, 8000).peak == pytest.approx(4.941059e-4, rel=1e-6)
    assert Setting(256, 4000).peak == pytest.approx(9.882118e-4, rel=1e-6)


def test_asked_once_an_epoch_the_rate_is_next_to_nothing() -> None:
    paper = Setting(*schedules.PAPER)
    rates = [schedules.by_epoch(step, paper, 5000) for step in range(1, 100_001, 100)]
    assert rates[:50] == [noam(1, 512, 4000)] * 50
    assert rates[50] == noam(2, 512, 4000)
    assert max(rates) == noam(20, 512, 4000)
    assert max(rates) < paper.peak / 100
    assert schedules.by_epoch(7, paper, 1) == noam(7, 512, 4000)
    seen = schedules.highest_by_epoch(paper, 5000, 20_000)
    assert (seen.highest, seen.right) == (noam(4, 512, 4000), paper.peak)
    assert seen.little
    assert not schedules.highest_by_epoch(paper, 5, 20_000).little
    assert paper.rate(paper.half) == pytest.approx(paper.peak / 2)
    with pytest.raises(ValueError, match="counted from 1"):
        schedules.by_epoch(0, paper, 10)


def test_without_warm_up_the_first_steps_are_the_longest() -> None:
    setting = Setting(512, 4000, 2.0)
    rates = [schedules.without_warmup(step, setting) for step in range(1, 5000, 7)]
    assert rates[0] == pytest.approx(2 * 512**-0.5)
    assert rates == sorted(rates, reverse=True)
    assert schedules.without_warmup(4001, setting) == pytest.approx(setting.rate(4001))


def test_the_schedule_of_a_card() -> None:
    card = {"training": {"command": "python -m model.training --pairs 'a b.tsv' --warmup 800 --factor 0.5 --steps 5000"}}
    assert schedules.of_card(card, 192) == Setting(192, 800, 0.5)
    assert schedules.of_card({"training": {"command": "x --warmup 800"}}, 192) == Setting(192, 800)
    assert schedules.of_card({}, 192) == Setting(512, 4000)
    assert schedules.worth_showing(card, 20_000) == schedules.worth_showing({"training": {"steps": 5000}}, 20_000) == 20_000


def test_a_model_that_practised_says_its_schedule() -> None:
    toy, order = model.load("toy"), Order()
    settings = order.settings()
    found = schedules.of_card(toy.card, toy.config.d_model)
    assert (found.d_model, found.warmup, found.factor) == (64, settings.warmup, pytest.approx(settings.factor, rel=1e-5))
    assert found.peak == pytest.approx(3e-3, rel=1e-5)
    assert toy.card["training"]["cooldown"] == settings.cooldown
    assert schedules.worth_showing(toy.card, 20_000) == order.steps


def test_what_is_shipped_is_what_the_trainings_find() -> None:
    shipped = schedules_tried.shipped()
    assert shipped.keys() == schedules_tried.RATES.keys()
    for name, rate in schedules_tried.RATES.items():
        assert shipped[name].rates == pytest.approx([rate(step) for step in range(1, schedules_tried.STEPS + 1)])
        assert len(shipped[name].losses) == schedules_tried.STEPS
    again = schedules_tried.trained(schedules_tried.RATES["cosine"], steps=12)  # the beginning of the same training
    assert shipped["cosine"].losses[:12] == pytest.approx(again.losses, abs=1e-4)


def test_a_training_pays_for_a_missing_warm_up() -> None:
    right, wrong = (schedules_tried.trained(schedules_tried.RATES[name], steps=70) for name in ("noam", "without_warmup"))
    assert right.rates == tuple(schedules_tried.SETTING.rate(step) for step in range(1, 71))
    assert wrong.rates[0] > 5 * max(right.rates)
    assert right.loss < 0.7 * wrong.loss
    assert right.right > 2 * wrong.right
    assert right.losses[0] == wrong.losses[0]  # the same weights and the same sequences


def test_not_shifted_the_loss_is_nothing_and_so_is_what_it_writes() -> None:
    trial = schedules_tried.trained(schedules_tried.RATES["noam"], shift=0, steps=80)
    assert trial.loss < 1e-2
    assert trial.written == trial.given[-1:] * len(trial.given)  # it says again what it reads
    assert trial.right < 0.4
