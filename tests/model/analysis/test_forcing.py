"""One forced pass against step by step decoding: the same losses, and what was timed is what was computed."""

import copy
import itertools
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model.analysis import forcing
from model.translator import Atlas, Translator, load
from tests.model import tiny

SENTENCE = "The dog saw the dog ."


def test_one_pass_and_step_by_step_have_the_same_losses(atlas: Translator) -> None:
    trace = atlas.trace(SENTENCE, "Le chat 12 .")
    found = forcing.losses(atlas, trace)
    assert found.forced == pytest.approx([-value for value in trace.log_probabilities])
    assert found.apart < forcing.TOLERANCE
    precise = replace(atlas, model=copy.deepcopy(atlas.model).double())
    assert forcing.losses(precise, trace).apart < 1e-10


def test_a_language_model_too(tmp_path: Path) -> None:
    tiny.save_language_model(tmp_path)
    writer: Atlas = load(tmp_path)
    trace = writer.trace("The red 12")
    found = forcing.losses(writer, trace)
    assert len(found.forced) == len(trace.produced)
    assert found.forced == pytest.approx([-value for value in trace.log_probabilities], abs=1e-5)
    assert found.apart < 1e-4


def test_a_row_by_hand(atlas: Translator) -> None:
    trace = atlas.trace(SENTENCE)
    source = torch.tensor([[token.id for token in trace.source]])
    read = torch.tensor([[token.id for token in trace.target[:3]]])
    with torch.inference_mode():
        logits = atlas.model(source, read)[0, -1].double()
    expected = torch.logsumexp(logits, 0) - logits[trace.produced[2].id]
    assert forcing.losses(atlas, trace).uncached[2] == pytest.approx(float(expected), abs=1e-5)


def test_medians_of_rounds_that_take_turns(atlas: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forcing, "ROUNDS", 2)
    trace = atlas.trace("I love you.")
    ticks = itertools.count()
    found = forcing.timed(atlas, trace, clock=lambda: 0.01 * next(ticks))
    count = len(trace.target)
    assert found.rounds == forcing.ROUNDS
    assert all(seconds == pytest.approx(0.01) for seconds in found.seconds.values())
    assert found.passes == {"forced": 1, "uncached": count, "cached": count}
    assert found.rows == {"forced": count, "uncached": count * (count + 1) // 2, "cached": count}
    assert found.losses == forcing.losses(atlas, trace)
    slow = itertools.count()
    assert forcing.timed(atlas, trace, clock=lambda: 10.0 * next(slow)).rounds == 1
