"""LayerNorm by hand is nn.LayerNorm; a batch changes BatchNorm and not LayerNorm."""

import pytest
import torch
from torch import nn

from model import Translator
from model.analysis import normalisation
from model.analysis.residual import Station

SOURCE = "The red car is here."


def test_by_hand_is_the_module() -> None:
    norm = nn.LayerNorm(24, eps=1e-3).double()
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    x = torch.randn(24, dtype=torch.float64) * 3 + 5
    hand = normalisation.by_hand(x, norm)
    torch.testing.assert_close(hand.output, norm(x))
    assert hand.mean == pytest.approx(float(x.mean()))
    assert hand.variance == pytest.approx(float(x.var(unbiased=False)))
    assert hand.root == pytest.approx((hand.variance + 1e-3) ** 0.5)
    assert hand.standard_mean == pytest.approx(float(hand.standard.mean()), abs=1e-12) == pytest.approx(0, abs=1e-12)
    assert (
        hand.standard_variance
        == float(hand.standard.var(unbiased=False))
        == pytest.approx(hand.variance / (hand.variance + 1e-3))
    )


def test_by_hand_is_what_the_model_computed(translator: Translator) -> None:
    trace = translator.trace(SOURCE, "La voiture.")
    given = normalisation.read_by_norm(translator.config)
    for path in ("encoder.layers.0.residual.1", "decoder.layers.1.residual.2"):
        hand = normalisation.by_hand(trace[f"{path}.{given}"].tensor[0, 1], normalisation.norm_at(translator.model, path))
        torch.testing.assert_close(hand.output.float(), trace[f"{path}.normed"].tensor[0, 1], atol=1e-5, rtol=1e-5)
        stack, _, layer, _, place = path.split(".")
        assert normalisation.agreement(translator, trace, Station(stack, int(layer), int(place)), 1) < 1e-5


def test_a_path_of_something_else_is_refused(translator: Translator) -> None:
    with pytest.raises(ValueError, match=r"encoder\.layers\.0\.residual\.1"):
        normalisation.norm_at(translator.model, "encoder.layers.0.feed_forward")


@pytest.mark.parametrize("place", [0, 1])
def test_the_batch_changes_batch_norm_alone(translator: Translator, place: int) -> None:
    trace = translator.trace(SOURCE, "La voiture.")
    path = f"encoder.layers.0.residual.{place}"
    found = normalisation.compare(translator, trace, ("I love you.", "Do you like the summer?"), path, padding=4)
    assert (found.tokens, found.padding, found.others) == (len(trace.source), 4, 2)
    for change in (found.with_padding, found.with_others):
        assert change.inputs < 1e-5
        assert change.layer_norm < 1e-5
        assert change.batch_norm_evaluation < 1e-5
        assert change.batch_norm_training > 0.01
    assert found.modes > 0.01


def test_batch_norm_in_training_is_pytorchs_with_the_gain_and_bias_of_the_layer_norm() -> None:
    norm = nn.LayerNorm(6)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    theirs = nn.BatchNorm1d(6).train()
    theirs.load_state_dict({"weight": norm.weight, "bias": norm.bias}, strict=False)
    x = torch.randn(9, 6)
    torch.testing.assert_close(normalisation.in_training(norm, x), theirs(x))
