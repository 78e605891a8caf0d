"""The training of this visitor: begun, stopped, resumed, opened as a model of their own, taken away."""

import atexit
import io
import secrets
import shutil
import threading
import zipfile
from pathlib import Path

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime import exists as served
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.session import limits
from app.session.own import keep_model, own_models
from app.session.rates import allowed
from app.session.trainings import Training, Trainings, in_own_process, watch
from model import checkpoint
from model.practice.order import Order
from model.training.moments import FILE

MOST = 6  # models of one session; the oldest goes

_TOKEN, _NAMES, _OPENED = "atlas_training_token", "atlas_training_names", "atlas_training_opened"


@st.cache_resource(show_spinner=False)
def _trainings() -> Trainings:
    """All trainings of this server, looked after by a thread of its own."""
    made = Trainings(limits.TRAININGS, in_own_process, is_here)
    atexit.register(made.close)
    threading.Thread(target=watch, args=(made,), daemon=True, name="trainings").start()
    return made


def is_here(owner: str) -> bool:
    """Whether a session is connected. (Outside a server there is nobody to leave.)"""
    return not served() or Runtime.instance().is_active_session(owner)


def owner() -> str:
    """Tells this session from all others of the server; empty outside a visit."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def begin_training(order: Order) -> None:
    """Train this as soon as there is room; see `put_off` for one that was asked for too often."""
    if limits.TRAININGS and allowed("training"):
        _trainings().submit(owner(), order)


def stop_training() -> None:
    """Let it save where it stands and stop."""
    _trainings().stop(owner())


def resume_training() -> None:
    """Go on where it stopped."""
    if limits.TRAININGS and allowed("training"):
        _trainings().resume(owner())


def own_training() -> Training | None:
    """How the visitor's training stands; None if they began none."""
    return _trainings().look(owner())


def trainings_at_once() -> int:
    """How many may run at the same time, of all visitors together."""
    return limits.TRAININGS


def open_result(result: Path, step: int) -> str:
    """Make a result a model of this session, under a name of its own; the same result has the same name."""
    token: str = st.session_state.setdefault(_TOKEN, secrets.token_hex(3))
    known: dict[tuple[Path, int], str] = st.session_state.setdefault(_NAMES, {})
    if known.get((result, step)) not in own_models():  # never opened, or given up for newer ones
        st.session_state[_OPENED] = opened = st.session_state.get(_OPENED, 0) + 1
        name = f"own-{checkpoint.load_card(result)['name']}-{step}-{token}{opened}"
        folder = _trainings().home(owner()) / name
        shutil.copytree(result, folder)
        known[result, step] = name
        for old in keep_model(name, folder, MOST):
            shutil.rmtree(old, ignore_errors=True)
    return known[result, step]


def packed(result: Path) -> bytes:
    """A model as a zip file: weights, configuration, tokenizers and card, without the moments of its training."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(result.iterdir()):
            if path.name != FILE:
                archive.writestr(zipfile.ZipInfo(f"model/{path.name}", (1980, 1, 1, 0, 0, 0)), path.read_bytes())
    return content.getvalue()
