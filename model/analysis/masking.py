"""Masks as values: drawn by name, carried in a link, compared; and what the wrong ways to apply one let through.

True = may attend, as everywhere here (`attention_mask`).
"""

import base64
import binascii
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model import attention_mask
from model.analysis import what_if
from model.trace import Trace
from model.translator import Atlas

LARGEST = 32
"""Positions of a side that a link carries: 1,024 cells are 171 characters."""

PRESETS = ("causal", "none", "window", "itself", "prefix", "block")
WINDOW, PREFIX, BLOCK = 3, 2, 3

MASKINGS: dict[str, what_if.Masking] = {
    "minus_infinity": what_if.minus_infinity,
    "zero_before": what_if.zero_before,
    "zero_after": what_if.zero_after,
    "zero_after_renormalised": what_if.zero_after_renormalised,
}


# ----- masks by name and in a link


def preset(name: str, length: int) -> Bool[Tensor, "query key"]:
    """A mask over one sentence.

    "causal": itself and what stands before; "none": everything; "window": itself and the `WINDOW` - 1 positions before it;
    "itself": nothing else; "prefix": causal, and everybody sees the first `PREFIX` positions; "block": within blocks of
    `BLOCK` positions everybody sees everybody.
    """
    at = torch.arange(length)
    query, key = at[:, None], at[None, :]
    masks: dict[str, Tensor] = {
        "causal": attention_mask.causal(length),
        "none": torch.ones(length, length, dtype=torch.bool),
        "window": (key <= query) & (query - key < WINDOW),
        "itself": query == key,
        "prefix": (key <= query) | (key < PREFIX),
        "block": query // BLOCK == key // BLOCK,
    }
    if name not in masks:
        raise ValueError(f"mask {name!r} is not known; choose one of {', '.join(PRESETS)}")
    return masks[name]


def to_link(mask: Bool[Tensor, "length length"]) -> str:
    """A square mask as text for a URL: its size, a dot, its cells row by row as bits in base64 (URL alphabet)."""
    if mask.shape[0] > LARGEST:
        raise ValueError(f"a mask of {mask.shape[0]} positions does not fit into a link; at most {LARGEST} do")
    bits = np.packbits(mask.flatten().cpu().numpy())
    return f"{mask.shape[0]}.{base64.urlsafe_b64encode(bits.tobytes()).decode().rstrip('=')}"


def from_link(text: str) -> Bool[Tensor, "length length"]:
    """The mask that `to_link` wrote; ValueError for any other text."""
    found = re.fullmatch(r"([1-9][0-9]?)\.([A-Za-z0-9_-]{1,172})", text, re.ASCII)
    length = int(found[1]) if found else 0
    if not found or length > LARGEST:
        raise ValueError(f"{text[:40]!r} is not a mask; needed are its size (1 to {LARGEST}), a dot, and its cells in base64")
    try:
        raw = base64.urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4))
    except binascii.Error:
        raw = b""
    if len(raw) != math.ceil(length * length / 8):
        raise ValueError(f"{text[:40]!r} has {len(raw)} bytes; {length} x {length} cells have {math.ceil(length**2 / 8)}")
    bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8), count=length * length)
    return torch.from_numpy(bits.astype(bool)).view(length, length)


def fitted(mask: Bool[Tensor, "painted painted"], own: Bool[Tensor, "length length"]) -> Bool[Tensor, "length length"]:
    """The painted cells over the model's own mask of a sentence; where nothing was painted, the model's own holds."""
    shared = min(mask.shape[0], own.shape[0])
    whole = own.clone()
    whole[:shared, :shared] = mask[:shared, :shared]
    return whole


def chosen(text: str, own: Bool[Tensor, "length length"]) -> Bool[Tensor, "length length"]:
    """The mask that a text names on a sentence: a preset, the cells of a link over the model's own mask, "" that itself."""
    if not text:
        return own
    return preset(text, len(own)) if text in PRESETS else fitted(from_link(text), own)


def furthest_ahead(mask: Bool[Tensor, "length length"]) -> int | None:
    """The last key that an earlier query may attend to; None where nobody sees ahead."""
    keys = mask.triu(1).any(dim=0).nonzero()
    return int(keys.max()) if len(keys) else None


# ----- what gets through


@dataclass(frozen=True)
class Leak:
    """One way to apply a mask: the weights, the mass on forbidden keys in each row, and what each row adds up to.

    NaN stands where a row was divided by a sum of 0.
    """

    weights: Float[Tensor, "*head query key"]
    forbidden: Float[Tensor, "*head query"]
    sums: Float[Tensor, "*head query"]


def leak(weights: Float[Tensor, "*head query key"], mask: Bool[Tensor, "query key"]) -> Leak:
    """The mass that lies on keys that the mask forbids, and the sum of each row."""
    return Leak(weights, torch.where(mask, 0.0, weights).sum(-1), weights.sum(-1))


def leaks(scores: Float[Tensor, "*head query key"], mask: Bool[Tensor, "query key"]) -> dict[str, Leak]:
    """The same scores under the same mask, applied in the four ways of `MASKINGS`."""
    heads = scores.reshape(1, -1, *scores.shape[-2:])
    return {name: leak(apply(heads, mask[None]).view(scores.shape), mask) for name, apply in MASKINGS.items()}


def leaks_of(atlas: Atlas, trace: Trace, attention: str, head: int, mask: str, own: str) -> dict[str, Leak]:
    """`leaks` of the scores of one head; `attention` is the path of a self-attention, `mask` and `own` see `chosen`."""
    scores = trace[f"{attention}.scores"].tensor[0, head]
    return leaks(scores, chosen(mask, preset(own, scores.shape[-1])))


def of_row(scores: Sequence[float], allowed: Sequence[bool]) -> dict[str, Leak]:
    """`leaks` of a single row of scores, in float64: the textbook example."""
    row, mask = torch.tensor([scores], dtype=torch.float64), torch.tensor([allowed])
    return leaks(row, mask)


def seen(mask: Bool[Tensor, "query key"]) -> tuple[int, ...]:
    """How many keys each query may attend to."""
    return tuple(mask.sum(-1).tolist())


# ----- what stands for "hidden"


@dataclass(frozen=True)
class Filled:
    """A row of scores whose hidden keys got `value` in one number format, by "fill" (masked_fill), by "add", or by
    "twice", where two masks that both hide were added.

    `outcome` says what softmax made of the row: "right" (mass on allowed keys only, summing to 1), "zero", "uniform", "unmasked"
    (as if there were no mask), "nan", or "raises" (then `weights` is empty and `error` is torch's message).
    """

    dtype: str
    value: str
    way: str
    weights: tuple[float, ...]
    outcome: str
    error: str = ""


DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}
VALUES = ("-inf", "-1e9", "finfo.min")
WAYS = ("fill", "add")


def filled(scores: Sequence[float], allowed: Sequence[bool]) -> tuple[Filled, ...]:
    """Every number format, every value for "hidden", both ways to put it there: computed, whatever comes out."""
    return tuple(
        _filled(torch.tensor(scores, dtype=dtype), torch.tensor(allowed), name, value, way)
        for value in VALUES
        for way in (*WAYS, *(["twice"] if value == "finfo.min" else []))
        for name, dtype in DTYPES.items()
    )


def models_own(scores: Sequence[float], allowed: Sequence[bool]) -> tuple[Filled, ...]:
    """The same row through the function of the model itself, in every number format."""
    mask, found = torch.tensor(allowed), []
    for name, dtype in DTYPES.items():
        row = torch.tensor(scores, dtype=dtype)
        weights = what_if.minus_infinity(row[None, None, None], mask[None, None])[0, 0, 0]
        found.append(Filled(name, "own", "own", tuple(weights.tolist()), outcome(weights, row, mask)))
    return tuple(found)


def _filled(scores: Tensor, mask: Tensor, name: str, value: str, way: str) -> Filled:
    number = torch.finfo(scores.dtype).min if value == "finfo.min" else float(value)
    try:
        if way == "fill":
            hidden = scores.masked_fill(~mask, number)
        else:
            added = torch.where(mask, 0.0, torch.tensor(number, dtype=torch.float64)).to(scores.dtype)
            hidden = scores + (added + added if way == "twice" else added)
    except RuntimeError as error:
        return Filled(name, value, way, (), "raises", str(error))
    weights = hidden.softmax(-1)
    return Filled(name, value, way, tuple(weights.tolist()), outcome(weights, scores, mask))


def outcome(weights: Float[Tensor, " key"], scores: Float[Tensor, " key"], mask: Bool[Tensor, " key"]) -> str:
    """In one word, what these weights of one row are; see `Filled`."""
    if weights.isnan().any():
        return "nan"
    if not weights.any():
        return "zero"
    if mask.any() and not weights[~mask].any():
        return "right"
    same = {"uniform": torch.full_like(weights, 1 / len(weights)), "unmasked": scores.softmax(-1)}
    return next((word for word, row in same.items() if torch.allclose(weights, row, atol=1e-3)), "leaks")
