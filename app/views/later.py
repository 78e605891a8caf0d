"""What takes long: computed by a process beside the pages, and drawn as soon as it is there.

Meanwhile its place says that it comes, and looks again by itself. Outside a server, and for what is there already, it is drawn
at once.
"""

from collections.abc import Callable
from threading import Event
from typing import Any

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from app import session
from app.views import html

EVERY = 0.4  # seconds between two looks


def drawn(draw: Callable[[], None], *asked: tuple[Any, ...], saying: str = "page.measuring") -> None:
    """Call `draw` once all that it measures is there; each of `asked` is what `session.measured`, or `measured_model`, is given.

    `saying` is the key of the sentence that stands there meanwhile.
    """
    if _all_there(asked):
        draw()
    else:
        _waiting(draw, asked, saying, Event())


def _all_there(asked: tuple[tuple[Any, ...], ...]) -> bool:
    waiting = [session.awaited(*one) for one in asked]  # all are asked for at once
    return not any(waiting)


@st.fragment(run_every=EVERY)
def _waiting(draw: Callable[[], None], asked: tuple[tuple[Any, ...], ...], saying: str, there: Event) -> None:
    """`there` is set once all was there: from then on no browser looks again, whatever the process has forgotten since."""
    session.begin_run()
    if not there.is_set():
        if not _all_there(asked):
            html.notice("info", saying)
            return
        there.set()
        _look_no_more()
    draw()


def _look_no_more() -> None:
    """This fragment stays; the browser no longer asks for it every moment."""
    context, own = get_script_run_ctx(suppress_warning=True), ThreadState.get().fragment_id
    if context is not None and own is not None:
        message = ForwardMsg()
        message.stop_auto_rerun.fragment_ids.append(own)
        context.enqueue(message)
