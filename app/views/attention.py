"""Attention, step by step: one head, from the input of its layer to the output, every operand beside every result."""

from collections.abc import Mapping

import streamlit as st

from app import session
from app.charts import formulas
from app.charts.archive import npz
from app.components.matrices import matrices, pack
from app.text import section, text
from app.views import html, linked, picture, rows
from app.views.anatomy import Anatomy, Export, Formula, Section, open_page, tell
from app.views.attention_edit import edit_block
from app.views.attention_questions import questions
from app.views.attention_scenes import labels, matrices_of, scenes_of
from app.views.attention_tables import tables
from app.views.attention_what_if import what_if
from model.analysis import steps as analysis
from model.analysis.steps import CROSS, HeadSteps
from model.attention import MultiHeadAttention, scaled_products, softmax_or_zero
from model.trace import Trace
from model.translator import Atlas

PICTURE = "attention_steps"


def described(selection: session.Selection, atlas: Atlas, trace: Trace) -> Anatomy:
    """The page for a sentence that can be translated."""
    place = session.place(atlas)
    steps = session.measured(analysis.head_steps, selection, place.attention, place.layer, place.head)
    cell = formulas.largest_weight(trace, f"{steps.path}.weights", steps.head)
    return Anatomy(
        "attention",
        lambda: stage(selection, atlas, trace, steps, cell),
        export=Export(f"{selection.model}-attention.npz", lambda: npz(trace, picture.caption(selection, trace))),
        sections=(
            Section("attention.questions", lambda: questions(trace, steps, cell[0])),
            Section("attention.edit_title", lambda: edit_block(selection, atlas, trace, place)),
            Section("attention.flow_title", lambda: tables(selection, atlas, steps)),
        ),
        formulas=equations(trace, steps, cell),
        what_if=lambda: what_if(selection, atlas, trace, place),
        code=(MultiHeadAttention.forward, MultiHeadAttention.split, scaled_products, softmax_or_zero),
    )


# ----- the stage


def stage(selection: session.Selection, atlas: Atlas, trace: Trace, steps: HeadSteps, cell: tuple[int, int]) -> None:
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    row = choose_place(atlas, steps)
    where(atlas, steps)
    axes = labels(trace, steps, row)
    message = pack(
        scenes_of(steps, analysis.scaling(steps, cell[0]), *cell),
        matrices_of(steps, axes),
        text=section("matrices"),
        caption=picture.caption(selection, trace),
        place={"attention": steps.attention, "layer": steps.layer, "head": steps.head},
    )
    with st.container(key="stage"):
        matrices(message, key=PICTURE, on_place=lambda: follow(atlas))
    convention = f"attention_map.convention_{row if steps.spans['query'] == 'target' else 'self'}"
    html.prose(convention, kind="quiet")
    picture.name_guided(atlas)


def choose_place(atlas: Atlas, steps: HeadSteps) -> rows.Named:
    """Attention, layer and head, the same that other pages look at; in the decoder also what names its rows (returned)."""
    place: dict[str, str | int] = {"attention": steps.attention, "layer": steps.layer, "head": steps.head}
    layers = atlas.config.encoder_layers if steps.attention.startswith("encoder") else atlas.config.decoder_layers
    with st.container(horizontal=True, vertical_alignment="bottom", key="choose_place"):
        kinds = {kind: text(f"attention_map.{kind.replace('.', '_')}") for kind in session.attentions(atlas)}
        _choice(atlas, "attention", session.attentions(atlas), place, kinds)
        _choice(atlas, "layer", range(layers), place)
        _choice(atlas, "head", range(atlas.config.num_heads), place)
        if steps.spans["query"] != "target":
            return rows.ROWS[0]
        return rows.choose()


def _choice(
    atlas: Atlas,
    name: str,
    options: "range | tuple[str, ...]",
    place: Mapping[str, str | int],
    names: Mapping[str, str] | None = None,
) -> None:
    """One coordinate of the place. The widget shows what the session knows, and tells it what the visitor chose."""
    key = f"place_{name}"
    linked.show(key, place[name])

    def change() -> None:
        session.move(atlas, **{name: st.session_state[key]})

    st.segmented_control(
        text(f"attention_map.{name}"),
        options,
        key=key,
        required=True,
        format_func=lambda option: names[option] if names else str(option + 1),
        on_change=linked.fresh(key, change),
    )


def follow(atlas: Atlas) -> None:
    """Look where the attention map of another page was left, in this browser, if the link names no place."""
    found = (st.session_state.get(PICTURE) or {}).get("place")
    if isinstance(found, Mapping):
        session.look_at(session.checked_place(atlas, found.get("attention"), found.get("layer"), found.get("head")))


def where(atlas: Atlas, steps: HeadSteps) -> None:
    """Which head this is, and whose numbers X and M are."""
    (length, columns), kind = steps.weights.shape, "cross" if steps.attention == CROSS else "self"
    values: dict[str, object] = {"layer": steps.layer + 1, "head": steps.head + 1, "rows": length, "columns": columns}
    values["path"] = html.Ours(steps.path)
    values["input"] = html.Ours(analysis.input_path(atlas.config, steps.attention, steps.layer))
    if kind == "self":
        values["attention"] = html.Ours(text(f"attention_map.{steps.attention.replace('.', '_')}"))
    html.prose(f"attention.where_{kind}", kind="quiet", **values)


# ----- beneath the picture


def equations(trace: Trace, steps: HeadSteps, cell: tuple[int, int]) -> list[Formula]:
    (row, column), dimension = cell, steps.largest_dimension(cell[0])
    query = rows.asking(trace, steps.spans["query"], rows.named())
    key = trace.tokens(steps.spans["key"])
    turned = steps.query_rotated is not None
    return [
        Formula(
            formulas.attention(turned=turned),
            formulas.aligned(
                formulas.scaled_score(trace, steps.path, steps.head, row, column),
                formulas.softmax_cell(trace, steps.path, steps.head, row, column),
            ),
            "attention.formula_score_turned" if turned else "attention.formula_score",
            {"row": row, "asking": query[row].label, "column": column, "answering": key[column].label},
        ),
        Formula(
            r"\mathrm{head}_i = A\,V, \qquad c_{r,d} = \sum_j \alpha_{r,j}\, v_{j,d}",
            formulas.weighted_sum(trace, steps.path, steps.head, row, dimension),
            "attention.formula_sum",
            {"row": row, "dimension": dimension},
        ),
    ]


open_page("attention", described, needed=("modules",))
