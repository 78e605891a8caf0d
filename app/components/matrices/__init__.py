"""Matrices: scenes of real matrices, their law followed cell by cell in the browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components.matrices.payload import LABELS, Axis, Matrix, Scene, pack, unpack
from app.components.modules import component, nothing

__all__ = ["LABELS", "Axis", "Matrix", "Scene", "matrices", "pack", "unpack"]

_component = component(Path(__file__).parent)


def matrices(
    payload: bytes,
    *,
    key: str,
    on_edit: Callable[[], None] | None = None,
    on_place: Callable[[], None] | None = None,
) -> Any:
    """Draws a payload made by `pack`.

    Steps and cells live in the browser and in the URL (`step`, `cell`). `.edit` of the result is {"matrix", "row", "column",
    "value"} for one run after the visitor changed a cell of an editable matrix. `.place` is {"attention", "layer", "head"}
    where another page left a place that the link does not name.
    """
    return _component(key=key, data=payload, on_edit_change=on_edit or nothing, on_place_change=on_place or nothing)
