"""What names a row of the decoder: the token that it produces, or the token that it reads. One switch for all of a page."""

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from app.components.matrices import Axis
from app.text import text
from app.views import linked
from model.tokenizer import Token
from model.trace import Trace

Named = Literal["produced", "read"]

ROWS: tuple[Named, ...] = ("produced", "read")
KEY = "row"  # of the widget and of the URL, the same on every page


def choose() -> Named:
    """The switch; its choice stands in the URL."""
    linked.chosen(KEY, ROWS, ROWS[0])
    names = {row: text(f"attention_map.row_{row}") for row in ROWS}
    chosen = st.segmented_control(
        text("attention_map.row"), ROWS, format_func=names.__getitem__, key=KEY, required=True,
        on_change=linked.remember(KEY, ROWS[0]),
    )  # fmt: skip
    return "read" if chosen == "read" else "produced"


def named() -> Named:
    """What the switch says, for the parts that stand above or below it."""
    return "read" if st.session_state.get(KEY, st.query_params.get(KEY)) == "read" else "produced"


def convention(attention: str) -> str:
    """The key of the sentence that says what names the rows of this attention."""
    return f"attention_map.convention_{'self' if attention.startswith('encoder') else named()}"


def asking(trace: Trace, sentence: str, row: Named) -> tuple[Token, ...]:
    """The tokens that name the queries: those of the source, or what each row of the decoder produces or reads."""
    return tuple(trace.produced if sentence == "target" and row == "produced" else trace.tokens(sentence))


def axis(name: str, sentence: str, tokens: Sequence[Token]) -> Axis:
    """An axis along tokens of the source or the target, under their labels and in the colour of their sentence."""
    return Axis(name, [token.label for token in tokens], "source" if sentence == "source" else "target")
