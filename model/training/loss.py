"""What training makes small: cross-entropy against smoothed targets, and the loss of guided heads."""

from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

Convention = Literal["uniform", "others", "without_padding"]


def smoothed_targets(
    target: Int[Tensor, "*batch"],
    vocab_size: int,
    smoothing: float,
    convention: Convention = "uniform",
    padding: int | None = None,
) -> Float[Tensor, "*batch {vocab_size}"]:
    """The distribution that a model with label smoothing is asked for; rows sum to 1 (Szegedy et al. 2016, section 7).

    "uniform" spreads eps over all classes, V of them, so that the right one gets 1 - eps + eps/V (PyTorch's, and ours in
    training); "others" spreads it over the V - 1 wrong ones; "without_padding" over the V - 2 that are neither right nor
    padding, and needs `padding`.
    """
    if convention not in get_args(Convention):
        raise ValueError(f"convention={convention!r} is not known; choose one of {', '.join(get_args(Convention))}")
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing={smoothing} is not a share below 1; choose 0 to 0.99")
    right = functional.one_hot(target, vocab_size).to(torch.get_default_dtype())
    if convention == "uniform":
        return right * (1 - smoothing) + smoothing / vocab_size
    wrong = 1 - right
    if convention == "without_padding":
        if padding is None:
            raise ValueError("convention='without_padding' leaves the padding class out; give its id as padding")
        wrong = wrong.clone()
        wrong[..., padding] = 0
    return right * (1 - smoothing) + wrong * (smoothing / wrong.sum(dim=-1, keepdim=True))


def summed_cross_entropy(
    logits: Float[Tensor, "batch token vocab"], target: Int[Tensor, "batch token"], smoothing: float, padding: int
) -> Float[Tensor, ""]:
    """The sum over all targets that are not padding, in nats; equal to cross-entropy against `smoothed_targets`."""
    precise = logits.to(torch.promote_types(logits.dtype, torch.float32))  # bfloat16 is too coarse for a sum
    return functional.cross_entropy(
        precise.flatten(0, 1), target.flatten(), ignore_index=padding, label_smoothing=smoothing, reduction="sum"
    )


def summed_guide(
    weights: Float[Tensor, "batch query key"], links: Bool[Tensor, "batch query key"], spread: bool = False
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """- log of the weight that each row puts on its links, summed over the rows that have any; and their number.

    After Garg et al. 2019, 3.3: with `spread` as there, the mean over the links of a row, so that each is to get an equal
    share; without it the weight on all of them is taken together, and one of them is enough.
    """
    linked = links.any(dim=-1)
    weights, links = weights[linked], links[linked]
    if spread:
        logs = weights.clamp(min=1e-9).log()
        return -((logs * links).sum(dim=-1) / links.sum(dim=-1)).sum(), linked.sum()
    mass = (weights * links).sum(dim=-1)
    return -mass.clamp(min=1e-9).log().sum(), linked.sum()
