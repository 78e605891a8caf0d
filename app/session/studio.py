"""The Alignment studio's state of a session: what was brought, how it is read, what the work on it came to."""

from dataclasses import replace
from typing import Any

import streamlit as st

from app.session import limits
from app.session.loading import load
from app.session.rates import allowed
from app.session.studio_pairs import flags_of
from app.session.studio_reading import first_settings, read, reverse_of, usual
from app.session.studio_study import Reading, Study, Upload
from app.session.studio_work import Alignments, Job
from app.session.training import is_here, owner
from model.alignment.corpus import Settings
from model.alignment.formats import FormatError, GoldLinks, Problem
from model.translator import Translator

_STUDY, _REFUSED = "atlas_study", "atlas_study_refused"


@st.cache_resource(show_spinner=False)
def _alignments() -> Alignments:
    """All work of this server. It holds a study only while it is worked on."""
    return Alignments(limits.ALIGNMENTS, is_here)


def study() -> Study | None:
    """The visitor's study; None until something was read."""
    found: Study | None = st.session_state.get(_STUDY)
    return found


def refused_upload() -> Problem | None:
    """Why the last upload could not be read at all; None where it could."""
    found: Problem | None = st.session_state.get(_REFUSED)
    return found


def begin_study(upload: Upload, reading: Reading = Reading(), model: str = "", settings: Settings | None = None) -> None:  # noqa: B008
    """Read what was brought; a study before it is given up. What cannot be read leaves `refused_upload`."""
    if not allowed("upload"):
        return
    cancel_alignment()
    st.session_state[_REFUSED] = None
    try:
        st.session_state[_STUDY] = read(upload, reading, model, settings)
    except FormatError as error:
        st.session_state[_REFUSED] = error.problem
        st.session_state.pop(_STUDY, None)


def correct_reading(**changes: Any) -> None:
    """Read the same files in another way."""
    if found := study():
        begin_study(found.upload, replace(found.reading, **changes), found.model, found.settings)


def end_study() -> None:
    """Give it up, with all that was brought."""
    cancel_alignment()
    st.session_state.pop(_STUDY, None)
    st.session_state.pop(_REFUSED, None)


def start_alignment() -> None:
    """Align as soon as there is room: what is missing, or everything again where settings or model have changed."""
    found = study()
    if found is None or found.under_way or not allowed("alignment"):
        return
    atlas = load(found.model)
    assert isinstance(atlas, Translator)
    reverse = load(found.reverse) if found.settings.symmetrize and found.reverse else None
    if found.stale():
        found.begin_again()
    _alignments().submit(Job(owner(), found, atlas, reverse if isinstance(reverse, Translator) else None))


def cancel_alignment() -> None:
    """Stop; what is done stays."""
    _alignments().cancel(owner())


def place_in_queue() -> int:
    """The place of the visitor's study in the queue, from 1; 0 where it is in none."""
    found = study()
    return _alignments().place(found) if found else 0


def edit_links(index: int, links: GoldLinks | None) -> None:
    """What the visitor linked by hand in a pair; None takes it back."""
    if found := study():
        if links is None:
            found.edits.pop(index, None)
        else:
            found.edits[index] = links
        found.version += 1


def put_settings(settings: Settings) -> None:
    """Align in another way: at once where that needs no model, else when it is begun again (see `Study.stale`)."""
    if found := study():
        found.use(settings)


def choose(**changes: Any) -> None:
    """Another head, measure or way to join two directions, with the threshold that belongs to it."""
    if found := study():
        found.use(usual(found.model, replace(found.settings, threshold=None, **changes)))


def split_punctuation(on: bool) -> None:
    """Whether punctuation is a word of its own."""
    if found := study():
        found.use(replace(found.settings, split_punctuation=on))


def put_model(name: str) -> None:
    """Align with another model, when it is begun again."""
    if found := study():
        settings = first_settings(name, split_punctuation=found.split_punctuation)
        found.change_model(
            name, reverse_of(name), settings, flags_of(found.entries, name, alone=found.alone and not found.results)
        )
