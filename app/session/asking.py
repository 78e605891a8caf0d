"""A translator and a language model on the same sentences."""

from app.session.loading import load
from model.analysis import families
from model.translator import LanguageModel, Translator


def asked(writer: LanguageModel, translator: str, sentences: tuple[str, ...], language: str) -> families.Asked:
    """How likely the translator's own translations are to a language model that is asked for them in words."""
    other = load(translator)
    if not isinstance(writer, LanguageModel) or not isinstance(other, Translator):
        raise TypeError(f"{writer.name!r} and {translator!r} are not a language model and a translator; give one of each")
    return families.asked(writer, other, sentences, language)
