"""The visitor's edits of single numbers: kept with their sentence and place, and in the URL."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from app import session
from model.analysis import cells
from model.analysis.cells import CellEdit
from model.trace import Trace

TOO_LARGE = 10 * cells.LARGEST  # larger numbers are refused like this one; a whole number may be too large for a float
PARAMETER, _STATE = "edits", "attention_edits"


@dataclass(frozen=True)
class Kept:
    """The edits, whose they are (a sentence and a head), what the URL says of them, and what to tell the visitor."""

    owner: tuple[object, ...]
    cells: tuple[CellEdit, ...] = ()
    written: str = ""
    remark: session.Remark | None = None


def current(selection: session.Selection, trace: Trace, place: session.Place) -> Kept:
    """The edits of this run. A URL that the visitor changed wins; edits of another sentence or head are dropped."""
    owner = (selection.model, selection.text, selection.target, selection.beam, place)
    url = st.query_params.get(PARAMETER, "")
    before: Kept | None = st.session_state.get(_STATE)
    if before is None or (url and url != before.written):
        found = _from_url(url, owner, trace, place)
    elif before.owner != owner:
        dropped = len(before.cells)
        found = Kept(owner, remark=session.Remark("attention_edit.dropped", {"count": dropped}) if dropped else None)
    else:
        found = before
    return _keep(found)


def add(trace: Trace, place: session.Place, cell: CellEdit) -> None:
    """One more edit, if it can be made; for callbacks."""
    kept: Kept = st.session_state[_STATE]
    cell = replace(cell, value=cells.rounded(cell.value))
    wrong = cells.problem(trace, place.attention, place.layer, place.head, cell)
    if wrong:
        reason = wrong if wrong in ("masked", "value") else "place"
        _keep(replace(kept, remark=session.Remark(f"attention_edit.refused_{reason}", {"largest": f"{cells.LARGEST:,.0f}"})))
    elif len(kept.cells) >= cells.MOST:
        _keep(replace(kept, remark=session.Remark("attention_edit.refused_many", {"most": cells.MOST})))
    else:
        _keep(replace(kept, cells=(*kept.cells, cell), remark=None))


def show(cell: CellEdit | None, remark: session.Remark) -> None:
    """One edit in place of all others, or none, and what to say of it; for callbacks."""
    _keep(replace(st.session_state[_STATE], cells=(cell,) if cell else (), remark=remark))


def undo() -> None:
    """Take the last edit back."""
    kept: Kept = st.session_state[_STATE]
    _keep(replace(kept, cells=kept.cells[:-1], remark=None))


def reset() -> None:
    """Take all edits back."""
    _keep(replace(st.session_state[_STATE], cells=(), remark=None))


def from_picture(key: str, trace: Trace, place: session.Place) -> Callable[[], None]:
    """A callback that makes the edit which the component `key` sends; a message that is no edit does nothing."""

    def change() -> None:
        cell = _told((st.session_state.get(key) or {}).get("edit"))
        if cell:
            add(trace, place, cell)

    return change


def _told(message: Any) -> CellEdit | None:
    """What a browser says it changed."""
    if not isinstance(message, Mapping):
        return None
    kind, value = message.get("matrix"), message.get("value")
    row, column = _index(message.get("row")), _index(message.get("column"))
    if kind not in cells.KINDS or row is None or column is None or not isinstance(value, int | float):
        return None
    return CellEdit(kind, row, column, float(max(-TOO_LARGE, min(TOO_LARGE, value))))


def _index(told: Any) -> int | None:
    return told if isinstance(told, int) and not isinstance(told, bool) else None


def _from_url(url: str, owner: tuple[object, ...], trace: Trace, place: session.Place) -> Kept:
    try:
        asked = cells.from_text(url)
    except ValueError:
        return Kept(owner, remark=session.Remark("attention_edit.unread", {}))
    fitting = tuple(cell for cell in asked if not cells.problem(trace, place.attention, place.layer, place.head, cell))
    unfit = len(asked) - len(fitting)
    return Kept(owner, fitting, remark=session.Remark("attention_edit.unfit", {"count": unfit}) if unfit else None)


def _keep(kept: Kept) -> Kept:
    """Remember the edits, and write them into the URL."""
    kept = replace(kept, written=cells.as_text(kept.cells))
    st.session_state[_STATE] = kept
    session.put(PARAMETER, kept.written or None)
    return kept
