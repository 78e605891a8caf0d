"""What was measured at the moments of a training, as the bytes that the component draws from.

A block of uint32 (the length of the header), the header in JSON, padded with spaces to an even length, and the weights of every
moment, layer, head, query and key as uint16: 65535 is 1.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

LABELS: tuple[str, ...] = (
    "hint", "keys", "moment", "after", "play", "pause", "layer", "head", "row", "produced", "read",
    "loss_chart", "accuracy_chart", "updates", "training_loss", "loss", "exact", "aligned", "loss_axis", "share_axis",
    "map", "said", "cell", "linked", "not_linked", "gold", "table", "png", "svg", "csv", "copy_link", "copied", "copy_failed",
    "caption_sentence", "caption_moment",
)  # fmt: skip

LEVELS = 65535


@dataclass(frozen=True)
class Shown:
    """The moments of one training, in order.

    `alignment` is a share for each moment, layer, head and row (produced, read); `weights` (moment, layer, head, query, key) is
    cross-attention over one pair, rows of the decoder by source tokens. `source` labels the columns, `produced` and `read` the
    rows; `links` are (source token, target token) of the exact alignment, from 0, where target token t is produced by row t and
    read by row t + 1. `losses` are those of every update, from the first, where they were kept. `first` is the layer, head and
    row (0 produced, 1 read) shown at first.
    """

    steps: Sequence[int]
    loss: Sequence[float]
    exact: Sequence[float]
    alignment: Sequence[Sequence[Sequence[Sequence[float]]]]
    weights: Tensor
    source: Sequence[str]
    produced: Sequence[str]
    read: Sequence[str]
    links: Sequence[tuple[int, int]]
    losses: Sequence[float] = ()
    first: tuple[int, int, int] = (0, 0, 0)


def pack(shown: Shown, *, text: Mapping[str, str], caption: Mapping[str, str], name: str, title: str) -> bytes:
    """All moments in one message.

    `text` holds a translated sentence for every name in `LABELS`; `caption` the "model", "source" and "target" that exports
    name; `name` sets the URL parameters and files apart.
    """
    moments, _, _, queries, keys = shown.weights.shape
    sizes = {"steps": shown.steps, "loss": shown.loss, "exact": shown.exact, "alignment": shown.alignment}
    for what, given in sizes.items():
        if len(given) != moments:
            raise ValueError(f"{what} has {len(given)} entries for {moments} moments; give one for each")
    for what, labels, needed in (
        ("source", shown.source, keys),
        ("produced", shown.produced, queries),
        ("read", shown.read, queries),
    ):
        if len(labels) != needed:
            raise ValueError(f"{what} has {len(labels)} labels for {needed} tokens; give one for each")
    header: dict[str, Any] = {
        "shape": list(shown.weights.shape), "name": name, "title": title, "caption": dict(caption),
        **{what: _plain(given) for what, given in sizes.items()},
        "source": list(shown.source), "produced": list(shown.produced), "read": list(shown.read),
        "links": [list(link) for link in sorted(shown.links)], "losses": list(shown.losses), "first": list(shown.first),
        "text": {label: text[label] for label in LABELS},
    }  # fmt: skip
    weights: bytes = np.rint(shown.weights.clamp(0, 1).double().numpy() * LEVELS).astype("<u2").tobytes()
    head = json.dumps(header, ensure_ascii=False, allow_nan=False)
    digest = hashlib.blake2b(head.encode("utf-8", "replace") + weights, digest_size=12).hexdigest()
    said = json.dumps({**header, "digest": digest}, ensure_ascii=False).encode("utf-8", "replace")
    said += b" " * (len(said) % 2)
    return len(said).to_bytes(4, "little") + said + weights


def unpack(message: bytes) -> tuple[dict[str, Any], np.ndarray]:
    """What the component is told: the header, and the weights (moment, layer, head, query, key)."""
    size = int.from_bytes(message[:4], "little")
    header: dict[str, Any] = json.loads(message[4 : 4 + size])
    return header, np.frombuffer(message[4 + size :], dtype="<u2").reshape(header["shape"]) / LEVELS


def _plain(values: Any) -> Any:
    return [_plain(value) for value in values] if isinstance(values, list | tuple) else values
