"""What the model's own numbers say against its translation."""

from app import text as texts
from app.session.computed import measured_model, translation
from app.session.limits import refused
from app.session.loading import load
from app.session.remark import Remark
from app.session.selection import Selection
from app.session.sentences import examples
from model.analysis import doubt
from model.translator import LanguageModel, Reader


def doubts(selection: Selection) -> list[Remark]:
    """What the model's own numbers say against the translation that it wrote; nothing about one that was written by hand."""
    atlas = load(selection.model)
    if isinstance(atlas, Reader) or selection.target is not None or refused(atlas, selection.text):
        return []
    own = translation(selection.model, selection.text, selection.beam)
    found = []
    again = doubt.repeated(own.produced)
    if again and not doubt.repeated(own.source):
        found.append(Remark("doubt.repeats", {"piece": again[0], "count": again[1]}))
    # Many continuations are right: to be unsure of the next word is no mistake. How sure others are as a rule is not known.
    if isinstance(atlas, LanguageModel) or not atlas.ours:
        return found
    usual = usual_of(selection.model)
    limit, nats = doubt.FACTOR * usual, doubt.nats(own.log_probabilities)
    if usual and nats >= limit:
        numbers = {"nats": round(nats, 2), "usual": round(usual, 2), "limit": round(limit, 2), "factor": doubt.FACTOR}
        found.append(Remark("doubt.unsure", numbers))
    return found


def usual_of(name: str) -> float:
    """What `doubt.usual` finds in a model's examples, as its card says or, of a visitor's own, measured; 0 without examples."""
    told = load(name).card.get("doubt")
    if told:
        return float(told["usual"])
    sources = tuple(example.source for example in examples(name, texts.DEFAULT_LANGUAGE))
    return measured_model(doubt.usual, name, sources) if sources else 0.0
