"""What the model's own numbers say against its translation."""

from app import text as texts
from app.session.computed import measured_model, translation
from app.session.limits import Remark, refused
from app.session.loading import load
from app.session.selection import Selection
from app.session.sentences import examples
from model.analysis import doubt
from model.translator import LanguageModel


def doubts(selection: Selection) -> list[Remark]:
    """What the model's own numbers say against the translation that it wrote; nothing about one that was written by hand."""
    atlas = load(selection.model)
    if selection.target is not None or refused(atlas, selection.text):
        return []
    own = translation(selection.model, selection.text, selection.beam)
    found = []
    again = doubt.repeated(own.produced)
    if again and not doubt.repeated(own.source):
        found.append(Remark("doubt.repeats", {"piece": again[0], "count": again[1]}))
    if isinstance(atlas, LanguageModel):  # many continuations are right: to be unsure of the next word is no mistake
        return found
    sources = tuple(example.source for example in examples(selection.model, texts.DEFAULT_LANGUAGE))
    usual = measured_model(doubt.usual, selection.model, sources) if sources else 0.0
    limit, nats = doubt.FACTOR * usual, doubt.nats(own.log_probabilities)
    if usual and nats >= limit:
        numbers = {"nats": round(nats, 2), "usual": round(usual, 2), "limit": round(limit, 2), "factor": doubt.FACTOR}
        found.append(Remark("doubt.unsure", numbers))
    return found
