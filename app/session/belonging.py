"""What pages measure in the shipped models alone, whatever the visitor writes: it is written down once (`premeasured`)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from app.session import findings
from app.session.asking import asked
from app.session.loading import languages, load, models, writes_on
from app.session.sentences import example_pairs, examples
from model.analysis import cheating, families, lengths, purpose, schedules_tried, sizes, tying
from model.analysis import findings as of_stories
from model.translator import LanguageModel

ROTARY_BESIDE = {"en-fr-rotary": ("right", "nowhere", "interpolated", "ntk"), "en-fr": ("right", "nowhere")}
"""The variants whose loss by length the page of rotary positions shows."""


@dataclass(frozen=True)
class Belonging:
    """`compute()` is what the function of this name finds in the first of these models, given these arguments."""

    function: str
    names: tuple[str, ...]
    arguments: tuple[Any, ...]
    compute: Callable[[], Any]


def belonging() -> Iterator[Belonging]:
    """All that pages ask for, by model; the sentences are our own examples."""
    first = models()[0]
    yield _of(schedules_tried.shifts, first)  # one for all models
    yield _of(cheating.beside, first)
    for story in findings.stories():
        function = f"{of_stories.__name__}.{story.name}"
        yield Belonging(function, (story.model,), findings.of(story), lambda name=story.name: findings.told(name))  # type: ignore[misc]
    for name, variants in ROTARY_BESIDE.items():
        for variant in variants:
            yield _of(lengths.loss_by_length, name, example_pairs(next(reversed(ROTARY_BESIDE))), variant)
    for name in models():
        yield from _of_one(name)


def _of_one(name: str) -> Iterator[Belonging]:
    atlas = load(name)
    sources = tuple(example.source for example in examples(name, "en"))
    for setting in sizes.SETTINGS:
        yield _of(sizes.compared, name, setting)
    if isinstance(atlas, LanguageModel):
        yield _of(tying.misplaced, name, tuple((source, "") for source in sources))
        for translator in models():
            if not writes_on(translator) and languages(translator)[0] == languages(name)[0]:
                yield from _of_two(name, translator)
        return
    yield _of(tying.misplaced, name, example_pairs(name))
    for source in sources:
        yield _of(purpose.outcomes_of, name, source)


def _of_two(writer: str, translator: str) -> Iterator[Belonging]:
    """A language model, and what it makes of the sentences of a translator that reads its language."""
    sources = tuple(example.source for example in examples(translator, "en"))
    yield _of(families.masked, writer, sources)
    language = families.language_to_ask(languages(translator), languages(writer)[0])
    yield _of(asked, writer, translator, sources, language, others=(translator,))


def _of(function: Callable[..., Any], name: str, *arguments: Any, others: tuple[str, ...] = ()) -> Belonging:
    dotted = f"{function.__module__}.{function.__qualname__}"
    return Belonging(dotted, (name, *others), arguments, lambda: function(load(name), *arguments))
