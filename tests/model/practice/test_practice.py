"""Orders within limits; a training that is measured at its moments, stopped and resumed to the same result."""

import itertools
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jaxtyping
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import model
from model.alignment import extract
from model.analysis import what_if
from model.checkpoint import CheckpointError, put_weights, weights
from model.practice.__main__ import STOP, arguments, main, stopper
from model.practice.order import LEFT_OUT, LIMITS, Order, OrderError, checks
from model.practice.run import ABOUT, attention, begin, finish, shown_pair
from model.training import moments
from model.training.schedule import noam
from model.training.tasks import TASKS, examples
from model.transformer import EncoderDecoder
from model.translator import Translator

pytestmark = pytest.mark.usefixtures("quick")
TINY: dict[str, Any] = {"d_model": 16, "num_heads": 2, "layers": 1, "steps": 10}

orders = st.builds(
    Order,
    task=st.sampled_from(sorted(TASKS)),
    d_model=st.sampled_from([16, 32, 128]),
    num_heads=st.sampled_from([1, 2, 4, 8]),
    layers=st.integers(*LIMITS["layers"]),
    steps=st.integers(*LIMITS["steps"]),
    norm=st.sampled_from(["pre", "post"]),
    positions=st.sampled_from(["sinusoidal", "rotary", "none"]),
    smoothing=st.sampled_from([0.0, 0.1]),
    without=st.lists(st.sampled_from(LEFT_OUT), unique=True).map(tuple),
    seed=st.integers(0, 99),
)


@settings(deadline=None, max_examples=30)
@given(order=orders)
def test_an_order_survives_its_command_line(order: Order) -> None:
    assert Order.of(arguments([*order.words(), "--output", "x"])) == order


@settings(deadline=None, max_examples=20)
@given(order=orders)
def test_the_highest_rate_is_the_same_for_all_sizes(order: Order) -> None:
    config, chosen = order.config(order.kind.tokenizers), order.settings()
    highest = noam(chosen.warmup, config.d_model, chosen.warmup, chosen.factor)
    assert highest == pytest.approx(3e-3)
    assert config.positions == ("none" if "positions" in order.without else order.positions)


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": 10**6}, {"steps": 0}, {"d_model": 4096}, {"d_model": 16.0}, {"num_heads": 3}, {"layers": True},
        {"task": "../x"}, {"norm": "both"}, {"positions": "learned"}, {"smoothing": 0.9}, {"smoothing": float("nan")},
        {"without": ("everything",)}, {"seed": -1},
    ],
)  # fmt: skip
def test_what_is_out_of_its_limits_is_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(OrderError, match=next(iter(wrong))):
        Order(**wrong)


@given(steps=st.integers(*LIMITS["steps"]))
def test_moments_are_dense_early(steps: int) -> None:
    found = checks(steps)
    assert found[0] == 0
    assert found[-1] == steps
    assert len(found) <= 16
    between = [after - before for before, after in itertools.pairwise(found)]
    assert between[0] <= between[-1]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("practice") / "whole"
    with pytest.MonkeyPatch.context() as patch:  # as `quick` does, which is not there yet
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        run = begin(Order(**TINY), folder)
        run.train()
    finish(run)
    return folder


def test_the_result_is_a_model_with_a_card(trained: Path) -> None:
    atlas = model.load(trained / "checkpoint")
    assert isinstance(atlas, Translator)
    card = atlas.card
    assert card["languages"] == {"source": "en", "target": "art"}
    assert card["training"]["steps"] == 10
    assert Order.of(arguments([*card["training"]["command"].split()[3:]])) == Order(**TINY)
    assert atlas.translate("the cat sees a dog").source[0].text == "the"


def test_moments_hold_the_weights_and_what_was_measured(trained: Path) -> None:
    path = trained / "checkpoint" / moments.FILE
    found = moments.read(path)
    assert found == tuple(moments.read_log(trained))
    assert tuple(moment.step for moment in found) == checks(10)
    assert len(moments.read_losses(path)) == 10
    states = dict(moments.states(path))
    assert list(states) == list(checks(10))
    atlas = model.load(trained / "checkpoint")
    assert all(torch.equal(value, states[10][name]) for name, value in weights(atlas.model).items())
    assert any(not torch.equal(value, states[0][name]) for name, value in weights(atlas.model).items())


def test_maps_are_those_of_each_moment(trained: Path) -> None:
    atlas, path = model.load(trained / "checkpoint"), trained / "checkpoint" / moments.FILE
    assert isinstance(atlas, Translator)
    found = moments.maps(atlas, path, "the cat sees a dog", "miru ka velo no dase")
    assert found.weights.shape == (len(checks(10)), 1, 2, 6, 6)
    torch.testing.assert_close(
        found.weights[-1], extract.cross_attention(atlas.trace("the cat sees a dog", "miru ka velo no dase"))
    )
    assert not torch.allclose(found.weights[0], found.weights[-1])
    assert (found.moments, found.losses) == (moments.read(path), moments.read_losses(path))


def test_the_map_in_the_log_is_that_of_the_moment(trained: Path) -> None:
    order = Order(**TINY)
    tokenizers = order.kind.tokenizers
    entry = next(entry for entry in moments.entries(trained) if "check" in entry and entry["step"] == 10)
    made = EncoderDecoder(order.config(tokenizers))
    put_weights(made, dict(moments.states(trained / "checkpoint" / moments.FILE))[10], trained)
    maps = attention(made, examples([shown_pair(order)], tokenizers)[0])
    about = json.loads((trained / ABOUT).read_text(encoding="utf-8"))
    assert maps.shape == (1, 2, len(about["target"]) + 1, len(about["source"]) + 1)
    torch.testing.assert_close(torch.tensor(entry["check"]["map"]), maps, atol=2e-3, rtol=0)
    assert about["order"] == json.loads(json.dumps(asdict(order)))


def test_stopped_and_resumed_the_result_is_the_same(trained: Path, tmp_path: Path) -> None:
    (tmp_path / STOP).touch()
    main(["--output", str(tmp_path), "--quiet", "--parent", str(os.getppid()), *Order(**TINY).words()])
    assert [entry["step"] for entry in moments.entries(tmp_path)] == [0], "measured once, nothing trained"
    (tmp_path / STOP).unlink()
    first = begin(Order(**TINY), tmp_path)
    first.train(lambda: first.progress.step >= 4)
    finish(first)
    assert model.load(tmp_path / "checkpoint").card["training"]["steps"] == 4
    second = begin(Order(**TINY), tmp_path)
    second.train()
    finish(second)
    assert tuple(moments.read_log(tmp_path)) == tuple(moments.read_log(trained))
    whole, parts = (model.load(folder / "checkpoint").model.state_dict() for folder in (trained, tmp_path))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_a_run_ends_with_its_parent(tmp_path: Path) -> None:
    assert stopper(tmp_path, -1)()
    assert not stopper(tmp_path, None)()


@pytest.mark.parametrize("left_out", LEFT_OUT)
def test_what_is_left_out_is_left_out_in_training(left_out: str, tmp_path: Path) -> None:
    run = begin(Order(**TINY, without=(left_out,)), tmp_path)
    if left_out == "warmup":
        assert run.rate(1) == max(run.rate(step) for step in range(1, 11))
    else:
        whole = begin(Order(**TINY), tmp_path / "whole")
        assert isinstance(run.model, EncoderDecoder)
        assert isinstance(whole.model, EncoderDecoder)
        shown = examples([shown_pair(run.order)], run.order.kind.tokenizers)[0]
        assert not torch.allclose(attention(run.model, shown), attention(whole.model, shown))
        if left_out == "mask":
            assert isinstance(run.model, what_if.SeeingAhead)


def test_without_its_mask_a_model_sees_ahead_in_one_pass_but_not_step_by_step() -> None:
    order = Order(**TINY)
    torch.manual_seed(1)
    made = EncoderDecoder(order.config(order.kind.tokenizers)).eval().requires_grad_(False)
    source, target = torch.randint(4, 20, (1, 6)), torch.randint(4, 20, (1, 5))
    other = target.clone()
    other[0, -1] += 1
    assert torch.equal(made(source, target)[:, :-1], made(source, other)[:, :-1])
    what_if.alter(made, ["mask"])
    assert not torch.allclose(made(source, target)[:, :-1], made(source, other)[:, :-1])
    with pytest.raises(ValueError, match="cannot be left out"):
        what_if.alter(made, ["everything"])


def test_a_damaged_file_of_moments_is_named(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"nonsense")
    with pytest.raises(CheckpointError, match="cannot be read"):
        moments.read(tmp_path / "m")


def test_the_command_names_what_it_refuses(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="steps=5000000 is out of its limits"):
        main(["--output", str(tmp_path), "--steps", "5000000"])
