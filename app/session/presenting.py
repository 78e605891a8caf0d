"""Presenter mode: a page slide by slide for a projector. It stands in the URL as `present=1&slide=3`, slides counted from 1."""

import streamlit as st

from app.session.address import put

STAGE = 2  # the slide of a page's picture, after its idea
LAST = "last"  # for a link to the last slide of a page, however many it has


def presenting() -> bool:
    """Whether this run is to show one slide in place of the page."""
    return st.query_params.get("present") == "1"


def present(slide: int | str = 1) -> None:
    """Enter presenter mode, or go to another slide; for callbacks."""
    put("present", "1")
    put("slide", str(slide))


def leave_presenting() -> None:
    """Back to the page; for callbacks."""
    put("present", None)
    put("slide", None)


def slide(count: int) -> int:
    """The slide that the URL asks for, from 1 to `count`: the nearest to a number that no slide has; of a text the first."""
    written = st.query_params.get("slide", "").strip()
    if written == LAST:
        return count
    if not (written.isascii() and written.isdigit()):
        return 1
    return max(1, min(count, int(written[:9])))


def presented(slide: int | str = 1) -> dict[str, str]:
    """URL parameters that keep presenter mode on the way to another page; empty outside of it."""
    return {"present": "1", "slide": str(slide)} if presenting() else {}
