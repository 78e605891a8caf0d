"""Numbers as an NPZ file, with the tokens and a caption: every attention weight of a trace, or what another page draws from."""

import io
from collections.abc import Mapping, Sequence

import numpy as np

from model.trace import Trace


def npz(trace: Trace, caption: Mapping[str, str]) -> bytes:
    """All attention weights of a trace, one array (head, query, key) a path, beside their axes, the tokens and the caption.

    Arrays of weights are named by their path; `tokens.source`, `tokens.target` (read by the decoder's rows) and
    `tokens.produced` are the labels; `log_probabilities` belongs to `tokens.produced`; `caption.*` says what this is.
    Read it with `numpy.load(file)`; nothing in it is pickled.
    """
    arrays: dict[str, np.ndarray] = {
        path: activation.tensor[0].float().cpu().numpy() for path, activation in trace.items() if path.endswith(".weights")
    }
    arrays["log_probabilities"] = np.array(trace.log_probabilities, dtype=np.float64)
    arrays["axes"] = np.array(["head", "query", "key"], dtype=np.str_)
    return packed(arrays, trace, caption)


def recorded(trace: Trace, parts: Sequence[str], caption: Mapping[str, str]) -> bytes:
    """Every recorded tensor whose path holds one of these parts, as in the model and without the axis of the batch."""
    kept = {path: found.tensor[0].float().cpu().numpy() for path, found in trace.items() if any(part in path for part in parts)}
    return packed(kept, trace, caption)


def packed(arrays: Mapping[str, np.ndarray], trace: Trace, caption: Mapping[str, str]) -> bytes:
    """Arrays under their names, with `tokens.*` and `caption.*` as `npz` has them."""
    arrays = dict(arrays)
    for side in ("source", "target", "produced"):
        arrays[f"tokens.{side}"] = np.array([token.label for token in getattr(trace, side)], dtype=np.str_)
    return saved(arrays, caption)


def saved(arrays: Mapping[str, np.ndarray], caption: Mapping[str, str] | None = None) -> bytes:
    """Arrays under their names, with `caption.*` if there is one, as a file; nothing in it is pickled."""
    captions = {f"caption.{name}": np.array(value, dtype=np.str_) for name, value in (caption or {}).items()}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays, **captions)  # type: ignore[arg-type]
    return file.getvalue()
