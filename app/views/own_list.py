"""The models of the operator's list: what each is, how it stands, and the ways to load it, to look at it, to put it away."""

import streamlit as st

from app import session
from app.text import text
from app.views import html, own_coming, told

_IN_USE = "own_in_use"  # why the model that was just to be put away is kept


def show() -> None:
    """The whole list; while one of its models is loaded it is drawn again and again."""
    found = session.own_list()
    names = [entry for entry in found.models if session.standing(entry).state in ("waiting", "loading")]
    if names and session.can_bring():
        own_coming.watched(lambda: _draw(found), lambda: _settled(names))
    else:
        _draw(found)


def _settled(names: list[session.Listed]) -> bool:
    return any(session.standing(entry).state not in ("waiting", "loading") for entry in names)


def _draw(found: session.ModelList) -> None:
    told.put_off("load")
    if kept := st.session_state.pop(_IN_USE, None):
        html.notice("warning", kept.key, **kept.values)
    for entry in found.models:
        with st.container(border=True, key=f"listed_{entry.name}"):
            _one(entry)
    html.prose("own.limits", kind="quiet", most=found.most, minutes=found.idle_minutes)


def _one(entry: session.Listed) -> None:
    standing = session.standing(entry)
    st.html(f'<h3 class="atlas-heading">{_literal(entry.title)} <code>{_literal(entry.name)}</code></h3>')
    st.html(f'<p class="atlas-prose quiet">{" · ".join(_facts(entry))}</p>')
    html.prose(_state(standing), **_minutes(standing))
    if standing.refusal:
        html.notice("warning", standing.refusal.key, **standing.refusal.values)
    if standing.state in ("waiting", "loading"):
        own_coming.show(entry)
    elif session.can_bring():
        _buttons(entry, standing)


def _literal(words: str) -> str:
    return html.literal(html.Ours(words))


def _buttons(entry: session.Listed, standing: session.Standing) -> None:
    with st.container(horizontal=True, key=f"ways_{entry.name}"):
        if standing.state == "ready":
            st.button(text("own.put_away"), key=f"put_away_{entry.name}", on_click=_put_away, args=(entry.name,))
        else:
            label = text("own.load_again" if standing.state == "failed" else "own.load")
            st.button(label, key=f"load_{entry.name}", on_click=session.bring, args=(entry.name,), kwargs={"again": True})


def _put_away(name: str) -> None:
    st.session_state[_IN_USE] = session.put_away(name)


def _state(standing: session.Standing) -> str:
    if standing.state == "ready" and standing.seconds >= 60:
        return "own.state_ready_minutes"
    return f"own.state_{standing.state}"


def _minutes(standing: session.Standing) -> dict[str, object]:
    return {"minutes": int(standing.seconds // 60)} if standing.state == "ready" and standing.seconds >= 60 else {}


def _facts(entry: session.Listed) -> list[str]:
    """What is known of the model, as HTML: of one in memory more than of one whose folder was looked into."""
    return [html.sentence(key, **values) for key, values in session.own_facts(entry)]
