"""Edit and recompute: set a number of one head, and follow the change to the words that come out."""

import math

import streamlit as st

from app import session
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.components.matrices.payload import Law, Role
from app.text import section, text
from app.views import attention_cells, html, linked, picture, rows
from app.views import attention_effects as effects
from app.views.anatomy import tell
from app.views.attention_scenes import axes_of
from model.analysis import cells as cell_edits
from model.analysis import edited, telling
from model.analysis.cells import CellEdit
from model.analysis.edited import Recomputed
from model.trace import Trace
from model.translator import Atlas

PICTURE, FOUND = "attention_edit_matrices", "attention_edit.found"


@st.fragment
def edit_block(selection: session.Selection, atlas: Atlas, trace: Trace, place: session.Place) -> None:
    """The head with numbers to change, the list of changes, and what became of everything after them."""
    session.begin_run()
    kept = attention_cells.current(selection, trace, place)
    html.prose("attention_edit.idea", layer=place.layer + 1, head=place.head + 1)
    if kept.remark:
        tell(kept.remark, "info" if kept.remark.key == FOUND else "warning")
    chosen = by_numbers(trace, place)
    suggestion(selection, atlas, trace, place)
    renormalise = st.toggle(
        text("attention_edit.renormalise"), help=text("attention_edit.renormalise_help"), key="renormalise", bind="query-params"
    )
    found = None
    if kept.cells:
        at = (place.attention, place.layer, place.head, kept.cells, renormalise)
        found = session.measured(edited.recompute, selection, *at)
    cell_now(trace, place, found, *chosen)
    draw(selection, trace, place, kept.cells, found)
    if found is None:
        html.prose("attention_edit.none_yet", kind="quiet")
        return
    list_of(trace, place, kept.cells, found)
    effects.outcome(found)
    effects.travelled(selection, trace, place, found)
    effects.words(trace, found)
    effects.free(selection, place, kept.cells, renormalise)


def by_numbers(trace: Trace, place: session.Place) -> tuple[str, int, int]:
    """Row, column and value without the picture; returns the cell that the boxes name."""
    names = {kind: text(f"attention_edit.kind_{kind}") for kind in cell_edits.KINDS}
    with st.container(horizontal=True, vertical_alignment="bottom", key="edit_numbers"):
        kind = linked.chosen("edit_kind", cell_edits.KINDS, "scores") or "scores"
        st.segmented_control(
            text("attention_edit.kind"), cell_edits.KINDS, format_func=names.__getitem__, key="edit_kind", required=True,
            on_change=linked.remember("edit_kind", "scores"),
        )  # fmt: skip
        values = trace[f"{place.path}.{kind}"].tensor[0, place.head]
        keys_of = {name: f"edit_{name}_{kind}_{size}" for name, size in zip(("row", "column"), values.shape, strict=True)}
        row, column = (_index(name, keys_of[name], size) for name, size in zip(("row", "column"), values.shape, strict=True))
        largest = cell_edits.LARGEST
        st.number_input(
            text("attention_edit.value"), -largest, largest, 0.0, 0.5, format="%.4f", key="edit_value", width=160,
            persist_state="page",
        )  # fmt: skip

        def change() -> None:  # what the boxes hold when the button is pressed, not when they were drawn
            at, across, value = (st.session_state[key] for key in (keys_of["row"], keys_of["column"], "edit_value"))
            attention_cells.add(trace, place, CellEdit(kind, int(at), int(across), float(value)))

        st.button(text("attention_edit.apply"), on_click=change, key="edit_apply")
    return kind, row, column


def _index(name: str, key: str, size: int) -> int:
    found = linked.number(key, range(size), 0)
    st.number_input(
        text(f"attention_edit.number_{name}"), 0, size - 1, step=1, key=key, on_change=linked.remember(key, 0), width=120
    )
    return found


def cell_now(trace: Trace, place: session.Place, found: Recomputed | None, kind: str, row: int, column: int) -> None:
    """What the cell holds that the boxes name, and what it held before the edits."""
    asking, keys = axes(trace, place)
    value = float(trace[f"{place.path}.{kind}"].tensor[0, place.head, row, column])
    now = float(found.matrices[kind].after[row, column]) if found else value
    html.prose(
        f"attention_edit.cell_{'query' if kind == 'query' else 'pair'}{'' if now == value else '_edited'}",
        kind="quiet",
        row=row,
        query=(asking.labels or ())[row],
        column=column,
        token="" if kind == "query" else (keys.labels or ())[column],
        value=html.number(now, 4),
        before=html.number(value, 4),
    )


def suggestion(selection: session.Selection, atlas: Atlas, trace: Trace, place: session.Place) -> None:
    """A button that looks for an edit which changes a word, and makes it."""

    def look() -> None:
        at = (place.attention, place.layer, place.head)
        found = session.measured(telling.search, selection, *at)
        values: dict[str, object] = {
            "tried": found.tried,
            "least": found.least_sure,
            "word": trace.produced[found.least_sure].label,
        }
        if found.cell:
            asking, keys = axes(trace, place)
            values |= {"row": found.cell.row, "query": (asking.labels or ())[found.cell.row], "column": found.cell.column}
            values |= {"token": (keys.labels or ())[found.cell.column], "changed": found.row}
            attention_cells.show(found.cell, session.Remark(FOUND, values))
            return
        other = session.measured(telling.elsewhere, selection, *at)
        if other:
            kind = html.Ours(text(f"attention_map.{other[0].replace('.', '_')}"))
            values |= {"attention": kind, "layer": other[1] + 1, "head": other[2] + 1}
        attention_cells.show(None, session.Remark(f"attention_edit.found_{'elsewhere' if other else 'nowhere'}", values))

    st.button(text("attention_edit.find"), on_click=look, key="edit_find", icon=":material/search:")


def axes(trace: Trace, place: session.Place) -> tuple[Axis, Axis]:
    """Rows and keys of the head, rows named as in the picture above."""
    return axes_of(trace, trace[f"{place.path}.weights"].spans, rows.named())


# ----- the head, before and after


def draw(
    selection: session.Selection, trace: Trace, place: session.Place, cells: tuple[CellEdit, ...], found: Recomputed | None
) -> None:
    """Scores, weights, queries and context; what differs from the original is outlined."""
    message = pack(
        scenes_of(cells),
        matrices_of(trace, place, found),
        text=section("matrices"),
        caption=picture.caption(selection, trace),
        name="edit",
    )
    matrices(message, key=PICTURE, on_edit=attention_cells.from_picture(PICTURE, trace, place))
    html.prose(rows.convention(place.attention), kind="quiet")
    html.prose("attention_edit.rows_note", kind="quiet")


def scenes_of(cells: tuple[CellEdit, ...]) -> list[Scene]:
    """What stands beside what; where weights were set by hand they follow no softmax any more."""
    by_hand = any(cell.kind == "weights" for cell in cells)
    items: dict[str, tuple[tuple[str, ...], Law]] = {
        "scores": (("scores",), "same"),
        "weights": (("scores", "→", "weights"), "same" if by_hand else "softmax"),
        "query": (("query",), "same"),
        "context": (("weights", "×", "value", "=", "context"), "product"),
    }
    return [
        Scene(
            name,
            text(f"attention_edit.scene_{name}"),
            shown,
            law,
            text(f"attention_edit.note_{name}"),
            cell=_marked(name, cells[-1]) if cells else None,
        )
        for name, (shown, law) in items.items()
    ]


def _marked(scene: str, last: CellEdit) -> tuple[int, int]:
    """The cell to look at first: the one that was edited last, or what its row became."""
    pairs = ("scores", "weights")
    return last.row, last.column if last.kind == scene or (last.kind in pairs and scene in pairs) else 0


def matrices_of(trace: Trace, place: session.Place, found: Recomputed | None) -> list[Matrix]:
    """The head's matrices, with what they were before where something was edited."""
    (asking, keys), width = axes(trace, place), Axis("d_k")
    hidden = trace[f"{place.path}.masked"].tensor[0, place.head] == -math.inf

    def made(name: str, columns: Axis, title: str, role: Role = "plain", *, mask: bool = False, editable: bool = True) -> Matrix:
        before = trace[f"{place.path}.{name}"].tensor[0, place.head]
        changed = found.matrices.get(name) if found else None  # values are made before anything is edited
        after = changed.after if changed else before
        if name == "scores":  # as the mask leaves them
            before, after = (each.masked_fill(hidden, -math.inf) for each in (before, after))
        return Matrix(
            name,
            after,
            keys if name == "value" else asking,
            columns,
            title,
            role,
            scale="unit" if name == "weights" and float(after.min()) >= 0 else "signed",
            masked=hidden if mask else None,
            before=before if changed else None,
            editable=editable,
            path=f"{place.path}.{name}",
        )

    return [
        made("query", width, "Q", "query"),
        made("scores", keys, "S", "scores", mask=True),
        made("weights", keys, "A", "weights", mask=True),
        made("value", width, "V", "value", editable=False),
        made("context", width, "A V", editable=False),
    ]


def list_of(trace: Trace, place: session.Place, cells: tuple[CellEdit, ...], found: Recomputed) -> None:
    """The changes in order, with undo and reset; the sums of rows of weights that were changed."""
    asking, keys = axes(trace, place)
    row_labels, key_labels = asking.labels or (), keys.labels or ()
    with st.container(key="edit_list"):
        html.bullets(
            [
                html.sentence(
                    f"attention_edit.made_{cell.kind}",
                    row=cell.row,
                    query=row_labels[cell.row],
                    column=cell.column,
                    token="" if cell.kind == "query" else key_labels[cell.column],
                    before=html.number(float(found.matrices[cell.kind].before[cell.row, cell.column]), 4),
                    after=html.number(cell.value, 4),
                )
                for cell in cells
            ]
        )
    with st.container(horizontal=True, key="edit_buttons"):
        st.button(text("attention_edit.undo"), on_click=attention_cells.undo, key="edit_undo", icon=":material/undo:")
        st.button(text("attention_edit.reset"), on_click=attention_cells.reset, key="edit_reset", icon=":material/restart_alt:")
    changed = sorted({cell.row for cell in cells if cell.kind == "weights"})
    for row, total in zip(changed, found.row_sums(changed), strict=True):
        html.prose("attention_edit.row_sum", row=row, query=row_labels[row], sum=html.number(total, 4))
