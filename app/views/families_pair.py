"""Which two models the page Two families shows, and what each was given."""

from dataclasses import dataclass, replace
from functools import cached_property

from app import session
from app.text import text
from app.views import linked
from model.analysis import families
from model.trace import Trace
from model.translator import Atlas, LanguageModel, Opened, Translator

PROMPT = "prompt"


@dataclass(frozen=True)
class Pair:
    """A model that translates and one that writes on, each with the selection of its trace."""

    translator: Translator
    writer: LanguageModel
    translated: session.Selection
    continued: session.Selection
    kind: str
    sentence: str  # in the language model's language: the visitor's text, or what the translator made of it
    language: str  # the translator's other language, in English, as a prompt would say it

    @property
    def reads(self) -> bool:
        """Whether both models read the language of the visitor's text."""
        return _same(self.translator.name, self.writer.name)

    @cached_property
    def traces(self) -> tuple[Trace, Trace]:
        one, two = (
            session.trace(chosen.model, chosen.text, chosen.target, chosen.beam) for chosen in (self.translated, self.continued)
        )
        return one, two

    @property
    def language_name(self) -> str:
        """The translator's other language, in the visitor's words."""
        names = {"en": text("languages.en"), "fr": text("languages.fr"), "zh": text("languages.zh")}
        return {families.LANGUAGES[code]: name for code, name in names.items()}[self.language]

    @property
    def first(self) -> int:
        """The row of the language model's trace that wrote its first token."""
        return self.writer.first_written(self.traces[1])


def pair(selection: session.Selection, atlas: Atlas) -> Pair | None:
    """The chosen model beside one of the other family on the same text; None where there is none of the other family."""
    names = session.models()
    if isinstance(atlas, LanguageModel):
        others = [name for name in names if not session.writes_on(name) and _same(name, selection.model)]
        found = _first(sorted(others, key=lambda name: name != "en-fr"))
        if not isinstance(found, Translator):
            return None
        translator, writer = found, atlas
    else:
        other = _first([name for name in names if session.writes_on(name)])
        if not isinstance(other, LanguageModel):
            return None
        translator, writer = atlas, other
    translated = replace(selection, model=translator.name, target=selection.target if translator is atlas else None)
    sentence = _readable(selection, translated, translator, writer)
    language = families.language_to_ask(session.languages(translator.name), session.languages(writer.name)[0])
    kind = linked.chosen(PROMPT, families.PROMPTS, "whole" if writer is atlas else "half") or "whole"
    given = families.prompt(sentence, kind, language)
    target = selection.target if writer is atlas and kind == "whole" else None
    continued = replace(selection, model=writer.name, text=given, target=target)
    return Pair(translator, writer, translated, continued, kind, sentence, language)


def default_prompt(selection: session.Selection) -> str:
    return "whole" if session.writes_on(selection.model) else "half"


def sentences(found: Pair) -> tuple[str, ...]:
    """Whole sentences in the language model's language, for what is measured over several."""
    known = (name for name in (found.translator.name, *session.models()) if not session.writes_on(name))
    reader = next((name for name in known if _same(name, found.writer.name)), "")
    return tuple(example.source for example in session.examples(reader, "en")) if reader else (found.continued.text,)


def _same(translator: str, writer: str) -> bool:
    return session.languages(translator)[0] == session.languages(writer)[0]


def _first(names: list[str]) -> Opened | None:
    """The first of these models that can be loaded."""
    return next(iter(session.loaded(names).values()), None)


def _readable(selection: session.Selection, translated: session.Selection, translator: Translator, writer: LanguageModel) -> str:
    """The visitor's text where the language model reads that language, else what the translator wrote of it."""
    if session.writes_on(selection.model) or _same(translator.name, writer.name):
        return selection.text
    return session.trace(translated.model, translated.text, translated.target, translated.beam).target_text
