"""The work: begun, watched, cancelled."""

import streamlit as st

from app import session
from app.text import text
from app.views import html

BEAT = 0.5  # seconds between looks at work that is under way


def show() -> None:
    """Draw it for the visitor's study, if there is one."""
    found = session.study()
    if refusal := session.refused_upload():
        html.notice("error", "studio.refused", reason=str(refusal.message))
    if found is None:
        return
    st.button(text("studio.start"), key="studio_start", on_click=session.start_alignment, disabled=found.under_way)
    st.fragment(_watch, run_every=BEAT if found.under_way else None)()


def _watch() -> None:
    session.begin_run()
    found = session.study()
    if found is None:
        return
    before, st.session_state["studio_state"] = st.session_state.get("studio_state"), found.state
    if before in ("waiting", "running") and not found.under_way:
        st.rerun()
    html.prose("studio.progress", done=found.done, total=found.total)
