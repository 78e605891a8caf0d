"""What the Training page looks at: a row, the smoothing and its convention, each in the URL."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from app.text import text
from app.views import html, linked
from model.analysis.smoothing import CONVENTIONS
from model.trace import Trace
from model.training.loss import Convention

SMOOTHING, LARGEST = 0.1, 0.5  # the paper's, and the largest that the slider gives
ROW, EPSILON, CONVENTION = "loss_row", "smoothing", "convention"
STRIKING = 3  # digits of a learning rate that are enough in a sentence


@dataclass(frozen=True)
class Asked:
    """A row of the decoder, counted from 0, and the target that its loss is taken against."""

    row: int
    smoothing: float
    convention: Convention


def first_row(trace: Trace) -> int:
    """The row that is shown until another is chosen: one in the middle."""
    return (len(trace.produced) - 1) // 2


def asked(trace: Trace) -> Asked:
    """What stands in the URL, else a row in the middle, the paper's smoothing and PyTorch's convention."""
    rows = len(trace.produced)
    row = linked.number(ROW, range(rows), first_row(trace))
    convention = linked.chosen(CONVENTION, CONVENTIONS, CONVENTIONS[0])
    return Asked(row, decimal(EPSILON, 0.0, LARGEST, SMOOTHING), next(one for one in CONVENTIONS if one == convention))


def choose(trace: Trace) -> Asked:
    """The three controls."""
    found = asked(trace)
    rows = len(trace.produced)
    with st.container(horizontal=True, vertical_alignment="bottom", key="training_choices"):
        st.selectbox(
            text("training.choose_row"),
            range(rows),
            key=ROW,
            format_func=lambda row: row_name(trace, row),
            on_change=keep(ROW, first_row(trace)),
        )
        st.slider(
            text("training.choose_smoothing"),
            min_value=0.0,
            max_value=LARGEST,
            step=0.01,
            key=EPSILON,
            on_change=keep(EPSILON, SMOOTHING),
        )
        st.segmented_control(
            text("training.choose_convention"), CONVENTIONS, key=CONVENTION, required=True, format_func=convention_name,
            on_change=linked.remember(CONVENTION, CONVENTIONS[0]),
        )  # fmt: skip
    return found


def convention_name(convention: Convention) -> str:
    """What a convention is called on the screen."""
    return text(f"training.convention_{convention}")


def row_name(trace: Trace, row: int) -> str:
    """A row by its number, the token that it reads and the one that it is to produce."""
    return text("training.row_name", row=row, read=trace.target[row].label, produced=trace.produced[row].label)


def decimal(name: str, low: float, high: float, default: float) -> float:
    """What the widget `name` holds, else what the URL says, if it lies between these; the widget takes it from there."""
    found = linked.held(name)
    if found is None:
        try:
            found = float(st.query_params.get(name, "")[:20])
        except ValueError:
            found = default
    found = found if math.isfinite(found) and low <= found <= high else default
    st.session_state[name] = found
    return float(found)


def keep(name: str, default: float) -> Callable[[], None]:
    """A callback for the widget `name` that writes its number into the URL, 0 as well, and takes the default out of it."""

    def put() -> None:
        found = st.session_state[name]
        linked.write(name, None if found == default else str(found))

    return put


def scientific(value: float, digits: int = STRIKING) -> str:
    """A number as a decimal times a power of ten: 6.987712 × 10⁻⁴; 0 is 0."""
    if not value:
        return "0"
    leading, _, exponent = f"{value:.{digits}e}".partition("e")
    return f"{leading} × 10{str(int(exponent)).translate(html.RAISED)}".replace("-", "\N{MINUS SIGN}")
