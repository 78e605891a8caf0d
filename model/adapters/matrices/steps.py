"""Attention as `generate()` of transformers gives it: a tuple a step, in it one a layer, (batch, head, query, key).

The first step has the rows of the whole prompt. A later one has the row of its last token, or, without a cache, all rows again.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from model.adapters.matrices.checks import LARGEST, LONGEST, numbers
from model.adapters.matrices.problem import MatrixError

_DEEP = 6  # step, layer, batch, head, query, key


def per_step(values: Any) -> bool:
    """Whether lists (or an array) are as deep as what `generate()` returns."""
    depth = 0
    while isinstance(values, list) and values:
        values, depth = values[0], depth + 1
    return depth + (values.ndim if isinstance(values, np.ndarray) else 0) == _DEEP


def joined(values: Any, array: str) -> npt.NDArray[np.float32]:
    """(layer, head, query, key) of one sentence; keys that a row could not know yet are 0. Raises `MatrixError`."""
    if not all(isinstance(step, (list, np.ndarray)) and len(step) == len(values[0]) for step in values):
        raise MatrixError("ragged", array=array)
    steps = [[numbers(layer, array) for layer in step] for step in values]
    parts = [layer for step in steps for layer in step]
    if any(layer.ndim != _DEEP - 2 or layer.shape[1] != parts[0].shape[1] for layer in parts):
        raise MatrixError("ragged", array=array)
    if (batch := max(layer.shape[0] for layer in parts)) != 1:
        raise MatrixError("steps", array=array, given=batch)
    if not all(layer.size for layer in parts):
        raise MatrixError("no_places", array=array, axis="key", shape=str(next(one.shape for one in parts if not one.size)))
    first, width = parts[0].shape[2], max(layer.shape[3] for layer in parts)
    rows = first + len(steps) - 1
    for axis, size in (("query", rows), ("key", width)):
        if size > LONGEST:
            raise MatrixError("long", array=array, axis=axis, given=size, limit=LONGEST)
    shape = (len(steps[0]), parts[0].shape[1], rows, width)
    if (size := int(np.prod(shape))) > LARGEST:
        raise MatrixError("weights", array=array, given=size, limit=LARGEST)
    found = np.zeros(shape, np.float32)
    for place, step in enumerate(steps):
        for layer, one in enumerate(step):
            keys = one.shape[3]
            if place == 0 and one.shape[2] == first:
                found[layer, :, :first, :keys] = one[0]
            elif place:
                found[layer, :, first + place - 1, :keys] = one[0, :, -1]
            else:
                raise MatrixError("ragged", array=array)
    return found
