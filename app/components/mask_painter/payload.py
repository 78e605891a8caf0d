"""What the painter is given: the tokens of one sentence, the masks that have a name, and the labels; all in a JSON header."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

LABELS: tuple[str, ...] = (
    "title", "preset", "own", "causal", "none", "window", "itself", "prefix", "block", "painted", "notation", "plain", "keep",
    "hide", "additive", "matrix", "matrix_hint", "lines", "lines_hint", "rows", "columns", "row_reads", "row_produces",
    "cell_allowed", "cell_hidden", "row_sees", "row_sees_nothing", "legend_allowed", "legend_hidden", "undo", "clipped",
    "table", "table_corner",
    "png", "svg", "csv", "copy_link", "copied", "copy_failed", "caption_sentence", "caption_mask",
)  # fmt: skip


def pack(
    rows: Sequence[str],
    *,
    produced: Sequence[str] | None,
    named: Literal["produced", "read"],
    side: Literal["source", "target"],
    length: int,
    presets: Mapping[str, str],
    own: str,
    mask: str,
    text: Mapping[str, str],
    caption: Mapping[str, str],
) -> bytes:
    """One message.

    `rows` are the labels of the positions that can be painted, the first of `length`; `produced` what each row writes (None in
    the encoder), and `named` says by which of the two a row is called; a column is always called by what is read. `presets` are
    masks by name as `model.analysis.masking.to_link` writes them, `own` the name of the model's own, `mask` the one to open
    with: a name, a link's cells, or "" for the model's own. `text` holds a translated sentence for every name in `LABELS`;
    `caption` the "model", "source", "target" and "attention" that exports name.
    """
    if produced is not None and len(produced) != len(rows):
        raise ValueError(f"{len(produced)} produced tokens for {len(rows)} rows; give one for each")
    header: dict[str, Any] = {
        "rows": list(rows), "produced": list(produced) if produced is not None else None, "side": side, "length": length,
        "names": list(produced) if produced is not None and named == "produced" else list(rows),
        "presets": dict(presets), "own": own, "mask": mask,
        "text": {label: text[label] for label in LABELS}, "caption": dict(caption),
    }  # fmt: skip
    known = {name: value for name, value in header.items() if name != "mask"}  # what was painted comes from the browser itself
    header["digest"] = hashlib.blake2b(json.dumps(known, sort_keys=True).encode(), digest_size=12).hexdigest()
    encoded = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return len(encoded).to_bytes(4, "little") + encoded


def unpack(message: bytes) -> dict[str, Any]:
    """The header of a message."""
    header: dict[str, Any] = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
    return header
