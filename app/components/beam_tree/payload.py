"""A beam search as the component draws it, in one message of UTF-8 JSON."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

LABELS: tuple[str, ...] = (
    "title", "keys", "hint", "given", "kept", "cut", "finished", "left", "best", "said", "go", "back",
    "table", "table_node", "table_after", "table_token", "table_fate", "table_log_probability", "table_total", "table_worth",
    "table_looks", "png", "svg", "csv", "copy_link", "copied", "copy_failed", "caption_sentence", "caption_search",
)  # fmt: skip


@dataclass(frozen=True)
class Node:
    """One node: its token, the node before it (None: the start), what it is worth, what became of it, and its row of weights."""

    id: int
    label: str
    parent: int | None
    depth: int
    log_probability: float
    total: float
    worth: float
    fate: str
    row: int


@dataclass(frozen=True)
class Search:
    """What the whole tree has in common: the label of its root, the size of the beam, the length penalty, the nodes at which the
    returned outputs end, best first, and whose weights are shown over `keys`; `role` colours them.
    """

    start: str
    size: int
    length_penalty: float
    best: Sequence[int]
    keys: Sequence[str]
    rows: Sequence[Sequence[float]]
    role: str
    looks: str
    path: str


def pack(nodes: Sequence[Node], search: Search, *, text: Mapping[str, str], caption: Mapping[str, str]) -> bytes:
    """The tree in one message; a parent stands before its children.

    `text` holds a translated sentence for every name in `LABELS`, `caption` the "model", "source" and "target" that exports name.
    """
    for index, node in enumerate(nodes):
        if node.parent is not None and node.parent >= index:
            raise ValueError(f"node {index} names {node.parent} as its parent; a parent stands before its children")
    header: dict[str, Any] = {
        "nodes": [asdict(node) for node in nodes],
        **asdict(search),
        "text": {label: text[label] for label in LABELS},
        "caption": dict(caption),
    }
    header["digest"] = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=12).hexdigest()
    return json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")


def unpack(message: bytes) -> dict[str, Any]:
    """What the component is told."""
    found: dict[str, Any] = json.loads(message)
    return found
