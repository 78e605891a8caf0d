"""Checks the shapes and types on signatures: what jaxtyping's import hook puts on every function of `model` in the tests."""

import functools
import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any, BinaryIO, TextIO

from beartype import BeartypeConf, FrozenDict, beartype

# An int is welcome where a float is written, as mypy and PEP 484 have it. Open files are left to mypy: no file of `io`, not even
# that of open(), has all that the checker wants of a BinaryIO.
TOWER = BeartypeConf(is_pep484_tower=True, hint_overrides=FrozenDict({BinaryIO: object, TextIO: object}))


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """beartype, which jaxtyping asks twice: for the arguments, and for those together with the result.

    The sizes that the arguments had are still known the second time, so that the result alone is looked at.
    """
    hints = function.__annotations__
    if hints.get("return", Any) is not Any:
        function.__annotations__ = {"return": hints["return"]}
    return beartype(function, conf=TOWER)


CHECKED_CALLS = 6  # of a function in each test: what passed six times is not looked at a seven hundredth time
calls: Counter[Callable[..., Any]] = Counter()


def first_calls_of_each_test(jaxtyped: Callable[..., Any]) -> Callable[..., Any]:
    """`jaxtyping.jaxtyped`, which the import hook writes before every function, for the first calls of a test alone.

    Checking every call took half of the time of all tests of `model`.
    """

    def decorator(*, typechecker: Any) -> Callable[[Any], Any]:
        def decorate(function: Any) -> Any:
            checking = jaxtyped(typechecker=typechecker)(function)
            if not inspect.isfunction(function):  # a dataclass
                return checking

            @functools.wraps(function)
            def call(*arguments: Any, **named: Any) -> Any:
                calls[function] += 1
                return (checking if calls[function] <= CHECKED_CALLS else function)(*arguments, **named)

            return call

        return decorate

    return decorator
