"""What is computed once for all visitors; of a model on the operator's list it lies beside the model, and goes with it."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, Generic, ParamSpec, TypeVar

import streamlit as st

from app.session.listed import find
from app.session.loading import load
from app.session.shelf import shelf

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Cached(Generic[Arguments, Result]):
    """A function whose results are kept: called like it. Arguments whose names begin with `_` tell no result from another."""

    def __init__(self, function: Callable[Arguments, Result], entries: int, name_of: Callable[..., str]) -> None:
        self.function, self.name_of = function, name_of
        self.key = f"{function.__module__}.{function.__qualname__}"
        self.shared = st.cache_resource(show_spinner=False, max_entries=entries)(function)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        name = self.name_of(*args, **kwargs)
        if find(name) is None:
            return self.shared(*args, **kwargs)
        load(name)
        kept = shelf.kept(name)
        if kept is None:  # put away in this moment
            return self.function(*args, **kwargs)
        bound = signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        told = tuple(_hashable(value) for argument, value in bound.arguments.items() if not argument.startswith("_"))
        found: Result = kept.get((self.key, told), lambda: self.function(*args, **kwargs))
        return found

    def clear(self) -> None:
        """Forget what is shared."""
        self.shared.clear()


def cached(
    entries: int, name_of: Callable[..., str] = lambda name, *_, **__: name
) -> Callable[[Callable[Arguments, Result]], Cached[Arguments, Result]]:
    """Keep so many results of a function; `name_of` finds the name of the model among its arguments, else it is the first."""
    return lambda function: Cached(function, entries, name_of)


def _hashable(value: Any) -> Any:
    return tuple(sorted(value.items())) if isinstance(value, Mapping) else value
