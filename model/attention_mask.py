"""Who may attend to whom: boolean masks, True = may attend (as in `scaled_dot_product_attention`)."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.compiler import is_compiling


def causal(queries: int, keys: int | None = None, device: torch.device | str | None = None) -> Bool[Tensor, "queries keys"]:
    """Each position may attend to itself and to what stands before it (Vaswani et al. 2017, 3.2.3).

    With fewer queries than keys (earlier ones are cached) the queries are the last positions: aligned bottom-right.
    """
    keys = queries if keys is None else keys
    if queries < 0 or keys < queries:
        raise ValueError(f"causal({queries}, {keys}): there must be at least as many keys as queries, and none negative")
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def padding(ids: Int[Tensor, "batch key"], padding_id: int) -> Bool[Tensor, "batch 1 key"]:
    """No query may attend to a padding key; padding *queries* are left alone, their rows are simply not shown."""
    return (ids != padding_id)[:, None, :]


def both(causal_mask: Bool[Tensor, "query key"], padding_mask: Bool[Tensor, "batch 1 key"]) -> Bool[Tensor, "batch query key"]:
    """A key must be allowed by both masks."""
    return causal_mask & padding_mask


def surely_no_empty_row(attention_mask: Bool[Tensor, "batch query key"]) -> bool:
    """True if each query may attend to some key; False also where looking would mean to wait (a GPU, a compiler)."""
    if is_compiling() or attention_mask.is_cuda:
        return False
    return bool(attention_mask.any(dim=-1).all())
