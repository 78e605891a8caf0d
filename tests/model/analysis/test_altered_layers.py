"""Altered layers cost what a pass through the altered model says."""

from dataclasses import replace

import pytest
from torch import nn

from model import Translator
from model.analysis import altered_layers
from model.layers import FeedForward


@pytest.mark.parametrize("variant", list(altered_layers.VARIANTS))
def test_damage_is_that_of_the_altered_model(translator: Translator, variant: str, quick: None) -> None:
    trace = translator.trace("I love you.", "Je t'aime.")
    found = altered_layers.damage(translator, trace, variant)
    altered = replace(translator, model=altered_layers.VARIANTS[variant](translator.model))
    again = altered.trace("I love you.", "Je t'aime.")
    assert found.log_probabilities == pytest.approx(again.log_probabilities)
    assert found.score == pytest.approx(sum(again.log_probabilities))
    assert found.log_probabilities != trace.log_probabilities
    assert found.written == altered.translate("I love you.").text
    assert translator.trace("I love you.", "Je t'aime.").log_probabilities == trace.log_probabilities


def test_the_other_activation_is_the_one_that_the_model_has_not(translator: Translator) -> None:
    altered = altered_layers.VARIANTS["activation"](translator.model)
    kinds = {type(module.activation) for module in altered.modules() if isinstance(module, FeedForward)}
    assert kinds == {nn.GELU if translator.config.activation == "relu" else nn.ReLU}


def test_an_unknown_variant_is_refused(translator: Translator) -> None:
    with pytest.raises(ValueError, match="residual, linear, activation"):
        altered_layers.damage(translator, translator.trace("I"), "other")
