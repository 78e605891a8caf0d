"""What both models read at each step, as the one block of bytes that the picture is drawn from.

Layout, little-endian: uint32 header length, UTF-8 JSON header, zeros to a multiple of 4, raw block. The raw block holds for
each strip of keys the weights as float32 (layer, head, step, key), and after them the mask as uint8 (step, key; 1 = may read),
padded to a multiple of 4.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from model.trace import Trace

LABELS: tuple[str, ...] = (
    "title", "keys", "word", "previous", "next", "layer", "of_layers", "head", "mean", "writes", "wrote", "ended", "sees",
    "said", "said_hidden", "strip_source", "strip_written", "strip_sequence", "probability", "masked", "place", "table",
    "table_step", "table_token", "table_probability", "table_sees",
    "png", "svg", "csv", "copy_link", "copied", "copy_failed", "caption_sentence", "caption_place",
)  # fmt: skip


@dataclass(frozen=True)
class Strip:
    """Keys that one attention offers, in a row: its name among `LABELS`, its module path with {layer} open, their labels.

    The first `given` of them came from the visitor, the rest the model wrote.
    """

    name: str
    path: str
    labels: Sequence[str]
    given: int


@dataclass(frozen=True)
class Panel:
    """One model: what it is called, its trace, the row of the trace in which it wrote its first token, and what it reads."""

    id: str
    title: str
    trace: Trace
    first: int
    layers: int
    strips: Sequence[Strip]


def pack(panels: Sequence[Panel], *, text: Mapping[str, str], caption: Mapping[str, str]) -> bytes:
    """Both panels in one message.

    `text` holds a translated sentence for every name in `LABELS`; `caption` the "model", "source" and "target" that exports name.
    """
    blocks: list[bytes] = []
    header: dict[str, Any] = {
        "panels": [_panel(panel, blocks) for panel in panels],
        "text": {label: text[label] for label in LABELS},
        "caption": dict(caption),
    }
    raw = b"".join(blocks)
    digest = hashlib.blake2b(raw, digest_size=12)
    digest.update(json.dumps(header, sort_keys=True).encode())
    header["digest"] = digest.hexdigest()
    encoded = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
    return len(encoded).to_bytes(4, "little") + encoded + bytes(-(4 + len(encoded)) % 4) + raw


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, tuple[np.ndarray, np.ndarray]]]:
    """The header, and of each strip ("<panel>.<name>") its weights (layer, head, step, key) and its mask (step, key)."""
    length = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + length])
    raw = memoryview(message)[-(-(4 + length) // 4) * 4 :]
    found = {}
    for panel in header["panels"]:
        for strip in panel["strips"]:
            size = (panel["layers"], panel["heads"], len(panel["writes"]), len(strip["labels"]))
            weights = np.frombuffer(raw, "<f4", int(np.prod(size)), strip["weights"]).reshape(size)
            mask = np.frombuffer(raw, "u1", size[2] * size[3], strip["mask"]).reshape(size[2:])
            found[f"{panel['id']}.{strip['name']}"] = weights, mask
    return header, found


def _panel(panel: Panel, blocks: list[bytes]) -> dict[str, Any]:
    trace, first = panel.trace, panel.first
    return {
        "id": panel.id, "title": panel.title, "first": first, "layers": panel.layers,
        "heads": trace[f"{panel.strips[0].path.format(layer=0)}.weights"].tensor.shape[1],
        "writes": [token.label for token in trace.produced[first:]],
        "logarithms": list(trace.log_probabilities[first:]),
        "strips": [_strip(panel, strip, blocks) for strip in panel.strips],
    }  # fmt: skip


def _strip(panel: Panel, strip: Strip, blocks: list[bytes]) -> dict[str, Any]:
    paths = [strip.path.format(layer=layer) for layer in range(panel.layers)]
    weights = torch.stack([panel.trace[f"{path}.weights"].tensor[0, :, panel.first :] for path in paths])
    hidden = panel.trace[f"{paths[0]}.masked"].tensor[0, 0, panel.first :] == -torch.inf
    if weights.shape[-1] != len(strip.labels):
        raise ValueError(f"strip {strip.name!r} has {len(strip.labels)} labels for {weights.shape[-1]} keys; give one for each")
    return {
        "name": strip.name, "path": strip.path, "labels": list(strip.labels), "given": strip.given,
        "weights": _put(blocks, weights.cpu().numpy().astype("<f4").tobytes()),
        "mask": _put(blocks, (~hidden).cpu().numpy().astype("u1").tobytes()),
    }  # fmt: skip


def _put(blocks: list[bytes], block: bytes) -> int:
    """Append a block at a multiple of 4; returns where it begins."""
    at = sum(map(len, blocks))
    blocks.append(block + bytes(-len(block) % 4))
    return at
