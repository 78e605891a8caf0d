"""The residual stream and the logit lens, in a post-norm and a pre-norm model."""

import itertools

import numpy as np
import pytest
import torch

from model import Trace, Translator
from model.analysis import lens, residual

SOURCE, TARGET = "The red car is here.", "La voiture rouge."


@pytest.fixture
def trace(translator: Translator) -> Trace:
    return translator.trace(SOURCE, TARGET)


def is_pre(translator: Translator) -> bool:
    return translator.config.norm == "pre"


@pytest.mark.parametrize(("stack", "places"), [("encoder", 2), ("decoder", 3)])
def test_what_one_residual_puts_out_the_next_takes_in(translator: Translator, trace: Trace, stack: str, places: int) -> None:
    passed = residual.stations(trace, stack)
    layers = getattr(translator.config, f"{stack}_layers")
    assert [station.sublayer for station in passed] == list(residual.SUBLAYERS[stack]) * layers
    assert len(passed) == places * layers
    out = "sum" if is_pre(translator) else "normed"
    for station, following in itertools.pairwise(passed):
        assert torch.equal(trace[f"{station.path}.{out}"].tensor, trace[f"{following.path}.input"].tensor)
    values = residual.stream(trace, stack, pre_norm=is_pre(translator))
    assert len(values) == len(passed) + 1
    norm = getattr(translator.model, stack).norm
    torch.testing.assert_close(norm(values[-1]), trace[f"{stack}.output"].tensor[0])
    for depth, station in enumerate(passed):
        added, summed = trace[f"{station.path}.sublayer"].tensor[0], trace[f"{station.path}.sum"].tensor[0]
        torch.testing.assert_close(values[depth] + added, summed)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_lengths_and_cosines_of_one_position(translator: Translator, trace: Trace, stack: str) -> None:
    found = residual.along(trace, stack, 2, pre_norm=is_pre(translator))
    values = residual.stream(trace, stack, pre_norm=is_pre(translator))[:, 2].numpy().astype(np.float64)
    lengths = np.linalg.norm(values, axis=1)
    assert found.lengths == pytest.approx(lengths.tolist())
    assert found.cosines == pytest.approx((values @ values[0] / lengths / lengths[0]).tolist())
    table = residual.cosines(trace, stack, pre_norm=is_pre(translator))
    assert table[:, 2].tolist() == pytest.approx(list(found.cosines), abs=1e-5)
    for at, station in enumerate(found.stations):
        added = trace[f"{station.path}.sublayer"].tensor[0, 2].numpy().astype(np.float64)
        assert found.added[at] == pytest.approx(np.linalg.norm(added))
        assert found.sums[at] == pytest.approx(np.linalg.norm(values[at] + added), rel=1e-5)
        assert found.turned[at] == pytest.approx(added @ values[at] / np.linalg.norm(added) / lengths[at], abs=1e-6)


def test_the_lens_at_the_last_depth_is_the_model(translator: Translator, trace: Trace) -> None:
    values = residual.stream(trace, "decoder", pre_norm=is_pre(translator))
    torch.testing.assert_close(lens.logits(translator.model, values[-1]), trace["logits"].tensor[0])
    probabilities = trace["logits"].tensor[0].double().softmax(dim=-1)
    words = lens.first_words(translator, trace)
    assert len(words) == len(values)
    for row, produced in enumerate(trace.produced):
        last = lens.readings(translator, trace, row, top=3)[-1]
        best = probabilities[row].argsort(descending=True).tolist()
        assert [id_ for id_, _, _ in last.top] == best[:3]
        assert [value for _, _, value in last.top] == pytest.approx(probabilities[row, best[:3]].tolist())
        assert last.rank == best.index(produced.id) + 1
        assert np.log(last.probability) == pytest.approx(trace.log_probabilities[row])
        assert words[-1][row] == pytest.approx((last.top[0][1], last.top[0][2]))


def test_depth_0_reads_the_embedding_as_it_entered(translator: Translator, trace: Trace) -> None:
    entered = trace["target.embedding"].tensor[0]
    if "target.position" in trace:
        entered = entered + trace["target.position"].tensor[0]
    expected = translator.model.to_logits(translator.model.decoder.norm(entered)).double().softmax(dim=-1)
    for row in range(len(trace.target)):
        assert lens.readings(translator, trace, row, top=1)[0].top[0][0] == int(expected[row].argmax())
