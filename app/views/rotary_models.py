"""Which models the page can compare on the visitor's sentence: its own, the rotary one, the sinusoidal one."""

from dataclasses import replace

from app import session
from app.views import html
from model.translator import Translator

ROTARY, SINUSOIDAL = "en-fr-rotary", "en-fr"


def on(selection: session.Selection, name: str) -> session.Selection | None:
    """The visitor's sentence given to this model; None if the model is not here or cannot read it.

    A model that reads the language into which the chosen one translates gets its translation instead: `given`.
    """
    if name == selection.model:
        return selection
    if name not in session.loaded([name] if name in session.models() else []):
        return None
    if same_language(selection, name):
        written = selection.text
    elif session.languages(selection.model)[1:] == session.languages(name)[:1]:
        written = session.wrote(selection.model, selection.text, selection.beam) if selection.target is None else selection.target
    else:
        return None
    if session.refused(session.load(name), written):
        return None
    return replace(selection, model=name, text=written, target=None)


def same_language(selection: session.Selection, name: str) -> bool:
    """Whether a model reads the visitor's own sentence."""
    return session.languages(name)[0] == session.languages(selection.model)[0]


def turning(selection: session.Selection) -> session.Selection | None:
    """The sentence given to a translator that turns its vectors: the chosen one if it does, else `ROTARY`."""
    atlas = session.load(selection.model)
    if isinstance(atlas, Translator) and atlas.config.positions == "rotary":
        return selection
    return on(selection, ROTARY)


def missing(name: str) -> None:
    """Say why this model is not among those that are compared."""
    here = name in session.models()
    html.notice("info", "rotary.not_its_language" if here else "rotary.missing", name=html.Ours(name))


def given(chosen: session.Selection, selection: session.Selection) -> None:
    """Say what another model reads in place of the visitor's sentence, where it cannot read that."""
    if not same_language(selection, chosen.model):
        names = {"name": html.Ours(chosen.model), "model": html.Ours(selection.model)}
        html.prose("rotary.given_translation", kind="quiet", **names, text=chosen.text)


def told(chosen: session.Selection, selection: session.Selection) -> None:
    """Say which model was measured, and on what, where it is not the chosen one."""
    if chosen.model == selection.model:
        return
    given(chosen, selection)
    turns = session.load(selection.model).config.positions == "rotary"
    key = "rotary.measured_on_translator" if turns else "rotary.measured_on"
    html.prose(key, kind="quiet", name=html.Ours(chosen.model), chosen=html.Ours(selection.model))
