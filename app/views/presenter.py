"""Presenter mode: one part of a page on the screen, large, without the sidebar and all else that is around it.

Only the slide that is shown is drawn; a widget whose choice stands in no URL keeps it with `persist_state="page"`. The keys, the
bar and the size of the type are the component's affair.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from app import session
from app.components.presenter import pack, presenter
from app.text import glossary, section, text
from app.views import html

KEY = "presenter"
TURN = "atlas_present_turn"  # to which page a visitor stepped, until the run that follows goes there


@dataclass(frozen=True)
class Slide:
    """One idea. `kind` decides how large its type may become; `title` is the key of its heading."""

    kind: str
    title: str
    content: Callable[[], None]
    part: str = ""  # the id of the same part on the page
    headed: bool = True  # whether the heading is seen; a screen reader is always told


def control() -> None:
    """The button that opens this page in presenter mode."""
    st.button(
        text("presenting.button"),
        icon=":material/slideshow:",
        key="present_button",
        help=text("presenting.button_help"),
        on_click=session.present,
    )


def show(page: str, slides: Sequence[Slide], *, previous: str, next: str) -> None:
    """Draw the slide that the URL asks for; `previous` and `next` are the pages before the first slide and after the last."""
    _turn({"previous": (previous, session.LAST), "next": (next, 1)})
    number = session.slide(len(slides))
    if st.query_params.get("slide") != str(number):
        session.present(number)
    shown = slides[number - 1]
    message = pack(
        page=text(f"{page}.title"),
        title=text(shown.title),
        slide=number,
        count=len(slides),
        kind=shown.kind,
        parts=[slide.part for slide in slides],
        spoken=session.current().language,
        text=section("presenter"),
    )
    presenter(message, key=KEY, on_to=lambda: _follow(len(slides)))
    st.html(Path(__file__).with_name("presenter.css"))
    with st.container(key=f"slide_{shown.kind}"):
        st.html(f'<h1 class="atlas-slide{"" if shown.headed else " unseen"}">{html.sentence(shown.title)}</h1>')
        with st.container(key=shown.title.replace(".", "_")):
            shown.content()
    with st.container(key="entries"):
        st.html(html.entries(glossary().values()))


def _follow(count: int) -> None:
    """What the visitor asked for: another slide of the `count`, another page, or the end of presenter mode."""
    asked = (st.session_state.get(KEY) or {}).get("to")
    if not isinstance(asked, Mapping):
        return
    session.settle()
    if asked.get("leave"):
        session.leave_presenting()
    elif asked.get("page") in ("previous", "next"):
        st.session_state[TURN] = asked["page"]
    elif isinstance(number := asked.get("slide"), int):
        session.present(max(1, min(count, number)))


def _turn(pages: Mapping[str, tuple[str, int | str]]) -> None:
    """Go to the page that the visitor stepped to, at its first or its last slide."""
    asked = pages.get(st.session_state.pop(TURN, ""))
    if asked:
        page, slide = asked
        session.go(f"views/{page}.py", None, **session.presented(slide))
