"""Widgets whose choice stands in the URL, under ids that are the same in every language, so that a link reopens it."""

from collections.abc import Callable, Collection

import streamlit as st


def chosen(name: str, allowed: Collection[str] | None, default: str | None) -> str | None:
    """What the visitor chose with the widget whose key is `name`, else what the URL says, else the default.

    Call it right before the widget, which takes its value from there; what is not `allowed` (None: anything) becomes the
    default.
    """
    found: str | None = st.session_state.get(name, st.query_params.get(name, default))
    if found is None or (allowed is not None and found not in allowed):
        found = default
    st.session_state[name] = found
    return found


def remember(name: str, default: str | None) -> Callable[[], None]:
    """A callback for the widget `name` that writes its choice into the URL, and takes the default out of it."""

    def write() -> None:
        found = st.session_state[name]
        if found and found != default:
            st.query_params[name] = found
        else:
            st.query_params.pop(name, None)

    return write
