"""Add or concatenate; and the model without its positions, on a sentence and on the same words in another order."""

import streamlit as st

from app import session
from app.components.bars import Series, bars
from app.components.bars import pack as pack_bars
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, later, linked, pages, picture
from app.views.positions_products import tokens
from model.analysis import order, position_parts
from model.trace import Trace
from model.translator import Atlas

HEAD = 0  # whose queries are shown
WITH_POSITIONS = "en-fr"  # a model that translates, and adds positions


def add(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """Adding is concatenating with tied projections, shown on one head's queries; and what either costs."""
    idea(selection, atlas)
    if position_parts.reads_the_sum(atlas.config):
        found = session.measured(position_parts.query_parts, selection, HEAD)
        rows, width = tokens(trace, "positions.query"), Axis("head_dim")
        path = f"{position_parts.PATH}.query"
        parts = [
            Matrix("word", found.word, rows, width, "W_Q x", role="query", top=found.top),
            Matrix("position", found.position, rows, width, "W_Q p", role="query", top=found.top),
            Matrix("bias", found.bias, Axis(text("positions.bias"), None), width, "b_Q", role="query", top=found.top),
            Matrix("query", found.query, rows, width, text("positions.query_of", head=HEAD + 1), role="query", top=found.top,
                   path=path),
        ]  # fmt: skip
        items = ("word", "+", "position", *(("+", "bias") if atlas.config.attention_bias else ()), "=", "query")
        scene = Scene("add", "", items, "sum", note=text("positions.add_note"))
        message = pack([scene], parts, text=section("matrices"), caption=picture.caption(selection, trace), name="add")
        matrices(message, key="positions_add")
        html.prose(
            "positions.add_error",
            sum=html.Ours(html.small(found.error_sum)),
            concatenated=html.Ours(html.small(found.error_concatenated)),
        )
    costs = position_parts.combining(atlas.config, len(trace.source), len(trace.target))
    html.table(
        {text("positions.way"): "rich", text("positions.cost_width"): "number", text("positions.parameters"): "number",
         text("positions.flops"): "number"},
        [
            (html.sentence(f"positions.way_{name}"), each.width, html.Ours(f"{each.parameters:,}"), html.Ours(f"{each.flops:,}"))
            for name, each in costs.items()
        ],
        text("positions.cost_caption", source=len(trace.source), target=len(trace.target))
        if trace.source
        else text("positions.cost_caption_alone", target=len(trace.target)),
    )  # fmt: skip
    html.prose("positions.add_read")


def idea(selection: session.Selection, atlas: Atlas) -> None:
    """Why positions are added, as far as it is true of this model: others normalise the sum first, or add nothing."""
    if position_parts.reads_the_sum(atlas.config):
        html.prose("positions.add_idea_sum")
    elif atlas.config.positions == "sinusoidal":
        html.prose("positions.add_idea_norm")
    else:
        html.prose("positions.add_idea_turned", name=html.Ours(selection.model))


@st.fragment
def what_if(selection: session.Selection, trace: Trace) -> None:
    """Positions taken from the model; the sentence and its words in another order."""
    session.begin_run()
    if not trace.source:
        elsewhere(selection)
        return
    added = "source.position" in trace
    html.prose("positions.what_if_idea")
    if not added:
        html.prose("positions.what_if_turn", name=html.Ours(selection.model))
    orders = tuple(order.ORDERS)
    linked.chosen("order", orders, None)
    chosen = st.segmented_control(
        text("positions.order"),
        orders,
        key="order",
        format_func=lambda name: text(f"positions.order_{name}"),
        on_change=linked.remember("order", None),
    )
    if chosen in orders:
        reordered(selection, trace, chosen)
    else:
        html.prose("positions.what_if_choose", kind="quiet")
    if not added:
        return
    html.prose("positions.factor")
    st.page_link(
        pages.page("tokens"),
        label=text("tokens.title"),
        icon=":material/arrow_forward:",
        query_params={**selection.parameters(), **session.presented(), "without": "factor"},
    )


def elsewhere(selection: session.Selection) -> None:
    """Of a language model nothing is measured here, since it has no memory; a model that has one is a click away."""
    html.prose("positions.what_if_translator", name=html.Ours(selection.model))
    if WITH_POSITIONS in session.models():
        st.button(
            text("positions.what_if_open", name=WITH_POSITIONS),
            icon=":material/arrow_forward:",
            key="with_positions",
            on_click=lambda: session.select(model=WITH_POSITIONS),
        )


def reordered(selection: session.Selection, trace: Trace, name: str) -> None:
    """Rows of the memory token by token, and what each model writes for both orders."""
    later.drawn(
        lambda: both_orders(selection, trace, session.measured(order.compare, selection, name)), (order.compare, selection, name)
    )


def both_orders(selection: session.Selection, trace: Trace, found: order.Comparison) -> None:
    """The rows as bars, the translations as a table."""
    html.prose("positions.reordered", own=trace.source_text, reordered=found.text)
    series = [
        Series(removed, text(f"positions.apart_{removed}"), found.readings[removed].apart, look)  # type: ignore[arg-type]
        for removed, look in (("none", "filled"), ("source", "outlined"))
    ]
    message = pack_bars(
        [token.label for token in trace.source],
        series,
        title=text("positions.apart"),
        name=text("tokens.token"),
        text=section("bars"),
        caption=picture.caption(selection, trace),
        role="source",
    )
    bars(message, key="positions_apart")
    columns = {
        text("positions.removed"): "rich",
        text("positions.difference"): "number",
        text("positions.written"): "word",
        text("positions.rewritten"): "word",
    }
    nothing = text("translate.nothing")
    rows = [
        (
            html.sentence(f"positions.removed_{removed}"),
            html.small(reading.difference),
            reading.written or html.Ours(nothing),
            reading.rewritten or html.Ours(nothing),
        )
        for removed, reading in found.readings.items()
    ]
    html.table(columns, rows, text("positions.what_if_caption"))
    if not all(reading.ended for reading in found.readings.values()):
        html.prose("positions.what_if_limit", kind="quiet")
    html.prose("positions.what_if_read", largest=html.Ours(html.number(found.readings["source"].largest)))
