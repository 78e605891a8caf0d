"""Which models the page can compare on the visitor's sentence: its own, the rotary one, the sinusoidal one."""

from dataclasses import replace

from app import session
from app.views import html
from model.translator import Translator

ROTARY, SINUSOIDAL = "en-fr-rotary", "en-fr"


def on(selection: session.Selection, name: str) -> session.Selection | None:
    """The visitor's sentence given to this model; None if the model is not here or cannot read it."""
    if name == selection.model:
        return selection
    if name not in session.loaded([name] if name in session.models() else []):
        return None
    if session.languages(name)[0] != session.languages(selection.model)[0] or session.refused(session.load(name), selection.text):
        return None
    return replace(selection, model=name, target=None)


def turning(selection: session.Selection) -> session.Selection | None:
    """The sentence given to a translator that turns its vectors: the chosen one if it does, else `ROTARY`."""
    atlas = session.load(selection.model)
    if isinstance(atlas, Translator) and atlas.config.positions == "rotary":
        return selection
    return on(selection, ROTARY)


def missing(selection: session.Selection, name: str) -> None:
    """Say why this model is not among those that are compared."""
    here = name in session.models()
    html.notice("info", "rotary.not_its_language" if here else "rotary.missing", name=html.Ours(name))


def told(chosen: session.Selection, selection: session.Selection) -> None:
    """Say which model was measured, where it is not the chosen one."""
    if chosen.model != selection.model:
        html.prose("rotary.measured_on", kind="quiet", name=html.Ours(chosen.model), chosen=html.Ours(selection.model))
