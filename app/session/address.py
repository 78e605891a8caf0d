"""Parameters of the URL that the server writes, while the browser may not know of it yet.

Whoever clicks twice within a moment sends the second click with the URL as it was before the first, so what the first wrote would
be lost. A callback therefore calls `settle` before it looks at the URL. (A run without a callback, as that of the back button, is
taken at its word.)
"""

import time
from typing import NamedTuple

import streamlit as st

SOON = 3.0  # seconds in which a browser has heard of a new URL
_PUT = "atlas_put"


class _Put(NamedTuple):
    before: str | None
    after: str | None
    at: float


def put(name: str, value: str | None) -> None:
    """Write a parameter into the URL, or take it out."""
    kept: dict[str, _Put] = st.session_state.setdefault(_PUT, {})
    if (before := st.query_params.get(name)) != value:
        kept[name] = _Put(before, value, time.monotonic())
    _write(name, value)


def settle() -> None:
    """Write once more what was written a moment ago, where the browser has sent what stood there before."""
    kept: dict[str, _Put] = st.session_state.get(_PUT, {})
    for name, found in kept.items():
        if time.monotonic() - found.at < SOON and st.query_params.get(name) == found.before:
            _write(name, found.after)


def _write(name: str, value: str | None) -> None:
    if value is None:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = value
