"""The two tables of study notes, filled live: the dimension flow of Q, K and V, and the steps of scaled dot-product attention."""

from collections.abc import Sequence

import streamlit as st

from app import session
from app.text import text
from app.views import html, linked
from model.analysis import steps as analysis
from model.analysis.steps import HeadSteps, Operation, Sizes
from model.config import ConfigError, paper_base, paper_big
from model.translator import Atlas

CHOICES = ("base", "big", "own", "model")
OWN = {
    "own_L": 10,
    "own_d_model": 512,
    "own_h": 8,
    "own_d_ff": 2048,
}  # keys in the URL, first numbers


@st.fragment
def tables(selection: session.Selection, atlas: Atlas, steps: HeadSteps) -> None:
    """Both tables, for this model and beside it for the paper's models or for sizes that the reader made up."""
    session.begin_run()
    names = {name: text(f"attention.sizes_{name}") for name in CHOICES}
    linked.chosen("sizes", CHOICES, CHOICES[0])
    asked = st.segmented_control(
        text("attention.sizes"), CHOICES, format_func=names.__getitem__, key="sizes", required=True,
        on_change=linked.remember("sizes", CHOICES[0]),
    )  # fmt: skip
    chosen = asked or CHOICES[0]
    length, keys = steps.weights.shape
    here = analysis.sizes_of(atlas.config, length, keys)
    other = _other(chosen, length, keys)
    for sizes, name in ((here, selection.model), (other, names[chosen])):
        if sizes:
            key = "sizes_told_own" if sizes is other and chosen == "own" else "sizes_told"
            html.prose(f"attention.{key}", kind="quiet", **_told(sizes, name))
    _flow(atlas, steps, here, other, names.get(chosen, ""))
    html.heading("attention.dot_title")
    _dot_product(steps, here, other, names.get(chosen, ""))
    html.prose("attention.sizes_note", kind="quiet")


def _other(chosen: str, length: int, keys: int) -> Sizes | None:
    """The sizes of the second column; None where there is none."""
    if chosen == "own":
        return _own()
    paper = {"base": paper_base, "big": paper_big}.get(chosen)
    return analysis.sizes_of(paper(), length, keys) if paper else None


def _own() -> Sizes | None:
    """What the reader asks for, checked here whatever the browser allowed; a message where no such attention can be."""
    with st.container(horizontal=True, key="own_sizes"):
        numbers = [
            st.number_input(
                key.removeprefix("own_"), min_value=1, max_value=analysis.LARGEST_SIZE, value=first, step=1, key=key, width=130,
                bind="query-params", required=True,
            )
            for key, first in OWN.items()
        ]  # fmt: skip
    try:
        return analysis.own_sizes(*numbers)
    except ConfigError as error:
        html.notice("error", "attention.sizes_refused", reason=html.Ours(error))
        return None


def _told(sizes: Sizes, name: str) -> dict[str, object]:
    return {
        "name": html.Ours(name),
        "d_model": f"{sizes.d_model:,}",
        "heads": f"{sizes.num_heads:,}",
        "head_dim": f"{sizes.head_dim:,}",
        "scale": html.number(sizes.scale),
        "d_ff": f"{sizes.d_ff:,}",
        "layers": sizes.layers,
    }


def _flow(atlas: Atlas, steps: HeadSteps, here: Sizes, other: Sizes | None, name: str) -> None:
    lines = analysis.dimension_flow(atlas.config, steps.attention)
    columns = {
        text("attention.column_operation"): "rich",
        text("attention.column_expression"): "code wrap",
        **_shape_columns(other, name),
        text("attention.column_meaning"): "rich",
    }
    rows = [
        (
            html.sentence(f"attention.operation_{line.name}"),
            line.formula,
            *_shapes(line, steps, here, other),
            html.sentence(f"attention.meaning_{line.name}"),
        )
        for line in lines
    ]
    html.table(columns, rows, text("attention.flow_caption"))


def _dot_product(steps: HeadSteps, here: Sizes, other: Sizes | None, name: str) -> None:
    columns = {
        text("attention.column_step"): "number",
        text("attention.column_operation"): "rich",
        text("attention.column_formula"): "code wrap",
        **_shape_columns(other, name),
        text("attention.column_meaning"): "rich",
    }
    scale = {"here": html.number(here.scale), "name": html.Ours(name), "other": html.number(other.scale) if other else ""}
    rows = [
        (
            number,
            html.sentence(f"attention.dot_{line.name}"),
            line.formula,
            *_shapes(line, steps, here, other),
            html.sentence(f"attention.dot_meaning_{line.name}{'' if other or line.name != 'scale' else '_alone'}", **scale),
        )
        for number, line in enumerate(analysis.SCALED_DOT_PRODUCT, start=first_step(steps))
    ]
    html.table(columns, rows, text("attention.dot_caption"))


def first_step(steps: HeadSteps) -> int:
    """The number that the picture gives to the step "score"."""
    return 5 if steps.query_rotated is None else 7


def _shape_columns(other: Sizes | None, name: str) -> dict[str, str]:
    found = {text("attention.column_symbol"): "code", text("attention.column_here"): "code"}
    return found | ({name: "code"} if other else {})


def _shapes(line: Operation, steps: HeadSteps, here: Sizes, other: Sizes | None) -> list[str]:
    return [symbol(line.axes, steps.spans), *(shape(sizes.along(line.axes)) for sizes in (here, other) if sizes)]


def shape(sizes: Sequence[int]) -> str:
    """[4, 9, 12]"""
    return f"[{', '.join(f'{size:,}' for size in sizes)}]"


def symbol(axes: str, spans: dict[str, str]) -> str:
    """The axes as they are written in the paper and in study notes: [h, L_t, d_k]."""
    lengths = {axis: f"L_{sentence[0]}" for axis, sentence in spans.items()}
    names = {"head": "h", "head_dim": "d_k", **lengths}
    return f"[{', '.join(names.get(axis, axis) for axis in axes.split())}]"
