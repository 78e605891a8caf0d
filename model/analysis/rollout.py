"""Attention rollout: through all layers, how much of a position comes from which token (Abnar & Zuidema 2020).

A layer is read as the mean of its heads, half of it from the attention and half past it through the residual connection:
A' = 0.5 A + 0.5 I, rows divided by their sum. Layers multiply. Feed-forward, values, norms and W_O are left out: a rollout is a
statement about weights alone.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.head_scores import stacked
from model.trace import Trace


def with_residual(weights: Float[Tensor, "*rows query key"]) -> Float[Tensor, "*rows query key"]:
    """0.5 A + 0.5 I, each row divided by its sum (1 unless a row of A is empty)."""
    half = 0.5 * weights + 0.5 * torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    return half / half.sum(dim=-1, keepdim=True)


def rollout(layers: Float[Tensor, "layer token token"]) -> Float[Tensor, "token token"]:
    """The product of all layers, the first one rightmost: row = position after the last layer, column = token that entered."""
    product = torch.eye(layers.shape[-1], dtype=layers.dtype, device=layers.device)
    for layer in with_residual(layers):
        product = layer @ product
    return product


def encoder(trace: Trace) -> Float[Tensor, "source source"]:
    """The rollout of the encoder, of the mean over heads; rows sum to 1."""
    return rollout(stacked(trace, "encoder.self_attention")[0].mean(dim=1))


def decoder(trace: Trace) -> tuple[Float[Tensor, "target target"], Float[Tensor, "target source"]]:
    """The rollout through decoder and encoder: shares of each decoder row that come from target and from source tokens.

    A row starts as its own target token. In each layer self-attention mixes rows, A' = 0.5 A + 0.5 I; then cross-attention
    leaves half of a row as it is and takes half from the encoder's output, C E, with C the mean over heads of its weights and E
    the encoder's rollout. The two parts of a row sum to 1 together.
    """
    own, _ = stacked(trace, "decoder.self_attention")
    cross, _ = stacked(trace, "decoder.cross_attention")
    memory = encoder(trace)
    target = torch.eye(own.shape[-1], dtype=own.dtype)
    source = torch.zeros(cross.shape[-2:], dtype=own.dtype)
    for mixes, looks in zip(with_residual(own.mean(dim=1)), cross.mean(dim=1), strict=True):
        target, source = mixes @ target, mixes @ source
        target, source = 0.5 * target, 0.5 * source + 0.5 * (looks @ memory)
    return target, source
