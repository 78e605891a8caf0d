"""In which words the chosen model is spoken of: those for its family, and its own names for the tokens that are no text."""

from collections.abc import Mapping

from app import text as texts
from app.session import listed
from app.session.loading import writes_on
from app.session.shelf import shelf
from model.adapters.hugging_face.models import AnyHuggingFace
from model.translator import Reader

SECTIONS = {"decoder-only": (texts.INSTEAD, "foreign", "foreign_writer"), "encoder-only": ("foreign", "foreign_reader")}


def is_foreign(name: str) -> bool:
    """Whether this is a model that others made, of the operator's list."""
    return listed.find(name) is not None


def speak(language: str, name: str) -> None:
    """Speak this language of this model until the end of the run; its own names of tokens are known once it is loaded."""
    entry = listed.find(name)
    if entry is None:
        texts.use(language, writes_on=writes_on(name))
        return
    atlas = shelf.peek(name)
    texts.use(language, replaced=SECTIONS.get(entry.kind, ("foreign",)), tokens=names_of(atlas) if atlas else None)


def names_of(atlas: AnyHuggingFace) -> Mapping[str, str]:
    """What this model calls the tokens that sentences of ours name as those of our models."""
    config, tokenizer = atlas.config, atlas.tokenizers.target
    leading, trailing = tokenizer.around()
    alone = isinstance(atlas, Reader)
    ids = {
        "<s>": leading[0] if alone and leading else config.start,
        "</s>": trailing[-1] if alone and trailing else config.end,
        "<unk>": config.unknown,
        "<pad>": config.padding,
    }
    return {ours: tokenizer.special(id_).text for ours, id_ in ids.items() if id_ >= 0}
