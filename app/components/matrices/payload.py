"""Matrices and the scenes that are made of them, as the one block of bytes that the component draws from.

Layout, little-endian: uint32 header length, UTF-8 JSON header, zeros to a multiple of 4, raw block. The raw block holds the
values of each matrix, row by row, in the shortest `form` that says exactly these; and after them, where it has them, the values
before an edit (float32) and the masked cells (uint8, 1 = masked).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from torch import Tensor

LARGEST = 2_000_000
"""Cells of all matrices of one message; a larger one belongs pooled."""

Role = Literal["query", "key", "value", "weights", "scores", "source", "target", "plain"]
Scale = Literal["unit", "signed", "switch", "range"]
Law = Literal[
    "product", "scaled", "sum", "softmax", "mask", "lookup", "norm", "activation", "concat", "slice", "sinusoid", "turn", "same"
]

LABELS: tuple[str, ...] = (
    "steps", "step_number", "previous", "next", "play", "pause", "hint", "matrix_hint", "name", "rows_by_columns", "cell",
    "cell_masked", "cell_before", "masked", "show_difference", "law_product", "law_product_one", "law_product_bias",
    "law_scaled", "law_sum",
    "law_softmax", "law_softmax_none", "law_mask_kept", "law_mask_hidden", "law_lookup", "law_norm", "law_relu", "law_gelu",
    "law_concat", "law_slice", "law_sinusoid", "law_turn", "law_same", "law_named", "rounded", "terms",
    "edit", "edit_apply", "edit_bad",
    "table", "table_of", "table_corner", "table_row", "png", "svg", "csv", "copy_link", "copied", "copy_failed",
    "caption_sentence", "caption_place", "caption_scene",
)  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """What runs along the rows or columns: tokens under their labels, or numbered dimensions.

    `extent` is how its length is called where "name length" would not be the truth: a table of which rows are pooled.
    An axis without a name has labels that say all; nothing is counted along it.
    """

    name: str
    labels: Sequence[str] | None = None
    role: Literal["source", "target", "plain"] = "plain"
    extent: str = ""


@dataclass(frozen=True)
class Matrix:
    """One matrix: values (rows, columns) with both axes.

    `scale`: "unit" from 0 to 1, "signed" around 0, "switch" for true and false, "range" from its least to its greatest value.
    `masked` marks cells that may not be read,
    `before` holds the values before an edit, `editable` lets the visitor type another value, `path` names it in the trace.
    `numbers`: each cell is large enough to have its value written in it, for a small table whose axes have names.
    Colours reach `top`, the same for matrices that are to be compared; None: the largest value of the matrix itself.
    """

    id: str
    values: Tensor
    rows: Axis
    columns: Axis
    title: str
    role: Role = "plain"
    scale: Scale = "signed"
    masked: Tensor | None = None
    before: Tensor | None = None
    editable: bool = False
    path: str = ""
    top: float | None = None
    numbers: bool = False


@dataclass(frozen=True)
class Scene:
    """Matrices and signs in reading order; the last matrix is the result, and `law` says how each of its cells comes about.

    - "product": A × B, or A × B + one row; "scaled": A × `value`; "sum": A + B
    - "softmax": of a row of A; "mask": A, or minus infinity where the result is masked
    - "lookup": row `index[i]` of the last matrix before the result; "concat": matrices side by side;
      "slice": columns of A from `value` on
    - "norm": LayerNorm of a row of A with gain and bias (one row each) and `value` as epsilon; "activation": of A, `activation`
    - "sinusoid": sine or cosine of row × `value`^(-2i / columns), pair i standing as `layout` says
    - "turn": A × B, A being one block of 2 × 2 after another: all other products are left out
    - "same": no law, the same cell in all
    """

    id: str
    title: str
    items: Sequence[str]
    law: Law = "same"
    note: str = ""
    value: float | None = None
    index: Sequence[int] | None = None
    activation: Literal["relu", "gelu"] = "relu"
    layout: Literal["interleaved", "halves"] = "interleaved"
    cell: tuple[int, int] | None = None


def pack(
    scenes: Sequence[Scene],
    matrices: Sequence[Matrix],
    *,
    text: Mapping[str, str],
    caption: Mapping[str, str],
    name: str = "",
    place: Mapping[str, Any] | None = None,
) -> bytes:
    """All scenes of one picture in one message.

    `text` holds a translated sentence for every name in `LABELS`; `caption` the "model", "source" and "target" that exports
    name. `name` sets this picture's URL parameters apart ("<name>.step") where a page has several. `place`: the attention,
    layer and head that are drawn, which the picture keeps in step with other pages.
    """
    known = {matrix.id for matrix in matrices}
    if len(known) < len(matrices):
        raise ValueError("two matrices have one id; give each its own")
    for scene in scenes:
        _check(scene, known)
    if (cells := sum(matrix.values.numel() for matrix in matrices)) > LARGEST:
        raise ValueError(f"{cells:,} cells are more than the {LARGEST:,} of one message; pool the largest matrix")
    blocks: list[bytes] = []
    header = {
        "scenes": [_scene(scene) for scene in scenes],
        "matrices": [_matrix(matrix, blocks) for matrix in matrices],
        "text": {label: text[label] for label in LABELS},
        "caption": dict(caption),
        "name": name,
        "place": dict(place) if place else None,
    }
    raw = b"".join(blocks)
    digest = hashlib.blake2b(raw, digest_size=12)
    digest.update(json.dumps(header, sort_keys=True).encode())
    complete = {**header, "bytes": len(raw), "digest": digest.hexdigest()}
    encoded = json.dumps(complete, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
    return len(encoded).to_bytes(4, "little") + encoded + bytes(-(4 + len(encoded)) % 4) + raw


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header, and the values of each matrix by its id."""
    length = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + length])
    raw = memoryview(message)[-(-(4 + length) // 4) * 4 :]
    values = {
        entry["id"]: _decoded(raw[entry["values"] :], entry["form"], entry["size"][0] * entry["size"][1]).reshape(entry["size"])
        for entry in header["matrices"]
    }
    return header, values


def _check(scene: Scene, known: set[str]) -> None:
    if scene.law not in get_args(Law):
        raise ValueError(f"law={scene.law!r} of scene {scene.id!r} is not known; choose one of {', '.join(get_args(Law))}")
    if not scene.items or scene.items[-1] not in known:
        raise ValueError(f"scene {scene.id!r} ends in no matrix; its last item is the result and must be one of {sorted(known)}")


def _scene(scene: Scene) -> dict[str, Any]:
    return {
        "id": scene.id, "title": scene.title, "items": list(scene.items), "law": scene.law, "note": scene.note,
        "value": scene.value, "index": list(scene.index) if scene.index is not None else None, "activation": scene.activation,
        "cell": list(scene.cell) if scene.cell else None, "layout": scene.layout,
    }  # fmt: skip


def _matrix(matrix: Matrix, blocks: list[bytes]) -> dict[str, Any]:
    values = matrix.values.detach().cpu().float().numpy()
    if values.ndim != 2:
        raise ValueError(f"matrix {matrix.id!r} has shape {values.shape}; needed are two axes, rows and columns")
    for axis, size in ((matrix.rows, values.shape[0]), (matrix.columns, values.shape[1])):
        if axis.labels is not None and len(axis.labels) != size:
            raise ValueError(
                f"axis {axis.name!r} of {matrix.id!r} has {len(axis.labels)} labels for {size} places; give one for each"
            )
    hidden = matrix.masked.detach().cpu().numpy() if matrix.masked is not None else None
    finite = np.isfinite(values) if hidden is None else np.isfinite(values) & ~hidden
    form, block = _encoded(values)
    entry: dict[str, Any] = {
        "id": matrix.id, "size": list(values.shape), "title": matrix.title, "role": matrix.role, "scale": matrix.scale,
        "rows": _axis(matrix.rows), "columns": _axis(matrix.columns), "editable": matrix.editable, "path": matrix.path,
        "numbers": matrix.numbers,
        "top": float(np.abs(values[finite]).max(initial=0.0)) if matrix.top is None else matrix.top,
        "form": form, "values": _put(blocks, block), "before": None, "masked": None,
    }  # fmt: skip
    if matrix.scale == "range":
        shown = values[finite] if finite.any() else np.zeros(1, np.float32)
        entry |= {"low": float(shown.min()), "top": float(shown.max())}
    if matrix.before is not None:
        entry["before"] = _put(blocks, matrix.before.detach().cpu().float().numpy().astype("<f4").tobytes())
    if hidden is not None:
        entry["masked"] = _put(blocks, np.broadcast_to(hidden, values.shape).astype("u1").tobytes())
    return entry


def _encoded(values: np.ndarray) -> tuple[str, bytes]:
    """The form and its bytes: float32 ("whole"), float16 ("half", which weights are stored in), or the count, the places (uint32)
    and the values (float32) of what is not zero ("sparse")."""
    whole = np.ascontiguousarray(values, "<f4").ravel()
    bits = whole.view("<u4")
    places = np.flatnonzero(bits).astype("<u4")
    forms = {"whole": whole.tobytes(), "sparse": np.concatenate([[len(places)], places, bits[places]]).astype("<u4").tobytes()}
    with np.errstate(over="ignore"):
        half = whole.astype("<f2")
    if np.array_equal(half.astype("<f4").view("<u4"), bits):
        forms["half"] = half.tobytes()
    return min(forms.items(), key=lambda item: len(item[1]))


def _decoded(raw: memoryview, form: str, count: int) -> np.ndarray:
    if form != "sparse":
        return np.frombuffer(raw, "<f2" if form == "half" else "<f4", count).astype("<f4")
    kept = int.from_bytes(raw[:4], "little")
    values = np.zeros(count, "<f4")
    values[np.frombuffer(raw, "<u4", kept, 4)] = np.frombuffer(raw, "<f4", kept, 4 + 4 * kept)
    return values


def _axis(axis: Axis) -> dict[str, Any]:
    labels = list(axis.labels) if axis.labels is not None else None
    return {"name": axis.name, "labels": labels, "role": axis.role, "extent": axis.extent}


def _put(blocks: list[bytes], block: bytes) -> int:
    """Append a block at a multiple of 4; returns where it begins."""
    at = sum(map(len, blocks))
    blocks.append(block + bytes(-len(block) % 4))
    return at
