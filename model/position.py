"""Where a token stands: the sinusoidal table that is added to embeddings, and the rotary turn of queries and keys."""

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

Layout = Literal["interleaved", "halves"]
Pairing = Literal["adjacent", "half"]


def frequencies(width: int, base: float = 10000.0, device: torch.device | None = None) -> Float[Tensor, " pair"]:
    """w_i = base^(-2i / width), the angle in radians by which pair i turns from one position to the next (float64)."""
    if width < 2 or width % 2:
        raise ValueError(f"width {width} cannot be split into pairs of a sine and a cosine; choose an even number from 2 up")
    if base <= 0:
        raise ValueError(f"base={base} gives no wavelengths; choose a positive number, 10000 in the paper")
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64, device=device) / width)


def sinusoidal(
    length: int,
    d_model: int,
    base: float = 10000.0,
    start: int = 0,
    layout: Layout = "interleaved",
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "length d_model"]:
    """PE(p, 2i) = sin(p w_i), PE(p, 2i+1) = cos(p w_i) for positions p = start .. start + length - 1 (Vaswani et al. 2017, 3.5).

    The angles are computed in float64 and the table rounded once. Layout "interleaved" is the paper's; "halves" puts all
    sines before all cosines, a permutation of the same columns.
    """
    if layout not in get_args(Layout):
        raise ValueError(f"layout={layout!r} is not known; choose one of {', '.join(get_args(Layout))}")
    if length < 0:
        raise ValueError(f"length={length} is negative; give the number of positions, 0 or more")
    positions = torch.arange(start, start + length, dtype=torch.float64)
    angles = positions[:, None] * frequencies(d_model, base)
    sines, cosines = angles.sin(), angles.cos()
    if layout == "halves":
        return torch.cat((sines, cosines), dim=-1).to(dtype)
    return torch.stack((sines, cosines), dim=-1).flatten(-2).to(dtype)


def shift_matrix(
    offset: float, d_model: int, base: float = 10000.0, dtype: torch.dtype = torch.float32
) -> Float[Tensor, "d_model d_model"]:
    """M with PE(p + offset) = M PE(p) for every p: one rotation by offset x w_i for each pair of the interleaved layout."""
    angles = offset * frequencies(d_model, base)
    turns = torch.stack((angles.cos(), angles.sin(), -angles.sin(), angles.cos()), dim=-1).view(-1, 2, 2)
    matrix: Tensor = torch.block_diag(*turns)  # type: ignore[no-untyped-call]
    return matrix.to(dtype)


def rotate(
    x: Float[Tensor, "*batch length head_dim"],
    positions: Tensor,
    base: float = 10000.0,
    pairing: Pairing = "adjacent",
) -> Float[Tensor, "*batch length head_dim"]:
    """Turn pair i of the vector at position p by the angle p w_i, w_i from head_dim (Su et al. 2021, 3.2).

    `positions` has one entry for each vector (any shape that broadcasts to x without its last axis) and may be
    fractional. Pairing "adjacent" turns (x0, x1), (x2, x3), ... as the paper does, "half" turns (x_i, x_(i + head_dim/2))
    as GPT-NeoX and LLaMA do.
    """
    if pairing not in get_args(Pairing):
        raise ValueError(f"pairing={pairing!r} is not known; choose one of {', '.join(get_args(Pairing))}")
    angles = positions.to(torch.float64)[..., None] * frequencies(x.shape[-1], base, x.device)
    cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    if pairing == "half":
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * cosine - second * sine, first * sine + second * cosine), dim=-1)
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack((first * cosine - second * sine, first * sine + second * cosine), dim=-1).flatten(-2)
