"""Teacher forcing: the rows of one pass, shifted right; and one pass timed against step by step decoding."""

import streamlit as st

from app import session
from app.text import text
from app.views import html
from app.views.training_place import SMOOTHING
from model.analysis import forcing, smoothing
from model.trace import Trace

ATTEMPT = "forcing_attempt"


def draw(selection: session.Selection, trace: Trace) -> None:
    """What each row is fed, asked for and may see, with its loss; then the stop-watch."""
    html.prose("training.forcing_idea", rows=len(trace.target))
    losses = session.measured(smoothing.losses, selection, SMOOTHING, "uniform").plain
    html.table(
        {
            text("training.row"): "number",
            text("training.fed"): "word",
            text("training.asked"): "word strong",
            text("training.sees"): "word name",
            text("training.loss_plain"): "number",
        },
        [
            (
                row,
                read.label,
                produced.label,
                html.Ours(text("training.sees_to", row=row) if row else text("training.sees_first")),
                html.number(loss, 4),
            )
            for row, (read, produced, loss) in enumerate(zip(trace.target, trace.produced, losses, strict=True))
        ],
        text("training.rows_caption"),
    )
    html.prose("training.rows_read", kind="quiet")
    timed(selection, trace)


@st.fragment
def timed(selection: session.Selection, trace: Trace) -> None:
    """One forced pass, and as many steps as there are tokens: seconds and losses, measured when asked for."""
    session.begin_run()
    html.heading("training.timed_title")
    html.prose("training.timed_idea", tokens=len(trace.target))
    st.button(text("training.timed_measure"), icon=":material/timer:", key="forcing_measure", on_click=_again)
    attempt = st.session_state.get(ATTEMPT, 0)
    if not attempt:
        return
    with st.spinner(text("training.timed_running")):
        found = session.measured(forcing.timed, selection, attempt)
    html.table(
        {
            text("training.way"): "rich",
            text("training.passes"): "number",
            text("training.rows_computed"): "number",
            text("training.milliseconds"): "number",
            text("training.times"): "number",
        },
        [
            (
                html.sentence(f"training.way_{way}"),
                f"{found.passes[way]:,}",
                f"{found.rows[way]:,}",
                html.number(1e3 * found.seconds[way], 1),
                f"{html.number(found.times(way), 1)} ×",
            )
            for way in forcing.WAYS
        ],
        text("training.timed_caption", rounds=found.rounds),
    )
    within = found.losses.apart <= forcing.TOLERANCE
    html.prose(
        "training.timed_same" if within else "training.timed_apart",
        apart=html.Ours(html.small(found.losses.apart)),
        tolerance=html.Ours(f"{forcing.TOLERANCE:g}"),
    )
    html.table(
        {text("training.row"): "number", text("training.asked"): "word strong"}
        | {text(f"training.short_{way}"): "number" for way in forcing.WAYS},
        [
            (row, token.label, *(html.number(getattr(found.losses, way)[row], 6) for way in forcing.WAYS))
            for row, token in enumerate(trace.produced)
        ],
        text("training.timed_losses"),
    )


def _again() -> None:
    st.session_state[ATTEMPT] = st.session_state.get(ATTEMPT, 0) + 1
