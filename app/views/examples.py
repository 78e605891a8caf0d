"""The sentences worth looking at, to choose from: on Translate, and on every page that cannot show what was typed."""

import streamlit as st

from app import session
from app.text import text
from app.views import linked

KEY = "example"


def choose(selection: session.Selection) -> None:
    """The examples of this model, if there are any; the one that is chosen becomes the sentence of all pages."""
    sources = [example.source for example in session.examples(selection.model, selection.language)]
    if not sources:
        return
    linked.show(KEY, selection.text if selection.text in sources else None)
    st.selectbox(
        text("translate.examples"),
        sources,
        index=None,
        key=KEY,
        placeholder=text("translate.examples_placeholder"),
        on_change=linked.fresh(KEY, _take),
    )


def _take() -> None:
    if st.session_state[KEY]:
        session.select(text=st.session_state[KEY])
