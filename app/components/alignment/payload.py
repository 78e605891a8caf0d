"""One pair of sentences as the one block of bytes that the alignment view draws from.

Layout, little-endian: uint32 header length, UTF-8 JSON header, zeros to a multiple of 4, then float32 maps. Unlike those of the
attention map, weights are not rounded to 16 bits: a link is the largest of a row, and the browser must find the one that the
server finds. Maps are between pieces, in the order of the header's "blocks" (a block: one measure and one layer, all heads and
their mean, rows, columns); the browser joins pieces to words. Of large pairs one block is sent, others as they are opened.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

LARGEST = 2_000_000
"""Numbers of a pair above which layers are sent one by one: 8 MB."""

LABELS: tuple[str, ...] = (
    "title", "text_hint", "source", "target", "pair", "previous", "next", "view", "view_ribbon", "view_matrix",
    "unit", "unit_pieces", "unit_words", "layer", "head", "mean", "row", "row_produced", "row_read",
    "measure", "measure_weights", "measure_norms", "rule", "rule_argmax", "rule_threshold", "threshold",
    "second", "second_none", "second_reverse", "second_joint", "second_axis", "method", "rule_joint", "note_joint",
    "method_intersection", "method_union", "method_grow_diag", "method_grow_diag_final_and",
    "note_produced", "note_read", "note_norms", "note_argmax", "note_threshold", "note_reverse", "note_axis", "loading",
    "matrix", "matrix_hint", "ribbon", "ribbon_hint", "unpin", "unpin_hint",
    "cell", "cell_piece", "word_target", "word_source", "partner", "no_partner", "linked_with", "linked_to_none",
    "special_column", "linked", "not_linked", "gold_sure", "gold_possible", "gold_none",
    "legend", "legend_link", "legend_found_sure", "legend_found_possible", "legend_missed", "legend_possible", "legend_extra",
    "legend_sure_alone", "legend_possible_alone",
    "scores", "scores_diagonal", "scores_none", "gold_file", "gold_hand", "gold_draft",
    "edit", "edit_hint", "undo", "start_from_model", "clear", "save_gold", "discard", "draft", "draft_back", "draft_saving",
    "draft_refused", "saved",
    "table", "table_corner", "table_links", "table_weight", "table_link", "table_gold",
    "png", "svg", "csv", "copy_link", "copied", "copy_failed", "link_note",
    "caption_pair", "caption_shown", "caption_links", "caption_marks",
    "layer_number", "head_number", "head_mean", "comma", "unknown_words",
)  # fmt: skip


@dataclass(frozen=True)
class Sentence:
    """A sentence as it was brought: its words, and what stands before, between and after them (one more than words)."""

    words: Sequence[str]
    gaps: Sequence[str]


@dataclass(frozen=True)
class Pieces:
    """The tokens along an axis: label, the index of the word (special tokens: from the number of words up), special or not."""

    labels: Sequence[str]
    words: Sequence[int]
    special: Sequence[bool]


@dataclass(frozen=True)
class Backward:
    """What the reverse model says, between words already: for each measure a map [source word, target column].

    Columns from the number of target words up are special tokens. `name` says which model, layer, head and row it is.
    """

    name: str
    maps: Mapping[str, npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Joint:
    """Both directions at once, between words: for each measure the mean of `heads` [target word, source word] and the reverse
    model's [source word, target word]. Each head is (layer, head or "mean", row); any other head stands for itself.

    A link is where the mean of both is larger than `above`, or larger than `mutual` and the largest of both its words.
    """

    heads: Sequence[tuple[int, int | str, str]]
    forward: Mapping[str, npt.NDArray[np.float32]]
    backward: Mapping[str, npt.NDArray[np.float32]]
    above: float
    mutual: float


Pair = tuple[int, int]


@dataclass(frozen=True)
class Gold:
    """Links taken to be right, (source, target) from 0; sure ones count as possible too. `hand`: made by the visitor."""

    sure: Collection[Pair]
    possible: Collection[Pair]
    hand: bool = False


def pack(
    *,
    index: int,
    count: int,
    source: Sentence,
    target: Sentence,
    pieces: Mapping[str, Pieces],
    weights: Mapping[str, npt.NDArray[np.float32]],
    backward: Backward | None,
    gold: Gold | None,
    diagonal: Collection[Pair],
    defaults: Mapping[str, Any],
    text: Mapping[str, str],
    caption: Mapping[str, str],
    opened: tuple[str, int] | None = None,
    refused: str = "",
    joint: Joint | None = None,
) -> bytes:
    """One message.

    `index` of `count` pairs counts from 0. `pieces` are those of "source", "produced" and "read"; `weights` a map [layer, head,
    query, key] for each measure, the last head being all of them together, of which only the `opened` (measure, layer) is sent
    where the pair is large. `defaults` is what a first visit shows (layer, head, row, measure, threshold, second, method);
    `text` a translated sentence for every name in `LABELS`; `caption` the "file", "model" and "path" that exports name.
    `refused` says why links that came back could not be kept; empty where nothing was refused.
    """
    for name, maps in weights.items():
        _check(name, maps, pieces)
    layers, heads = next(iter(weights.values())).shape[:2]
    whole = sum(maps.size for maps in weights.values()) <= LARGEST
    wanted = [(measure, layer) for measure in weights for layer in range(layers)]
    blocks: list[tuple[str, int]] = wanted if whole or opened is None else [opened]
    raw = [_bytes(weights[measure][layer]) for measure, layer in blocks]
    header: dict[str, Any] = {
        "index": index, "count": count, "source": asdict(source), "target": asdict(target),
        "pieces": {side: asdict(tokens) for side, tokens in pieces.items()},
        "layers": layers, "heads": heads - 1, "measures": list(weights), "blocks": [list(block) for block in blocks],
        "backward": None if backward is None else _described(backward),
        "joint": None if joint is None else _together(joint),
        "gold": None if gold is None else _gold(gold), "diagonal": sorted(diagonal),
        "defaults": dict(defaults), "text": {label: text[label] for label in LABELS}, "caption": dict(caption),
        "refused": refused,
    }  # fmt: skip
    header["pair"] = identity(index, source.words, target.words)
    raw += [_bytes(maps) for maps in backward.maps.values()] if backward else []
    raw += [_bytes(maps) for way in (joint.forward, joint.backward) for maps in way.values()] if joint else []
    return _envelope(header, raw)


def unpack(message: bytes) -> tuple[dict[str, Any], memoryview]:
    """The header and the raw block of a packed message."""
    length = int.from_bytes(message[:4], "little")
    return json.loads(message[4 : 4 + length]), memoryview(message)[-(-(4 + length) // 4) * 4 :]


def _check(measure: str, maps: npt.NDArray[np.float32], pieces: Mapping[str, Pieces]) -> None:
    rows, columns = len(pieces["produced"].labels), len(pieces["source"].labels)
    if maps.shape[2:] != (rows, columns) or len(pieces["read"].labels) != rows:
        raise ValueError(f"{measure}: maps are {maps.shape[2:]}, the pieces {(rows, columns)}; give a row and a column for each")
    if not np.isfinite(maps).all():
        raise ValueError(f"{measure}: maps must be finite; look at the model")


def _gold(gold: Gold) -> dict[str, Any]:
    return {"sure": sorted(gold.sure), "possible": sorted({*gold.possible, *gold.sure}), "hand": gold.hand}


def _described(backward: Backward) -> dict[str, Any]:
    columns = next(iter(backward.maps.values())).shape[1]
    return {"name": backward.name, "measures": list(backward.maps), "columns": columns}


def _together(joint: Joint) -> dict[str, Any]:
    return {
        "heads": [list(head) for head in joint.heads],
        "measures": list(joint.forward),
        "above": joint.above,
        "mutual": joint.mutual,
    }


def identity(index: int, source: Sequence[str], target: Sequence[str]) -> str:
    """A name for a pair, from its place and its words: links made by hand belong to it and to no other."""
    said = json.dumps([index, list(source), list(target)])
    return hashlib.blake2b(said.encode(), digest_size=12).hexdigest()


def _bytes(maps: npt.NDArray[np.float32]) -> bytes:
    return np.ascontiguousarray(maps, dtype="<f4").tobytes()


def _envelope(header: dict[str, Any], blocks: Sequence[bytes]) -> bytes:
    raw = b"".join(blocks)
    digest = hashlib.blake2b(raw, digest_size=12)
    digest.update(json.dumps(header, sort_keys=True).encode())
    encoded = json.dumps({**header, "digest": digest.hexdigest()}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    encoded_bytes = encoded.encode("utf-8", "replace")
    padding = -(4 + len(encoded_bytes)) % 4
    return len(encoded_bytes).to_bytes(4, "little") + encoded_bytes + bytes(padding) + raw
