"""Units of the feed-forward network, and what is left of it without the non-linearity."""

import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from model import Trace, Translator
from model.analysis import feed_forward, what_if
from model.layers import ACTIVATIONS

SOURCE, TARGET = "The red car is here.", "La voiture rouge."


@pytest.fixture
def trace(translator: Translator) -> Trace:
    return translator.trace(SOURCE, TARGET)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_what_a_network_reads_gives_its_hidden_units(translator: Translator, trace: Trace, stack: str) -> None:
    network = feed_forward.at(translator.model, stack, 0)
    x = feed_forward.given(trace, translator.config, stack, 0)
    before = feed_forward.pre_activation(network, x)
    hidden = feed_forward.hidden(trace, stack, 0)
    torch.testing.assert_close(network.activation(before), hidden)
    assert feed_forward.active(hidden).tolist() == pytest.approx((before > 0).double().mean(dim=1).tolist())
    layers = getattr(translator.config, f"{stack}_layers")
    assert feed_forward.shares(trace, stack, layers)[0].tolist() == feed_forward.active(hidden).tolist()
    order = feed_forward.ranked(hidden[1])
    assert sorted(number for number, _ in order) == list(range(translator.config.d_ff))
    assert [value for _, value in order] == sorted(hidden[1].tolist(), reverse=True)
    assert all(hidden[1, number] == value for number, value in order)


@pytest.mark.parametrize("shown", [0, 4, 10_000])
def test_what_a_unit_is_given_is_the_sum_of_its_terms(translator: Translator, trace: Trace, shown: int) -> None:
    network = feed_forward.at(translator.model, "encoder", 0)
    x = feed_forward.given(trace, translator.config, "encoder", 0)[1]
    found = feed_forward.unit_sum(network, x, 3, shown)
    assert found.total == pytest.approx(float(feed_forward.pre_activation(network, x)[3]), abs=1e-5)
    assert sum(a * b for _, a, b in found.largest) + found.rest + found.bias == pytest.approx(found.total)
    assert len(found.largest) + found.others == len(x)
    amounts = [abs(a * b) for _, a, b in found.largest]
    assert amounts == sorted(amounts, reverse=True)
    assert all(a == float(x[at]) and b == float(network.expand.weight[3, at]) for at, a, b in found.largest)


def test_curves_are_those_of_the_formulas() -> None:
    grid, real = (-2.0, 0.0, 1.0), torch.tensor([-1.0, -0.5, 0.5, 3.0])
    curves = {curve.name: curve for curve in feed_forward.curves(real, grid)}
    assert set(curves) == set(ACTIVATIONS)
    assert curves["relu"].values == (0, 0, 1)
    assert curves["gelu"].values == pytest.approx(
        (-2 * 0.0227501319, 0, 0.8413447461)
    )  # x times the normal distribution function
    assert (curves["relu"].passed, curves["gelu"].passed) == (0.5, 1)
    assert curves["relu"].kept == pytest.approx(3.5 / 4)


def test_two_linear_layers_are_one(translator: Translator, trace: Trace) -> None:
    network = feed_forward.at(translator.model, "decoder", 0)
    x = feed_forward.given(trace, translator.config, "decoder", 0)
    first, second = network.expand, network.contract
    weight = second.weight.double().numpy() @ first.weight.double().numpy()
    bias = second.weight.double().numpy() @ first.bias.double().numpy() + second.bias.double().numpy()
    ours = feed_forward.as_one(network)
    np.testing.assert_allclose(ours[0].numpy(), weight, atol=1e-12)
    np.testing.assert_allclose(ours[1].numpy(), bias, atol=1e-12)
    found = feed_forward.collapse(network, x)
    assert found.error < 1e-10
    linear = what_if.with_activation(translator.model, nn.Identity)
    altered = feed_forward.at(linear, "decoder", 0)(x[None])[0].double()
    assert found.linear == pytest.approx(float(altered.norm(dim=-1).mean()), rel=1e-4)
    assert found.real == pytest.approx(float(network(x[None])[0].double().norm(dim=-1).mean()), rel=1e-4)
    assert -1 <= found.apart <= 1
    width = translator.config.d_model
    assert found.parameters_as_one == width * width + width
    assert found.parameters == 2 * width * translator.config.d_ff + translator.config.d_ff + width


def test_variants_leave_the_model_alone_and_do_what_they_say(translator: Translator, trace: Trace) -> None:
    bare = what_if.without_residual(translator.model)
    assert not any(isinstance(module, what_if.WithoutResidual) for module in translator.model.modules())
    again = dataclasses.replace(translator, model=bare).trace(SOURCE, TARGET)
    assert again.log_probabilities != trace.log_probabilities
    path = "decoder.layers.0.residual.1"
    assert torch.equal(again[f"{path}.sum"].tensor, again[f"{path}.sublayer"].tensor)
    out = "sum" if translator.config.norm == "pre" else "normed"
    assert torch.equal(again[f"{path}.{out}"].tensor, again["decoder.layers.0.residual.2.input"].tensor)
    torch.testing.assert_close(
        bare.get_submodule(path).norm(again[f"{path}.{'input' if out == 'sum' else 'sum'}"].tensor),
        again[f"{path}.normed"].tensor,
    )
    assert translator.trace(SOURCE, TARGET).log_probabilities == trace.log_probabilities


def test_the_corpus_holds_every_token_in_its_order(translator: Translator, quick: None) -> None:
    texts = ("I love you.", "The red car.", "I love you.")
    seen = feed_forward.corpora(translator, texts)
    for stack, tokens in (("encoder", "source"), ("decoder", "target")):
        found = seen[stack]
        traces = [translator.trace(text, translator.translate(text)) for text in texts]
        labels = [token.label for trace in traces for token in getattr(trace, tokens)]
        assert list(found.tokens) == labels
        assert found.sentences[0] == 0
        assert found.sentences[-1] == 2
        for place in (0, 3, len(labels) - 1):
            trace = traces[found.sentences[place]]
            expected = trace[f"{stack}.layers.0.feed_forward.hidden"].tensor[0, found.positions[place]]
            torch.testing.assert_close(found.hidden[0][place], expected)


def test_a_unit_is_woken_by_its_strongest_tokens_and_promotes_by_its_column(translator: Translator, quick: None) -> None:
    seen = feed_forward.corpora(translator, ("I love you.", "The red car is here."))
    unit = feed_forward.unit(translator, seen["decoder"], "decoder", 1, 7, top=4)
    values = seen["decoder"].hidden[1][:, 7].tolist()
    positive = [value for value in sorted(values, reverse=True)[:4] if value > 0]
    assert [value for _, value in unit.woken] == pytest.approx(positive)
    assert all(values[place] == value for place, value in unit.woken)
    assert unit.awake == pytest.approx(sum(value > 0 for value in values) / len(values))
    column = translator.model.get_submodule("decoder.layers.1.feed_forward").contract.weight[:, 7]
    raised = translator.model.to_logits.weight @ column
    assert [value for _, value in unit.promotes] == pytest.approx(sorted(raised.tolist(), reverse=True)[:4], rel=1e-4)
    assert unit.promotes[0][0] == translator.tokenizers.target.produced([int(raised.argmax())])[0].label
    assert feed_forward.unit(translator, seen["encoder"], "encoder", 0, 7).promotes == ()


def test_a_unit_by_lot_is_the_same_each_time_and_another() -> None:
    drawn = {feed_forward.any_unit(40, seed, other_than) for seed in range(200) for other_than in (0, 39)}
    assert drawn <= set(range(40))
    assert len(drawn) > 30
    assert all(feed_forward.any_unit(40, seed, 5) != 5 for seed in range(200))
    assert feed_forward.any_unit(40, 3, 5) == feed_forward.any_unit(40, 3, 5)
    assert feed_forward.any_unit(1, 0, 0) == 0
