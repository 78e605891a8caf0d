"""Masks: who may read whom."""

from app import session
from app.views.anatomy import Anatomy, model_of, show, tell
from model.translator import Translator

NEXT = "views/three_attentions.py"


def page() -> None:
    selection = session.begin_run()
    atlas = model_of(selection, "masks")
    if atlas is None:
        return
    refusal = session.refused(atlas, selection.text, selection.target)
    if refusal:
        show(Anatomy("masks", NEXT, lambda: tell(refusal, "error")))
        return
    show(described(selection, atlas))


def described(selection: session.Selection, atlas: Translator) -> Anatomy:
    """The page for a sentence that can be translated."""
    return Anatomy("masks", NEXT, lambda: None)


page()
