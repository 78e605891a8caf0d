"""Both traces of the page Two families as one NPZ file, and its formulas with numbers."""

import io
from collections.abc import Mapping

import numpy as np

from app.charts.archive import npz, saved
from model.trace import Trace


def npz_of(traces: Mapping[str, Trace], caption: Mapping[str, str]) -> bytes:
    """What `archive.npz` makes of each trace, every name behind that of its family: "decoder_only.tokens.target"."""
    arrays: dict[str, np.ndarray] = {}
    for family, trace in traces.items():
        with np.load(io.BytesIO(npz(trace, caption))) as found:
            arrays |= {f"{family}.{name}": found[name] for name in found.files}
    return saved(arrays)


def kept(layers: int, width: int, source: int, target: int, size: int) -> str:
    """The size of a key/value cache: two matrices, layers, width, tokens, four bytes a number."""
    return rf"2 \cdot {layers} \cdot {width} \cdot ({source} + {target}) \cdot 4 = {size:,}".replace(",", "{,}")
