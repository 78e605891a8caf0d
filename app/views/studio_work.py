"""The work: begun, watched, cancelled; below it the list of what is done so far."""

import streamlit as st

from app import session
from app.text import text
from app.views import html, studio_input, studio_list, studio_settings, told

BEAT = 0.6  # seconds between looks at work that is under way
_BEFORE, _SEEN = "studio_state", "studio_seen"


def show(study: session.Study) -> None:
    """Draw it for a study."""
    if not study.entries:
        html.notice("error", "studio.nothing")
        return
    _buttons(study)
    told.put_off("alignment")
    if study.results:
        studio_settings.show(study)
    st.fragment(_watch, run_every=BEAT if study.under_way else None)()


def _buttons(study: session.Study) -> None:
    with st.container(horizontal=True, key="studio_buttons", vertical_alignment="center"):
        if study.under_way:
            st.button(text("studio.cancel"), key="studio_cancel", on_click=session.cancel_alignment, icon=":material/stop:")
        elif study.state == "ready" or study.stale() or study.done < study.total:
            st.button(
                _label(study), key="studio_start", on_click=session.start_alignment, type="primary", icon=":material/play_arrow:"
            )
        st.button(text("studio.end"), key="studio_end", on_click=_end, icon=":material/close:")


def _label(study: session.Study) -> str:
    """What the button does: everything, everything again, or what is missing."""
    count = f"{study.total:,}"
    if study.stale():
        return text("studio.start_again", count=count, model=study.model)
    if study.done:
        return text("studio.go_on", count=f"{study.total - study.done:,}")
    if study.total == 1:
        return text("studio.start_alone_one" if study.alone else "studio.start_one", model=study.model)
    return text("studio.start_alone" if study.alone else "studio.start", count=count, model=study.model)


def _watch() -> None:
    """How the work stands. Begun, with first results, or ended, the whole page is drawn again: other parts belong to it."""
    session.begin_run()
    found = session.study()
    if found is None:
        return
    now = (found.token, found.state, bool(found.results))
    before, st.session_state[_BEFORE] = st.session_state.get(_BEFORE, now), now
    if before != now and before[0] == now[0]:
        st.rerun()
    _say(found)
    if found.results:
        studio_list.show(found)


def _say(study: session.Study) -> None:
    """The state in a sentence, and a bar."""
    values = {"done": f"{study.done:,}", "total": f"{study.total:,}", "model": html.Ours(study.computed_by or study.model)}
    match study.state:
        case "waiting":
            html.notice("info", "studio.waiting", place=session.place_in_queue(), limit=session.ALIGNMENTS)
        case "running":
            left = study.seconds_left
            said = text("studio.starting") if left is None else text("studio.running", **values, left=_time(left))
            st.progress(study.done / study.total, said)
        case "done":
            html.notice("info", "studio.done", **values)
        case "cancelled":
            html.notice("info", "studio.cancelled", **values)
        case "failed":
            html.notice("error", "studio.failed", reason=study.reason, **values)
    if study.stale() and not study.under_way:
        html.notice("warning", "studio.stale_links" if study.links_follow() else "studio.stale", model=html.Ours(study.model))


def _time(seconds: float) -> str:
    """A time as somebody says it: seconds under a minute and a half, else minutes."""
    if seconds < 90:
        return text("studio.seconds", count=max(1, round(seconds)))
    return text("studio.minutes", count=round(seconds / 60))


def _end() -> None:
    studio_list.forget()
    studio_input.give_up()
