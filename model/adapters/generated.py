"""Attentions as `generate()` of Hugging Face returns them, one tuple a step, put together to one tensor for each layer."""

from collections.abc import Sequence

import torch
from torch import Tensor


def stitched(steps: Sequence[Sequence[Tensor | None]], beams: Sequence[int] | None = None) -> list[Tensor]:
    """For each layer the weights (1, head, query, key) of one output, all its steps below each other.

    `steps[t][layer]` is (row, head, query, key): at the first step all of what was read before (the prompt), later one query;
    `beams[t]` is the row of step t that the output goes on from (a row of `beam_indices`; what is negative comes after its end),
    None where there is one row. Keys that a step had not read yet get weight 0. Raises `ValueError` that says what was given.
    """
    rows = [0] * len(steps) if beams is None else [int(row) for row in beams if row >= 0]
    if not steps or not rows:
        raise ValueError("no step was given; call generate with return_dict_in_generate=True and output_attentions=True")
    if len(rows) > len(steps):
        raise ValueError(f"beams names {len(rows)} steps, attentions has {len(steps)}; give both of one output")
    return [_layer([step[layer] for step in steps], rows, layer) for layer in range(len(steps[0]))]


def _layer(steps: Sequence[Tensor | None], rows: Sequence[int], layer: int) -> Tensor:
    found: list[Tensor] = []
    for number, (weights, row) in enumerate(zip(steps, rows, strict=False)):
        where = f"step {number}, layer {layer}"
        if weights is None:
            raise ValueError(f'{where} has no weights (None); load the model with attn_implementation="eager"')
        if weights.ndim != 4:
            raise ValueError(f"{where} has shape {tuple(weights.shape)}; needed are the four axes (row, head, query, key)")
        if not 0 <= row < len(weights):
            raise ValueError(f"{where} has {len(weights)} rows, beams names row {row}; give beams of the same output")
        found.append(weights[row])
    keys = found[-1].shape[-1]
    return torch.cat([torch.nn.functional.pad(weights, (0, keys - weights.shape[-1])) for weights in found], dim=1)[None]
