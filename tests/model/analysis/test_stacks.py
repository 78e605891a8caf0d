"""Gradients through fresh stacks: the right ones, the same each time, from our own layers and initialisation."""

import pytest
import torch
from torch import nn

from model import Translator
from model.analysis import stacks
from model.transformer import EncoderDecoder

IDS = (5, 9, 7, 2)


def test_gradients_are_those_of_plain_autograd(shared: Translator) -> None:
    found = stacks.arrangements(shared, IDS, 3)
    assert list(found) == [("post", True), ("post", False), ("pre", True), ("pre", False)]
    for norm in ("post", "pre"):
        model = stacks.fresh(stacks.stack_config(3, norm, shared.config.source_vocab_size, len(IDS)), 0)
        ids = torch.tensor([IDS])
        inputs: list[torch.Tensor] = []

        def keep(module: nn.Module, given: tuple[torch.Tensor, ...], inputs: list[torch.Tensor] = inputs) -> None:
            given[0].retain_grad()
            inputs.append(given[0])

        for layer in model.encoder.layers:
            layer.register_forward_pre_hook(keep)
        logits = model.to_logits(model.encode(ids))
        loss = nn.functional.cross_entropy(logits[0], ids[0])
        loss.backward()
        gradients = found[norm, True]
        assert gradients.loss == pytest.approx(loss.item())
        assert gradients.inputs == pytest.approx([float(x.grad.norm()) for x in inputs], rel=1e-4)
        by_layer = [sum(float(p.grad.norm()) ** 2 for p in layer.parameters()) ** 0.5 for layer in model.encoder.layers]
        assert gradients.parameters == pytest.approx(by_layer, rel=1e-4)
        assert -1 <= gradients.alike <= 1.0001


def test_a_seed_gives_the_same_stack_and_chance_elsewhere_is_left_alone(shared: Translator) -> None:
    first = stacks.arrangements(shared, IDS, 2)
    torch.randn(100)
    assert stacks.arrangements(shared, IDS, 2) == first
    assert stacks.arrangements(shared, IDS, 2, seed=1) != first
    assert first["post", True] != first["post", False]


def test_weights_are_drawn_by_the_rules_of_our_models() -> None:
    config = stacks.stack_config(2, "post", 200, 8)
    ours, theirs = stacks.fresh(config, 0), EncoderDecoder(config)
    for (name, drawn), (_, expected) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        if expected.numel() >= 64:
            assert float(drawn.detach().std()) == pytest.approx(float(expected.detach().std()), rel=0.3, abs=1e-3), name


def test_likeness_of_positions() -> None:
    assert stacks.alike(torch.ones(3, 4)) == pytest.approx(1)
    assert stacks.alike(torch.eye(4)) == pytest.approx(0)
    assert stacks.alike(torch.ones(1, 4)) == 1


def test_gradients_in_inference_mode_as_well(shared: Translator) -> None:
    with torch.inference_mode():
        assert stacks.arrangements(shared, IDS, 1)["pre", True].inputs[0] > 0


@pytest.mark.parametrize(("depth", "ids"), [(0, IDS), (2, ())])
def test_nothing_to_measure_is_refused(shared: Translator, depth: int, ids: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="1 or more"):
        stacks.arrangements(shared, ids, depth)
