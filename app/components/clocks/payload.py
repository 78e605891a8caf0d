"""What the clocks are drawn from: queries and keys of one head before any rotation, and how fast each pair turns.

Layout, little-endian: uint32 header length, UTF-8 JSON header, zeros to a multiple of 4, then as float32, row by row, all
queries, all keys (length, head_dim each), and the scores that the model recorded (query, key).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

LABELS: tuple[str, ...] = (
    "title", "vectors", "vectors_model", "vectors_own", "query", "key", "at_query", "at_key", "both", "pairing", "adjacent",
    "half", "phases", "reach", "within", "dials", "waves", "dials_keys", "waves_keys", "pair", "pair_name", "each", "sum",
    "left_out", "offset", "said", "said_own", "said_pair", "hint", "recorded_turned", "recorded_plain", "moved_both",
    "moved_one", "future", "pair_title", "matrix", "before", "after", "of_query", "of_key", "term", "x_query", "y_query",
    "x_key", "y_key", "reset", "drag", "table", "channels", "frequency", "wavelength", "angle_query", "angle_key", "phase",
    "size", "adds", "product", "score", "png", "svg", "csv", "csv_offsets", "copy_link", "copied", "copy_failed",
    "caption_sentence", "caption_dials", "caption_own",
)  # fmt: skip

OWN = ((1.0, 2.0, 3.0, 4.0), (4.0, 3.0, 2.0, 1.0))  # two vectors to drag: those of the usual reference table


@dataclass(frozen=True)
class Head:
    """One head of self-attention: its vectors (length, head_dim), its recorded scores, and the labels of its tokens.

    `turned`: whether the model itself turns them; `causal`: whether keys after the query are masked; `at`: query and key to
    begin with.
    """

    query: Tensor
    key: Tensor
    scores: Tensor
    labels: Sequence[str]
    role: str
    turned: bool
    causal: bool
    at: tuple[int, int]
    path: str


def pack(
    head: Head,
    frequencies: Sequence[float],
    own_frequencies: Sequence[float],
    *,
    text: Mapping[str, str],
    caption: Mapping[str, str],
) -> bytes:
    """Everything in one message.

    `frequencies`: radians a position of each pair of the head, `own_frequencies` those of the two vectors to drag. `text` holds a
    translated sentence for every name in `LABELS`, `caption` the "model", "source", "target" and "head" that exports name.
    """
    length, width = head.query.shape
    if head.key.shape != (length, width) or head.scores.shape != (length, length) or len(head.labels) != length:
        raise ValueError(
            f"queries {tuple(head.query.shape)}, keys {tuple(head.key.shape)}, scores {tuple(head.scores.shape)} and "
            f"{len(head.labels)} labels are not those of one head of self-attention"
        )
    if len(frequencies) * 2 != width or len(own_frequencies) * 2 != len(OWN[0]):
        raise ValueError(f"{len(frequencies)} frequencies for head_dim={width}; give one for each pair")
    raw = b"".join(
        values.detach().cpu().float().numpy().astype("<f4").tobytes() for values in (head.query, head.key, head.scores)
    )
    header: dict[str, Any] = {
        "length": length, "width": width, "labels": list(head.labels), "role": head.role, "turned": head.turned,
        "causal": head.causal, "at": list(head.at), "path": head.path, "frequencies": list(frequencies),
        "own_frequencies": list(own_frequencies), "own": [list(vector) for vector in OWN],
        "text": {label: text[label] for label in LABELS}, "caption": dict(caption),
    }  # fmt: skip
    digest = hashlib.blake2b(raw, digest_size=12)
    digest.update(json.dumps(header, sort_keys=True).encode())
    header["digest"] = digest.hexdigest()
    encoded = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
    return len(encoded).to_bytes(4, "little") + encoded + bytes(-(4 + len(encoded)) % 4) + raw


def unpack(message: bytes) -> tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray]:
    """The header, queries, keys and scores."""
    size = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + size])
    raw = np.frombuffer(message[-(-(4 + size) // 4) * 4 :], "<f4")
    length, width = header["length"], header["width"]
    query, key, scores = np.split(raw, [length * width, 2 * length * width])
    return header, query.reshape(length, width), key.reshape(length, width), scores.reshape(length, length)
