"""Parameters of the URL that the server writes, while the browser may not know of it yet.

Whoever clicks twice within a moment sends the second click with the URL as it was before the first, so what the first wrote would
be lost. Every run and every callback therefore calls `settle` before it looks at the URL.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

SOON = 3.0  # seconds in which a browser has heard of a new URL
_PUT = "atlas_put"


class _Put(NamedTuple):
    earlier: tuple[str | None, ...]  # what stood there in the last moments
    after: str | None
    at: float
    page: str | None


def put(name: str, value: str | None) -> None:
    """Write a parameter into the URL, or take it out."""
    kept: dict[str, _Put] = st.session_state.setdefault(_PUT, {})
    if (before := st.query_params.get(name)) != value:
        last = kept.get(name)
        earlier = last.earlier if last and _recent(last) else ()
        kept[name] = _Put(tuple({*earlier, before} - {value}), value, time.monotonic(), _page())
    if st.query_params.get_all(name) != ([] if value is None else [value]):
        _write(name, value)


def settle() -> None:
    """Write once more what was written a moment ago, where the browser has sent what stood there before.

    An address in which one of these parameters has a third value was changed by the visitor, and is taken at its word.
    """
    kept: dict[str, _Put] = st.session_state.get(_PUT, {})
    recent = {name: found for name, found in kept.items() if _recent(found)}
    if any(st.query_params.get(name) not in (*found.earlier, found.after) for name, found in recent.items()):
        return
    for name, found in recent.items():
        if st.query_params.get(name) in found.earlier:
            _write(name, found.after)


@contextmanager
def uncounted() -> Iterator[None]:
    """Time in which the server computes, and a second click waits, is no time between the two."""
    begun = time.monotonic()
    yield
    if get_script_run_ctx(suppress_warning=True) is None:
        return
    kept: dict[str, _Put] = st.session_state.get(_PUT, {})
    for name, found in kept.items():
        if begun - found.at < SOON:
            kept[name] = found._replace(at=found.at + time.monotonic() - begun)


def _recent(found: _Put) -> bool:
    return time.monotonic() - found.at < SOON and found.page == _page()


def _page() -> str | None:
    """The page of this run: going to another drops all parameters."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.page_script_hash if context else None


def _write(name: str, value: str | None) -> None:
    if value is None:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = value
