"""What if the decoder's input were not shifted: it would read what it is asked for."""

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import html, picture
from app.views.decoding_place import Asked
from app.views.decoding_stage import tell_other
from model.analysis import cheating, schedules_tried, unshifted
from model.trace import Trace


@st.fragment
def draw(selection: session.Selection, trace: Trace, found: Asked) -> None:
    session.begin_run()
    html.prose("decoding.what_if_idea")
    tell_other(selection, trace, found)
    fed = session.measured(unshifted.fed, selection)
    rows = (
        ("shifted", "next", fed.shifted),
        ("unshifted", "itself", fed.unshifted),
        ("unshifted", "next", fed.following),
    )
    html.table(
        {text("decoding.what_if_fed"): "rich", text("decoding.what_if_asked"): "rich", text("decoding.what_if_loss"): "number"},
        [
            (
                html.sentence(f"decoding.what_if_{given}"),
                html.sentence(f"decoding.what_if_{wanted}"),
                html.Ours("–" if loss is None else html.number(loss, 3)),
            )
            for given, wanted, loss in rows
        ],
        text("decoding.what_if_caption", tokens=len(trace.produced)),
    )
    html.prose("decoding.what_if_read", kind="quiet")
    with st.expander(text("decoding.what_if_open"), on_change="rerun", key="unshifted", bind="query-params") as opened:
        if opened.open:
            trained(selection, trace)


def trained(selection: session.Selection, trace: Trace) -> None:
    """The same small decoder trained twice, on the spot."""
    right, wrong = session.measured_model(schedules_tried.shifts, session.models()[0])  # one for all models
    html.prose(
        "decoding.what_if_trained",
        steps=len(right.losses),
        symbols=cheating.SYMBOLS,
        half=cheating.HALF,
        right=html.Ours(f"{right.right:.0%}"),
        wrong=html.Ours(f"{wrong.right:.0%}"),
        chance=html.Ours(f"{cheating.BY_CHANCE:.0%}"),
        loss=html.Ours(html.small(wrong.losses[-1])),
        least=html.Ours(html.number(right.losses[-1])),
    )
    losses = {text("decoding.what_if_shifted_name"): right.losses, text("decoding.what_if_unshifted_name"): wrong.losses}
    chart = Chart(
        text("decoding.what_if_curve"),
        text("decoding.what_if_step"),
        text("decoding.what_if_loss"),
        [Series(name, values) for name, values in losses.items()],
        [str(step + 1) for step in range(len(right.losses))],
        path="model.analysis.schedules_tried.trained",
    )
    message = pack(chart, text=section("curves"), caption=picture.caption(selection, trace), name="unshifted_loss")
    curves(message, key="unshifted_loss")
