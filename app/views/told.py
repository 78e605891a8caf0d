"""What a visitor is told who asks too fast, comes by an address that is too long, or meets a fault of ours."""

import logging
import secrets

import streamlit as st

from app import session
from app.views import html

logger = logging.getLogger(__name__)


def put_off(*kinds: str) -> None:
    """Say in this place what was just asked for too often, if it was one of these."""
    if remark := session.put_off(*kinds):
        html.notice("warning", remark.key, **remark.values)


def wait(remark: session.Remark) -> None:
    """Say why nothing is computed now, and go on by itself. Ends the run; widgets that were not drawn keep what they hold."""
    html.notice("warning", remark.key, **remark.values)
    st.fragment(_go_on, run_every=float(str(remark.values["seconds"])))()
    st.stop()


def _go_on() -> None:
    if session.in_fragment():
        st.rerun()


def long_link() -> None:
    """Say that the address was too long to be opened, if it was."""
    if remark := session.long_link():
        html.notice("warning", remark.key, **remark.values)


def broken(error: Exception) -> bool:
    """Tell of an error that nobody foresaw, in the visitor's language; its traceback stands in the log below its number."""
    number = secrets.token_hex(3)
    logger.error("told to a visitor as number %s", number, exc_info=error)
    html.notice("error", "rates.broken", number=html.Ours(number))
    return True
