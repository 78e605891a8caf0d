"""What the models computed: cached by text, shared by all visitors, never changed."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Concatenate, ParamSpec, TypeVar

from app.session import apart, premeasured
from app.session.address import uncounted
from app.session.cached import cached
from app.session.limits import MAX_TOKENS
from app.session.loading import load, writer
from app.session.rates import computing
from app.session.selection import Selection
from model.apart import Answer, Request, written
from model.decoding import length_limit
from model.trace import Trace
from model.translator import LanguageModel, Reader, Translation

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")
WRITTEN = f"{written.__module__}.{written.__qualname__}"
Chosen = tuple[str, str, str | None, int]  # model, source, target written by hand, beam


@cached(512)
def translation(name: str, source: str, beam: int = 1) -> Translation:
    """The model's own translation; of a language model, its continuation."""
    computing("sentence")
    atlas, limit = writer(name), None
    if isinstance(atlas, LanguageModel):  # prompt and continuation stand in one picture
        limit = min(MAX_TOKENS, length_limit(len(atlas.source_tokens(source))))
    if (asked := _asked(WRITTEN, name, (source, beam, limit), {})) and (answer := apart.answer_of(asked, WRITTEN)):
        found: Translation = answer.found
        return found
    return written(atlas, source, beam, limit)


def wrote(name: str, source: str, beam: int = 1) -> str:
    """What the model says by itself: its translation, or the prompt with its continuation."""
    return writer(name).said(source, [token.id for token in translation(name, source, beam).produced])


def trace(name: str, source: str, target: str | None = None, beam: int = 1) -> Trace:
    """One forced pass over the given target, or over the model's own translation; of an encoder alone over the text.

    Never change what it returns.
    """
    recorded = _long_trace if _are_long(name, source, target, beam) else _short_trace
    return recorded(name, source, target, beam)


@cached(512)  # asked at every turn: cutting into tokens takes longer
def _are_long(name: str, source: str, target: str | None, beam: int) -> bool:
    """Whether what is computed from these sentences is so large that little of it is kept."""
    atlas = load(name)
    written = 0
    if not isinstance(atlas, Reader):
        written = len(translation(name, source, beam).produced if target is None else atlas.tokenizers.target.encode(target))
    return len(atlas.tokenizers.source.encode(source)) + written > 120


@cached(96)
def _short_trace(name: str, source: str, target: str | None, beam: int) -> Trace:
    return _traced(name, source, target, beam)


@cached(8)
def _long_trace(name: str, source: str, target: str | None, beam: int) -> Trace:
    return _traced(name, source, target, beam)


def _traced(name: str, source: str, target: str | None, beam: int) -> Trace:
    computing("sentence")
    atlas = load(name)
    if isinstance(atlas, Reader):
        return atlas.trace(source)
    return atlas.trace(source, translation(name, source, beam) if target is None else target)


def measured(
    function: Callable[Concatenate[Any, Trace, Arguments], Result],
    selection: Selection,
    *arguments: Arguments.args,
    **named: Arguments.kwargs,
) -> Result:
    """What a pure function finds in the trace of a selection: computed once, shared by all, never changed.

    `function(atlas, trace, *arguments)` stands at the top level of a module; its arguments are hashable. It may take models of
    one family only: the page knows.
    """
    return measured_pair(function, (selection.model, selection.text, selection.target, selection.beam), *arguments, **named)


def measured_pair(
    function: Callable[Concatenate[Any, Trace, Arguments], Result],
    chosen: Chosen,
    *arguments: Arguments.args,
    **named: Arguments.kwargs,
) -> Result:
    """The same for a model and its pair."""
    kept = _of_long_trace if _are_long(*chosen) else _of_short_trace
    with uncounted():
        found: Result = kept(f"{function.__module__}.{function.__qualname__}", chosen, arguments, named, _function=function)
    return found


def measured_model(
    function: Callable[Concatenate[Any, Arguments], Result],
    name: str,
    *arguments: Arguments.args,
    **named: Arguments.kwargs,
) -> Result:
    """What a pure function finds in a model, whatever the sentence; see `measured`."""
    with uncounted():
        found: Result = _of_model(f"{function.__module__}.{function.__qualname__}", name, arguments, named, _function=function)
    return found


def _chosen_model(function_name: str, chosen: Chosen, *_: Any, **__: Any) -> str:
    return chosen[0]


@cached(512, _chosen_model)
def _of_short_trace(
    function_name: str, chosen: Chosen, arguments: tuple[Any, ...], named: Mapping[str, Any], *, _function: Callable[..., Any]
) -> Any:
    computing("what_if")
    if (asked := _asked(function_name, chosen, arguments, named)) and (answer := apart.answer_of(asked, function_name)):
        return answer.found
    return _function(load(chosen[0]), trace(*chosen), *arguments, **named)


@cached(64, _chosen_model)  # up to 3 MB each at 200 tokens a side
def _of_long_trace(
    function_name: str, chosen: Chosen, arguments: tuple[Any, ...], named: Mapping[str, Any], *, _function: Callable[..., Any]
) -> Any:
    computing("what_if")
    if (asked := _asked(function_name, chosen, arguments, named)) and (answer := apart.answer_of(asked, function_name)):
        return answer.found
    return _function(load(chosen[0]), trace(*chosen), *arguments, **named)


@cached(128, lambda _, name, *__, **___: name)
def _of_model(
    function_name: str, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any], *, _function: Callable[..., Any]
) -> Any:
    known = premeasured.found(function_name, name, arguments) if not named else premeasured.NOTHING
    if known is not premeasured.NOTHING:
        return known
    computing("what_if")
    if (asked := _asked(function_name, name, arguments, named)) and (answer := apart.answer_of(asked, function_name)):
        return answer.found
    return _function(load(name), *arguments, **named)


def awaited(function: Callable[..., Any], where: Selection | str, *arguments: Any) -> bool:
    """Whether `measured` or `measured_model` would have to wait for the process beside the pages, which is asked by this."""
    name = f"{function.__module__}.{function.__qualname__}"
    if isinstance(where, str):
        if premeasured.found(name, where, arguments) is not premeasured.NOTHING:
            return False
        asked = _asked(name, where, arguments, {})
    else:
        asked = _asked(name, (where.model, where.text, where.target, where.beam), arguments, {})
    return asked is not None and not asked.done()


def _asked(function: str, where: str | Chosen, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> "Future[Answer] | None":
    """The answer of the process beside the pages, now or later; None for what is computed here."""
    model = where if isinstance(where, str) else where[0]
    if named or not apart.computes(function, model):
        return None
    if isinstance(where, str):
        return apart.ask(Request(function, model, None, None, arguments))
    _, source, target, beam = where
    over = translation(model, source, beam) if target is None else target
    return apart.ask(Request(function, model, source, over, arguments))
