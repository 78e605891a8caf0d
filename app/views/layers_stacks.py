"""Gradients through fresh, untrained stacks: with and without a residual connection, the norm before or after."""

from collections.abc import Mapping

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import html, later, picture
from app.views.layers_place import linked_choice
from model.analysis import stacks
from model.config import Norm
from model.trace import Trace

DEPTHS = (2, 6, 12, 24, 50, 100)
FIRST = 50
WHAT = ("inputs", "parameters")


@st.fragment
def draw(selection: session.Selection, trace: Trace) -> None:
    """A slider for the depth, and what was measured at it once it is asked for."""
    session.begin_run()
    html.prose("layers.stacks_idea", kind="quiet", width=stacks.WIDTH, heads=stacks.HEADS, inside=stacks.INSIDE)
    with st.container(horizontal=True, vertical_alignment="bottom", key="stacks_row"):
        depth = st.select_slider(text("layers.stacks_depth"), DEPTHS, value=FIRST, key="depth", bind="query-params")
        what = linked_choice("gradient", WHAT, [text(f"layers.stacks_{name}") for name in WHAT], WHAT[0])
    with st.expander(text("layers.stacks_open"), on_change="rerun", key="stacks", bind="query-params") as opened:
        if opened.open:
            measured(selection, trace, depth, what or WHAT[0])


def measured(selection: session.Selection, trace: Trace, depth: int, what: str) -> None:
    """Curves of the gradient's norm over the layers, on a logarithmic scale; the ends of each as numbers."""
    ids = tuple(token.id for token in trace.source or trace.target)
    later.drawn(
        lambda: shown(selection, trace, depth, what, session.measured_model(stacks.arrangements, selection.model, ids, depth)),
        (stacks.arrangements, selection.model, ids, depth),
        saying="layers.stacks_busy",
    )


def shown(
    selection: session.Selection, trace: Trace, depth: int, what: str, found: Mapping[tuple[Norm, bool], stacks.Gradients]
) -> None:
    """The curves, and a line for each arrangement."""
    names = {arrangement: text(f"layers.stacks_{norm(*arrangement)}") for arrangement in stacks.ARRANGEMENTS}
    chart = Chart(
        text("layers.stacks_title", depth=depth),
        text("layers.layer"),
        text(f"layers.stacks_norm_{what}"),
        [Series(names[arrangement], getattr(found[arrangement], what)) for arrangement in stacks.ARRANGEMENTS],
        [str(layer + 1) for layer in range(depth)],
        logarithmic=True,
    )
    caption = {**picture.caption(selection, trace), "model": text("layers.stacks_model")}
    curves(pack(chart, text=section("curves"), caption=caption, name="gradients"), key="picture_gradients")
    html.table(
        {
            text("layers.stacks_arrangement"): "word",
            text("layers.stacks_first"): "number",
            text("layers.stacks_last"): "number",
            text("layers.stacks_loss"): "number",
            text("layers.stacks_alike"): "number",
        },
        [
            (
                html.Ours(names[arrangement]),
                html.small(getattr(found[arrangement], what)[0]),
                html.small(getattr(found[arrangement], what)[-1]),
                html.number(found[arrangement].loss),
                html.number(found[arrangement].alike, 4),
            )
            for arrangement in stacks.ARRANGEMENTS
        ],
        text("layers.stacks_caption"),
    )
    html.prose("layers.stacks_read", kind="quiet")


def norm(where: str, residual: bool) -> str:
    """The key of an arrangement's name: post, pre, post_bare, pre_bare."""
    return where if residual else f"{where}_bare"
