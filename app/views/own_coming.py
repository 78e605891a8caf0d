"""A model of the operator's list on its way: what is done, what is under way, and the page by itself when it is there."""

from collections.abc import Callable

import streamlit as st

from app import session
from app.text import text
from app.views import anatomy, html, told

EVERY = 1.0  # seconds between two looks


def wait(page: str, model: str) -> None:
    """In place of a page whose model has to be loaded first; ends the run unless the model is there."""
    if session.bring(model) or not session.arriving(model):
        return
    entry = session.listed_model(model)
    assert entry is not None
    session.comes_later(False)  # the progress is no part of the page

    def draw() -> None:
        session.bring(model)  # which may have been asked for too often a moment ago
        told.put_off("load")
        if session.standing(entry).state != "idle":
            show(entry)

    def progress() -> None:
        watched(draw, lambda: not session.arriving(model))
        html.prose("own.elsewhere", kind="quiet")

    anatomy.show_instead(page, progress)
    st.stop()


def watched(draw: Callable[[], None], settled: Callable[[], bool]) -> None:
    """Draw it again and again, and once what is waited for has come, the whole page."""

    def look() -> None:
        session.begin_run()
        if session.in_fragment() and settled():
            st.rerun()
        draw()

    st.fragment(look, run_every=EVERY)()


def show(entry: session.Listed) -> None:
    """The steps of a model that is being loaded."""
    standing = session.standing(entry)
    if standing.state == "waiting":
        html.prose("own.coming_waits", title=entry.title)
        return
    steps = [step for step in session.STEPS if step != "fetch" or entry.hub]
    at = steps.index(standing.step) if standing.step in steps else 0
    html.prose("own.coming", title=entry.title)
    st.progress(at / len(steps), text=text(f"own.step_{steps[at]}"))
    lines = "".join(_line(html.sentence(f"own.step_{step}"), number - at) for number, step in enumerate(steps))
    st.html(f'<ol class="atlas-list">{lines}</ol>')


def _line(words: str, ahead: int) -> str:
    """One step: behind us, under way, or ahead."""
    if ahead == 0:
        return f'<li aria-current="step"><b>{words}</b></li>'
    return f"<li>{words}{'' if ahead > 0 else ' ✓'}</li>"
