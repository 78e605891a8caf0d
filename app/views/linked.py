"""Widgets whose choice stands in the URL, under ids that are the same in every language, so that a link reopens it.

The URL wins when it changed (the back button, a link into this session), the session otherwise: a widget's new choice is written
into the URL by its callback, before anything asks here.
"""

import time
from collections.abc import Callable, Collection
from typing import Any
from zlib import crc32

import streamlit as st

from app import session

_SEEN = "linked_seen"  # what the URL said of each name when it was last asked or written here
_SHOWN = "linked_shown"  # what each widget held before the server last changed it, and when
SOON = 1.0  # seconds in which a browser has heard of a widget's new value


def held(name: str) -> Any:
    """What the session holds for the widget `name`; None where it holds nothing, or where the URL changed since."""
    seen: dict[str, str | None] = st.session_state.setdefault(_SEEN, {})
    written = st.query_params.get(name)
    if seen.get(name, written) != written:
        st.session_state.pop(name, None)
    seen[name] = written
    return st.session_state.get(name)


def write(name: str, value: str | None) -> None:
    """Put a widget's choice into the URL, or take it out."""
    session.settle()
    session.put(name, value)
    st.session_state.setdefault(_SEEN, {})[name] = value


def show(name: str, value: Any) -> None:
    """Let the widget whose key is `name` hold this value; called right before the widget."""
    _hold(name, st.session_state.get(name), value)


def _hold(name: str, before: Any, value: Any) -> None:
    if before not in (None, value):
        st.session_state.setdefault(_SHOWN, {})[name] = (before, time.monotonic())
    st.session_state[name] = value


def fresh(name: str, change: Callable[[], None]) -> Callable[[], None]:
    """`change` as the callback of the widget `name`, but not for a value that the server has just replaced.

    A browser that has not heard of the new value sends the old one with a click on something else: nobody chose it.
    """

    def checked() -> None:
        before, at = st.session_state.get(_SHOWN, {}).get(name, (None, -SOON))
        if time.monotonic() - at >= SOON or st.session_state[name] != before:
            change()

    return checked


def chosen(name: str, allowed: Collection[str] | None, default: str | None) -> str | None:
    """What the visitor chose with the widget whose key is `name`, else what the URL says, else the default, which may change.

    Call it right before the widget, which takes its value from there; what is not `allowed` (None: anything) becomes the
    default.
    """
    held_before = st.session_state.get(name)
    before: str | None = held(name)
    if before == st.session_state.get(f"{name}_default", default) != default and name not in st.query_params:
        before = None  # nobody chose it
    st.session_state[f"{name}_default"] = default
    found = st.query_params.get(name, default) if before is None else before
    if found is None or (allowed is not None and found not in allowed):
        found = default
    _hold(name, held_before, found)
    return found


def number(name: str, allowed: range, default: int) -> int:
    """The same of a number whose default may change, as that of a sentence's length: until the visitor chose, it is followed.

    A visitor who chose the default has chosen nothing.
    """
    held_before = st.session_state.get(name)
    before, found = st.session_state.get(f"{name}_default", default), held(name)
    if found is None:
        written = st.query_params.get(name, "")
        found = int(written) if written.isascii() and written.isdigit() and len(written) < 10 else default
    elif found == before:
        found = default
    st.session_state[f"{name}_default"] = default
    _hold(name, held_before, found if found in allowed else default)
    return int(st.session_state[name])


def remember(name: str, default: object) -> Callable[[], None]:
    """A callback for the widget `name` that writes its choice into the URL, and takes the default out of it."""

    def put() -> None:
        found = st.session_state.get(name)  # none where another widget took it away in the same moment
        write(name, None if found in (None, "", default) else str(found))

    return fresh(name, put)


def asked(label: str, name: str, *of: object) -> bool:
    """A button whose answer stays, for a link too, as long as what it was asked of is the same; then whether it was pressed.

    Its key and its parameter are called `name`. What it was asked of stands in the URL as a check sum of its `repr`.
    """
    mark = f"{crc32(repr(of).encode()):08x}"
    st.button(label, key=name, on_click=lambda: write(name, mark))
    return st.query_params.get(name) == mark
