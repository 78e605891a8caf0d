"""Weights beside what they carry: the length of alpha f(x) (Kobayashi et al. 2020).

A head adds to its row r the sum over keys j of alpha_rj f(x_j), where f(x) = (x W_V + b_V) W_O is what the head makes of a token,
W_V, b_V and W_O being the head's own part of these matrices. A large weight on a short vector adds little.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from model.attention import MultiHeadAttention


def transformed(
    attention: MultiHeadAttention, value: Float[Tensor, "batch head key head_dim"]
) -> Float[Tensor, "batch head key d_model"]:
    """f(x) of every key and head, from the values x W_V + b_V of an attention; in the precision of the values."""
    mixed = attention.to_output.weight.to(value.dtype).view(-1, attention.num_heads, attention.head_dim)
    vectors: Tensor = torch.einsum("bhkc,dhc->bhkd", value, mixed)
    return vectors


def together(
    weights: Float[Tensor, "batch head query key"], vectors: Float[Tensor, "batch head key d_model"]
) -> Float[Tensor, "batch query key"]:
    """||sum over heads of alpha f(x)||: what all heads together bring from each key; vectors may cancel.

    Computed from the inner products of the heads' vectors, so that no vector of d_model is kept for each query and key.
    """
    products = torch.einsum("bhkd,bgkd->bkhg", vectors, vectors)
    squares = torch.einsum("bhqk,bgqk,bkhg->bqk", weights, weights, products)
    lengths: Tensor = squares.clamp(min=0.0).sqrt()  # where vectors cancel, rounding may leave a negative square
    return lengths


def shares(norms: Float[Tensor, "*rows key"]) -> Float[Tensor, "*rows key"]:
    """Norms as shares of their row, to be read beside weights; a row of zeros stays zero."""
    return norms / norms.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(norms.dtype).tiny)


def of_heads_and_together(
    attention: MultiHeadAttention,
    weights: Float[Tensor, "batch head query key"],
    value: Float[Tensor, "batch head key head_dim"],
) -> Float[Tensor, "batch one_more query key"]:
    """Shares of ||alpha f(x)|| of every head (alpha is not negative), and last those of all heads together."""
    vectors = transformed(attention, value)
    each = weights * torch.linalg.vector_norm(vectors, dim=-1)[:, :, None, :]
    return shares(torch.cat([each, together(weights, vectors)[:, None]], dim=1))
