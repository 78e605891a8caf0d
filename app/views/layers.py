"""Add & norm and feed-forward: what happens between the attentions."""

from app import session
from app.views.anatomy import Anatomy, model_of, show, tell
from model.translator import Translator

NEXT = "views/translate.py"


def page() -> None:
    selection = session.begin_run()
    atlas = model_of(selection, "layers")
    if atlas is None:
        return
    refusal = session.refused(atlas, selection.text, selection.target)
    if refusal:
        show(Anatomy("layers", NEXT, lambda: tell(refusal, "error")))
        return
    show(described(selection, atlas))


def described(selection: session.Selection, atlas: Translator) -> Anatomy:
    """The page for a sentence that can be translated."""
    return Anatomy("layers", NEXT, lambda: None)


page()
