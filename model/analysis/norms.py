"""Weights beside what they carry: the length of alpha f(x) (Kobayashi et al. 2020).

A head adds to its row r the sum over keys j of alpha_rj f(x_j), where f(x) = (x W_V + b_V) W_O is what the head makes of a token,
W_V, b_V and W_O being the head's own part of these matrices. A large weight on a short vector adds little.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from model.alignment import norms
from model.alignment.norms import shares as shares
from model.analysis.head_scores import paths_of
from model.attention import MultiHeadAttention
from model.trace import Trace
from model.translator import Atlas


def transformed(atlas: Atlas, trace: Trace, path: str) -> Float[Tensor, "head key d_model"]:
    """f(x) of every key and head of the attention at `path`, in float64."""
    attention = atlas.model.get_submodule(path)
    assert isinstance(attention, MultiHeadAttention)
    return norms.transformed(attention, trace[f"{path}.value"].tensor.double())[0]


def lengths(atlas: Atlas, trace: Trace, path: str) -> Float[Tensor, "head key"]:
    """||f(x)|| of every head and key."""
    found: Tensor = torch.linalg.vector_norm(transformed(atlas, trace, path), dim=-1)
    return found


def added(atlas: Atlas, trace: Trace, path: str) -> Float[Tensor, "head query key"]:
    """||alpha f(x)|| for every head, row and key: alpha is not negative, so it is alpha ||f(x)||."""
    weights = trace[f"{path}.weights"].tensor[0].double()
    return weights * lengths(atlas, trace, path)[:, None, :]


def of_layer(atlas: Atlas, trace: Trace, path: str) -> Float[Tensor, "query key"]:
    """||sum over heads of alpha f(x)||: what all heads together bring from each key; vectors may cancel."""
    weights = trace[f"{path}.weights"].tensor[0].double()
    vectors: Tensor = torch.einsum("hqk,hkd->qkd", weights, transformed(atlas, trace, path))
    together: Tensor = torch.linalg.vector_norm(vectors, dim=-1)
    return together


def of_attention(atlas: Atlas, trace: Trace, attention: str) -> Float[Tensor, "layer query key"]:
    """`of_layer` for every layer of one kind of attention, "decoder.cross_attention"."""
    return torch.stack([of_layer(atlas, trace, path) for path in paths_of(trace, attention)])
