"""Layers against the formulas in numpy and against PyTorch's own layers."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model import attention_mask
from model.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from model.trace import tracing
from tests.model import tiny
from tests.model.agreement import copy_layer, their_layer


def random(module: nn.Module) -> Any:
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.4)
    return module.double().eval().requires_grad_(False)


def tensors(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def normalised(x: np.ndarray, gain: Tensor, bias: Tensor, epsilon: float = 1e-5) -> np.ndarray:
    """Biased variance, epsilon inside the root, over the features of one token."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.sqrt(variance + epsilon) * gain.numpy() + bias.numpy())


class TestResidual:
    @pytest.mark.parametrize("norm", ["post", "pre"])
    def test_equals_the_formula(self, norm: str) -> None:
        module, x = random(Residual(tiny.config(norm=norm))), tensors(2, 3, 24)
        module.path = "residual"

        def sublayer(x: Tensor) -> Tensor:
            return x.sin() * 2

        with tracing() as recording:
            output = module(x, sublayer)
        gain, bias = module.norm.weight, module.norm.bias
        value = {name: recording[f"residual.{name}"].tensor.numpy() for name in ("input", "sublayer", "sum", "normed")}
        if norm == "post":  # LN(x + Sub(x))
            changed = 2 * np.sin(x.numpy())
            total = x.numpy() + changed
            normed = expected = normalised(total, gain, bias)
        else:  # x + Sub(LN(x))
            normed = normalised(x.numpy(), gain, bias)
            changed = 2 * np.sin(normed)
            total = expected = x.numpy() + changed
        np.testing.assert_allclose(output.numpy(), expected, atol=1e-12)
        for name, wanted in (("input", x.numpy()), ("sublayer", changed), ("sum", total), ("normed", normed)):
            np.testing.assert_allclose(value[name], wanted, atol=1e-12, err_msg=name)

    def test_a_token_is_normalised_alone(self) -> None:
        module, x = Residual(tiny.config()).double(), tensors(3, 4, 24) * 7 + 5
        output = module(x, torch.zeros_like)
        torch.testing.assert_close(output.mean(dim=-1), torch.zeros(3, 4, dtype=torch.float64))
        torch.testing.assert_close(output.var(dim=-1, unbiased=False), torch.ones(3, 4, dtype=torch.float64), atol=1e-4, rtol=0)
        torch.testing.assert_close(output, nn.LayerNorm(24, dtype=torch.float64)(x))
        other = torch.cat((x[:1], tensors(2, 4, 24)))
        assert torch.equal(module(other, torch.zeros_like)[0], output[0])


class TestFeedForward:
    def test_equals_the_formula(self) -> None:
        module, x = random(FeedForward(tiny.config())), tensors(2, 3, 24)
        module.path = "feed_forward"
        with tracing() as recording:
            output = module(x)
        hidden = np.maximum(0, x.numpy() @ module.expand.weight.numpy().T + module.expand.bias.numpy())
        np.testing.assert_allclose(recording["feed_forward.hidden"].tensor.numpy(), hidden, atol=1e-12)
        expected = hidden @ module.contract.weight.numpy().T + module.contract.bias.numpy()
        np.testing.assert_allclose(output.numpy(), expected, atol=1e-12)

    def test_every_position_alone(self) -> None:
        module, x = random(FeedForward(tiny.config(activation="gelu"))), tensors(1, 4, 24)
        order = [2, 0, 3, 1]
        torch.testing.assert_close(module(x)[:, order], module(x[:, order]))
        torch.testing.assert_close(module(x[:, :1]), module(x)[:, :1])


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
class TestEqualPyTorchs:
    def test_encoder_layer(self, norm: str, activation: str) -> None:
        config = tiny.config(norm=norm, activation=activation, attention_bias=True)
        ours, theirs = random(EncoderLayer(config)), their_layer(config, nn.TransformerEncoderLayer)
        copy_layer(ours, theirs)
        x, ids = tensors(2, 5, 24), torch.tensor([[5, 5, 5, 5, 5], [5, 5, 5, 0, 0]])
        mask = attention_mask.padding(ids, 0)
        expected = theirs(x, src_key_padding_mask=~mask[:, 0])
        real = mask[:, 0]
        torch.testing.assert_close(ours(x, mask, torch.arange(5)[None])[real], expected[real])

    def test_decoder_layer(self, norm: str, activation: str) -> None:
        config = tiny.config(norm=norm, activation=activation, attention_bias=True)
        ours, theirs = random(DecoderLayer(config)), their_layer(config, nn.TransformerDecoderLayer)
        copy_layer(ours, theirs)
        x, memory = tensors(2, 4, 24), tensors(2, 6, 24)
        causal = attention_mask.causal(4)
        source = attention_mask.padding(torch.tensor([[5] * 6, [5, 5, 5, 5, 0, 0]]), 0)
        expected = theirs(x, memory, tgt_mask=~causal, memory_key_padding_mask=~source[:, 0])
        torch.testing.assert_close(ours(x, memory, causal[None], source, torch.arange(4)[None], None), expected)
