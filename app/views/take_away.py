"""Below a page's picture: all that the page shows as one file. The browser makes it; asked here is what only the server has."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from app import session
from app.components.take_away import Answer, pack, take_away
from app.text import section, text
from model.page.bundle import drawn
from model.page.document import frame

logger = logging.getLogger(__name__)

FROM_FILES = ("own", "studio")  # pages that show what a visitor brought, not what the model of the sidebar computed
_KEY = "take_away"
_ASKED = "take_away_asked"
_MOST = 40  # pictures of a page whose code is asked for


@st.fragment
def bar(page: str, content: Callable[[], bytes] | None, numbers: str) -> None:
    """The buttons. `content` makes the page's NPZ, which holds what `numbers` says."""
    selection = session.begin_run()
    asked = st.session_state.pop(_ASKED, None)
    title = text(f"{page}.title")
    message = pack(
        page=page,
        title=title,
        model="" if page in FROM_FILES else selection.model,
        language=selection.language,
        lines=_lines(page, title, selection),
        notes=[text("saved_page.saved_note")],
        numbers=numbers if content else "",
        text=section("take_away"),
        answer=_answer(asked, title, selection.language, content) if isinstance(asked, Mapping) else None,
    )
    take_away(message, key=_KEY, on_ask=_heard)


def _heard() -> None:
    """Keep the question until the run that answers it."""
    st.session_state[_ASKED] = (st.session_state.get(_KEY) or {}).get("ask")


def _answer(asked: Mapping[str, Any], title: str, language: str, content: Callable[[], bytes] | None) -> Answer:
    """What was asked for; whatever a browser sent, only this page's numbers and the code of our own pictures are given."""
    number, kind, named = str(asked.get("number"))[:80], asked.get("kind"), asked.get("components")
    try:
        if kind == "zip" and content:
            return Answer(number, content())
        known = [name for name in named[:_MOST] if name in drawn()] if isinstance(named, list) else []
        if kind == "html" and known:
            return Answer(number, frame(known, title, language).encode("utf-8"))
    except Exception:
        logger.exception("the file of a page could not be made")
    return Answer(number, None)


def _lines(page: str, title: str, selection: session.Selection) -> list[str]:
    """How the text of a pack begins: the app, the page, the model, and what is counted and drawn how."""
    lines = [text("pack.app", version=session.version()), text("pack.page", page=page, title=title)]
    if page not in FROM_FILES:
        lines.append(text("pack.model", name=selection.model, digest=session.weights_digest(selection.model)))
    return [*lines, text("pack.counting"), text("pack.rows"), text("pack.masked"), text("pack.weights")]
