"""A model of the operator's list on its way: what is done, what is under way, and the page by itself when it is there."""

from collections.abc import Callable

import streamlit as st

from app import session
from app.text import text
from app.views import anatomy, html, told

EVERY = 0.5  # seconds between two looks


def wait(page: str, model: str) -> None:
    """In place of a page whose model has to be loaded first; ends the run unless the model is there."""
    if session.bring(model) or not session.arriving(model):
        return
    entry = session.listed_model(model)
    assert entry is not None
    session.comes_later(False)  # the progress is no part of the page

    def progress() -> None:
        told.put_off("load")
        watched(lambda: show(entry), lambda: not session.arriving(model))
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
    st.html(
        '<ol class="atlas-list steps">'
        + "".join(f"<li{_mark(number, at)}>{html.sentence(f'own.step_{step}')}</li>" for number, step in enumerate(steps))
        + "</ol>"
    )


def _mark(number: int, at: int) -> str:
    return ' aria-current="step"' if number == at else ' class="done"' if number < at else ' class="quiet"'
