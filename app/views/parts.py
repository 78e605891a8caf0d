"""The body of a page: what follows its choices is drawn anew by itself, and all else stays as it stands.

A choice anywhere in the body runs one fragment, which writes into places on both sides of the parts that stay. What a run of a
whole page costs is the number of its elements, so those that no choice changes are left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import streamlit as st

from app import session


@dataclass(frozen=True)
class Part:
    """One part of the body, under the name that no other of the page has; `still`: no choice outside of it changes it."""

    name: str
    draw: Callable[[], None]
    still: bool = False


def draw(parts: Sequence[Part], again: Callable[[], Sequence[Part]]) -> None:
    """Draw them in their order, what moves first. `again` describes the page anew, once a choice has changed."""
    groups = [(still, list(group)) for still, group in groupby(parts, lambda part: part.still)]
    places = [st.container() for _ in groups]
    moving = [place for place, (still, _) in zip(places, groups, strict=True) if not still]
    if moving:
        with moving[0]:
            _moving(parts, again, moving[1:], session.current())
    for place, (still, group) in zip(places, groups, strict=True):
        if still:
            with place:
                for part in group:
                    part.draw()


@st.fragment
def _moving(first: Sequence[Part], again: Callable[[], Sequence[Part]], places: Sequence[Any], drawn: session.Selection) -> None:
    """The groups that move: the first one here, each other in its place. A new selection is told to the whole page."""
    parts = first
    if session.in_fragment():
        if session.begin_run() != drawn:
            st.rerun()
        parts = again()
        if _order(parts) != _order(first):
            st.rerun()  # a part came or went: there is no place for it
    groups = [list(group) for still, group in groupby(parts, lambda part: part.still) if not still]
    for part in groups[0]:
        part.draw()
    for place, group in zip(places, groups[1:], strict=True):
        with place:
            for part in group:
                part.draw()


def _order(parts: Sequence[Part]) -> list[tuple[str, bool]]:
    return [(part.name, part.still) for part in parts]
