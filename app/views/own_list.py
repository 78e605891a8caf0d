"""The models of the operator's list: what each is, how it stands, and the ways to load it, to look at it, to put it away."""

from collections.abc import Mapping

import streamlit as st

from app import session
from app.text import text
from app.views import html, own_coming, own_fits, told

COMING = ("waiting", "loading")
_IN_USE = "own_in_use"  # why the model that was just to be put away is kept


def show(found: session.ModelList) -> None:
    """The whole list; while one of its models is on its way it is drawn again and again."""
    coming = [entry for entry in found.models if session.standing(entry).state in COMING]
    if coming:
        own_coming.watched(lambda: _draw(found), lambda: any(session.standing(entry).state not in COMING for entry in coming))
    else:
        _draw(found)


def _draw(found: session.ModelList) -> None:
    told.put_off("load")
    if kept := st.session_state.pop(_IN_USE, None):
        html.notice("warning", kept.key, **kept.values)
    for entry in found.models:
        with st.container(border=True, key=f"listed_{entry.name}"):
            _one(entry, session.standing(entry))
    html.prose("own.limits", kind="quiet", most=found.most, minutes=found.idle_minutes)


def _one(entry: session.Listed, standing: session.Standing) -> None:
    minutes = int(standing.seconds // 60) if standing.state == "ready" else 0
    state = html.sentence("own.state_ready_minutes", minutes=minutes) if minutes else html.sentence(f"own.state_{standing.state}")
    facts = [html.sentence(key, **_as_ours(values)) for key, values in session.own_facts(entry)]
    st.html(
        f'<h4 class="atlas-heading">{_ours(entry.title)}</h4>'
        f'<p class="atlas-prose quiet">{" · ".join([f"<b>{state}</b>", f"<code>{_ours(entry.name)}</code>", *facts])}</p>'
    )
    if standing.refusal:
        html.notice("warning", standing.refusal.key, **_as_ours(standing.refusal.values))
    if standing.state in COMING:
        own_coming.show(entry)
    elif session.can_bring():
        _ways(entry, standing.state)


def _ways(entry: session.Listed, state: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"ways_{entry.name}"):
        if state == "ready":
            own_fits.links(entry)
            st.button(
                text("own.put_away"),
                key=f"put_away_{entry.name}",
                icon=":material/eject:",
                on_click=_put_away,
                args=(entry.name,),
            )
            return
        label = text("own.load_again" if state == "failed" else "own.load")
        st.button(
            label,
            key=f"load_{entry.name}",
            icon=":material/memory:",
            on_click=_bring,
            args=(entry.name,),
        )


def _bring(name: str) -> None:
    session.bring(name, again=True)


def _put_away(name: str) -> None:
    st.session_state[_IN_USE] = session.put_away(name)


def _ours(words: str) -> str:
    return html.literal(html.Ours(words))


def _as_ours(values: Mapping[str, object]) -> dict[str, object]:
    """What stands in the operator's list or in files of theirs is shown like the rest of the sentence."""
    return {name: html.Ours(value) if isinstance(value, str) else value for name, value in values.items()}
