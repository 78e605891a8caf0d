"""What comes in: files, pasted text or a sample, and what was understood of it."""

import streamlit as st

from app import session
from app.text import text
from app.views import html


def show() -> None:
    """Draw it: ways in, and below them the preview of what was brought."""
    st.file_uploader(
        text("studio.drop"), accept_multiple_files=True, key="studio_files", on_change=_take_files, max_upload_size=None
    )
    st.text_area(text("studio.paste"), key="studio_paste", on_change=_take_text)


def _take_files() -> None:
    files = [session.File(file.name, file.getvalue()) for file in st.session_state["studio_files"]]
    if files:
        session.begin_study(session.upload_of(files), model=session.current().model)


def _take_text() -> None:
    if written := st.session_state["studio_paste"]:
        name = text("studio.pasted")
        session.begin_study(session.upload_of([session.File(name, written.encode())], pasted=True), model=session.current().model)
