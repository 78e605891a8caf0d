"""Vectors turned otherwise: both pairings, the permutation between them, mixtures, and values that are turned too."""

import streamlit as st

from app import session
from app.text import text
from app.views import html, later, rotary_models
from model.analysis import rotary, rotated

DAMAGED = ("right", "half", "permuted", "mixed", "values")


def pairings(selection: session.Selection, place: session.Place) -> None:
    """Every way of turning on the vectors of the chosen head."""
    html.prose("rotary.pairings_idea")
    found = session.measured(rotary.kept, selection, place.attention, place.layer, place.head)
    html.table(
        {
            text("rotary.way"): "rich",
            text("rotary.way_difference"): "number",
            text("rotary.way_moved"): "number",
            text("rotary.way_stretched"): "number",
        },
        [
            (
                html.sentence(f"rotary.way_{name}"),
                html.Ours(html.small(kept.difference)),
                html.Ours(html.small(kept.moved)),
                html.Ours(html.small(kept.stretched)),
            )
            for name, kept in found.items()
        ],
        text("rotary.pairings_caption", shift=rotary.SHIFT),
    )
    html.prose("rotary.pairings_read", kind="quiet", shift=rotary.SHIFT)


@st.fragment
def damage(selection: session.Selection) -> None:
    """The whole rotary model turned otherwise: loss of the same target, what it writes, what a shift of all positions changes."""
    session.begin_run()
    html.prose("rotary.damage_idea")
    chosen = rotary_models.turning(selection)
    if chosen is None:
        rotary_models.missing(rotary_models.ROTARY)
        return
    opened = st.expander(text("rotary.damage_open"), key="damage", on_change="rerun", bind="query-params")
    if not opened.open:
        return
    with opened:
        rotary_models.told(chosen, selection)
        later.drawn(lambda: damages(chosen), *[(rotated.measure, chosen, variant) for variant in DAMAGED])


def damages(chosen: session.Selection) -> None:
    """One line a way of turning, and what the lines say together."""
    found = {variant: session.measured(rotated.measure, chosen, variant) for variant in DAMAGED}
    html.table(
        {
            text("rotary.variant"): "rich",
            text("rotary.loss"): "number",
            text("rotary.logits"): "number",
            text("rotary.moved"): "number",
            text("rotary.writes"): "word",
        },
        [
            (
                html.sentence(f"rotary.variant_{variant}"),
                html.Ours(html.number(measured.loss, 3)),
                html.Ours(html.small(measured.logits)),
                html.Ours(html.small(measured.moved)),
                measured.written or html.Ours(text("translate.nothing")),
            )
            for variant, measured in found.items()
        ],
        text("rotary.damage_caption", shift=rotary.SHIFT),
    )
    html.prose(
        "rotary.damage_read",
        right=html.Ours(html.number(found["right"].loss, 3)),
        half=html.Ours(html.number(found["half"].loss, 3)),
        values=html.Ours(html.number(found["values"].loss, 3)),
        repaired=html.Ours(html.small(found["permuted"].logits)),
        moved=html.Ours(html.small(found["values"].moved)),
        still=html.Ours(html.small(found["right"].moved)),
        shift=rotary.SHIFT,
    )
