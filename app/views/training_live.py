"""Train a small model on the spot: what is trained, how far it is, what came of it."""

from collections.abc import Callable

import streamlit as st

from app import session
from app.components.moments import Shown, moments, pack
from app.text import section, text
from app.views import html, told, training_choices
from model.alignment.extract import ROWS
from model.practice import progress
from model.practice.progress import Progress
from model.training import exact

BEAT = 1.0  # seconds between looks at a training that is under way
_OPENED = "training_opened"
UNDER_WAY = ("waiting", "running", "stopping")


@st.fragment
def show() -> None:
    """Draw the section: controls, and below them the visitor's training, if there is one. The rest of the page hears of none."""
    session.begin_run()
    if not session.trainings_at_once():
        html.notice("info", "rates.no_training")
        return
    html.prose("training_live.idea", limit=session.trainings_at_once())
    order = training_choices.choose()
    if "mask" in order.without:
        html.prose("training_live.mask_warning", kind="quiet")
    found = session.own_training()
    under_way = found is not None and found.state in UNDER_WAY
    with st.container(horizontal=True, vertical_alignment="center", key="training_buttons"):
        label = text("training_live.again" if found else "training_live.begin")
        _button("begin", label, lambda: session.begin_training(order), ":material/play_arrow:", disabled=under_way)
        if found and under_way:
            _button(
                "stop", text("training_live.stop"), session.stop_training, ":material/stop:", disabled=found.state == "stopping"
            )
        elif found and found.state in ("stopped", "failed"):
            _button("resume", text("training_live.resume"), session.resume_training, ":material/resume:")
    told.put_off("training")
    with st.expander(text("training_live.command"), on_change="rerun", key="training_command") as part:
        if part.open:  # what colours it weighs more than the rest of the page
            st.code(order.command, language="bash")
    if found:
        st.fragment(_watch, run_every=BEAT if under_way else None)()


def _button(name: str, label: str, on_click: Callable[[], None], icon: str, *, disabled: bool = False) -> None:
    st.button(label, key=f"training_{name}", on_click=on_click, icon=icon, disabled=disabled)


def _watch() -> None:
    """How the training stands. Ended or opened, the whole page is drawn again: buttons and sidebar differ."""
    session.begin_run()
    found = session.own_training()
    before, st.session_state["training_state"] = st.session_state.get("training_state"), found.state if found else None
    if st.session_state.pop(_OPENED, False) or found is None or (before in UNDER_WAY and before != found.state):
        st.rerun()
    known = progress.read(found.folder)
    _say(found, known)
    if known:
        _picture(found, known)
    if known and found.result:
        _result(found, known)


def _say(found: session.Training, known: Progress | None) -> None:
    """The state in a sentence, and a bar."""
    values = {"steps": found.order.steps, "step": known.step if known else 0}
    match found.state:
        case "waiting":
            html.notice("info", "training_live.waiting", place=found.place, limit=session.trainings_at_once())
        case "running":
            said = text("training_live.running", **values) if known else text("training_live.starting")
            st.progress(known.share if known else 0.0, said)
        case "stopping":
            st.progress(known.share if known else 0.0, text("training_live.stopping"))
        case "stopped" if known:
            html.notice("info", "training_live.stopped", **values)
        case "stopped":
            html.notice("info", "training_live.stopped_before")
        case "done" if known:
            html.notice("info", "training_live.done", seconds=round(known.seconds), **values)
        case _:
            html.notice("error", "training_live.failed", reason=found.reason)


def _picture(found: session.Training, known: Progress) -> None:
    html.prose("training_live.pair", kind="quiet", source=known.source_text, target=known.target_text)
    best = exact.best(known.moments[-1].alignment)
    task = training_choices.task_name(found.order.task)
    shown = Shown(
        steps=[moment.step for moment in known.moments],
        loss=[moment.loss for moment in known.moments],
        exact=[moment.exact for moment in known.moments],
        alignment=[moment.alignment for moment in known.moments],
        weights=known.weights,
        source=known.source,
        produced=known.produced,
        read=known.read,
        links=known.links,
        losses=known.losses,
        first=(best.layer, best.head or 0, ROWS.index(best.row)),
    )
    caption = {"model": found.order.task, "source": known.source_text, "target": known.target_text}
    title = text("training_live.map_title", task=task)
    moments(pack(shown, text=section("moments"), caption=caption, name="trained", title=title), key="trained")


def _result(found: session.Training, known: Progress) -> None:
    """Open it on every page, or take it away."""
    assert found.result is not None
    result = found.result
    with st.container(horizontal=True, vertical_alignment="center", key="training_result"):
        _button("open", text("training_live.open"), lambda: _open(found, known), ":material/open_in_new:")
        st.download_button(
            text("training_live.download"),
            data=lambda: session.packed(result),
            file_name=f"{found.order.task}-{known.step}.zip",
            mime="application/zip",
            icon=":material/download:",
            on_click="ignore",
            key="training_download",
        )
    if session.current().model.startswith("own-"):
        html.prose("training_live.opened", kind="quiet", name=html.Ours(session.current().model))
    else:
        html.prose("training_live.gone", kind="quiet")


def _open(found: session.Training, known: Progress) -> None:
    assert found.result is not None
    session.select(model=session.open_result(found.result, known.step), text=known.source_text)
    st.session_state[_OPENED] = True
