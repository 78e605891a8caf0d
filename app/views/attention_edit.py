"""Edit and recompute: set a number of one head, and follow the change to the words that come out."""

import math

import streamlit as st

from app import session
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.components.matrices.payload import Law, Role
from app.text import section, text
from app.views import attention_cells, html, picture
from app.views import attention_effects as effects
from app.views.anatomy import tell
from app.views.attention_what_if import axes_of
from model.analysis import cells as cell_edits
from model.analysis import edited
from model.analysis.cells import CellEdit
from model.analysis.edited import Recomputed
from model.trace import Trace
from model.translator import Translator

PICTURE = "attention_edit_matrices"


@st.fragment
def edit_block(selection: session.Selection, atlas: Translator, trace: Trace, place: session.Place) -> None:
    """The head with numbers to change, the list of changes, and what became of everything after them."""
    session.begin_run()
    kept = attention_cells.current(selection, trace, place)
    html.prose("attention_edit.idea", layer=place.layer + 1, head=place.head + 1)
    if kept.remark:
        tell(kept.remark)
    by_numbers(trace, place)
    renormalise = st.toggle(
        text("attention_edit.renormalise"), help=text("attention_edit.renormalise_help"), key="renormalise", bind="query-params"
    )
    found = None
    if kept.cells:
        at = (place.attention, place.layer, place.head, kept.cells, renormalise)
        found = session.measured(edited.recompute, selection, *at)
    draw(selection, trace, place, kept.cells, found)
    if found is None:
        html.prose("attention_edit.none_yet", kind="quiet")
        return
    list_of(trace, place, kept.cells, found)
    effects.outcome(found)
    effects.travelled(selection, trace, place, found)
    effects.words(trace, found, cell_edits.as_text(kept.cells))
    effects.free(selection, place, kept.cells, renormalise)


def by_numbers(trace: Trace, place: session.Place) -> None:
    """Row, column and value without the picture."""
    rows, keys = axes_of(trace, place)
    names = {kind: text(f"attention_edit.kind_{kind}") for kind in cell_edits.KINDS}
    with st.container(horizontal=True, vertical_alignment="bottom", key="edit_numbers"):
        kind: str = st.segmented_control(
            text("attention_edit.kind"), cell_edits.KINDS, default="scores", format_func=names.__getitem__, key="edit_kind",
            required=True,
        )  # fmt: skip
        values = trace[f"{place.path}.{kind}"].tensor[0, place.head]
        keys_of = {name: f"edit_{name}_{kind}_{size}" for name, size in zip(("row", "column"), values.shape, strict=True)}
        row, column = (
            int(st.number_input(text(f"attention_edit.number_{name}"), 0, size - 1, 0, 1, key=keys_of[name], width=120))
            for name, size in zip(("row", "column"), values.shape, strict=True)
        )
        largest = cell_edits.LARGEST
        st.number_input(text("attention_edit.value"), -largest, largest, 0.0, 0.5, format="%.4f", key="edit_value", width=160)

        def change() -> None:  # what the boxes hold when the button is pressed, not when they were drawn
            at, across, value = (st.session_state[key] for key in (keys_of["row"], keys_of["column"], "edit_value"))
            attention_cells.add(trace, place, CellEdit(kind, int(at), int(across), float(value)))

        st.button(text("attention_edit.apply"), on_click=change, key="edit_apply")
    html.prose(
        "attention_edit.cell_query" if kind == "query" else "attention_edit.cell_pair",
        kind="quiet",
        row=row,
        query=(rows.labels or ())[row],
        column=column,
        token=column if kind == "query" else (keys.labels or ())[column],
        value=html.number(float(values[row, column]), 4),
    )


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
    (rows, keys), width = axes_of(trace, place), Axis("d_k")
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
            keys if name == "value" else rows,
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
    rows, keys = axes_of(trace, place)
    row_labels, key_labels = rows.labels or (), keys.labels or ()
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
