"""A process that measures for another: requests come in as lines, and what was found goes out as lines.

`python -m model.apart` reads from its standard input until that ends, so it never outlives whoever started it. It gives way to
others and computes on one thread. A request names one of `FUNCTIONS`, a shipped model, perhaps a pair whose trace the function
reads, and its arguments (`model.plain`): nothing of it is run as code.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TextIO

from model import plain
from model.translator import Atlas, Translation, load

FUNCTIONS = frozenset(
    {
        "model.analysis.ablation.importance",
        "model.analysis.cheating.beside",
        "model.analysis.families.continued",
        "model.analysis.families.masked",
        "model.analysis.feed_forward.corpora",
        "model.analysis.lengths.loss_by_length",
        "model.analysis.lens.from_encoder_layers",
        "model.analysis.purpose.outcomes",
        "model.analysis.purpose.outcomes_of",
        "model.analysis.rotated.measure",
        "model.analysis.schedules_tried.shifts",
        "model.analysis.stacks.arrangements",
        "model.analysis.tying.misplaced",
    }
)
"""What may be asked for: all that takes a tenth of a second or more."""


@dataclass(frozen=True)
class Request:
    """`source` and `target` are of the trace that the function reads; of one that reads none, `source` is None."""

    function: str
    model: str
    source: str | None
    target: str | Translation | None
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Answer:
    """What was found, or why nothing was: then `error` is not empty."""

    found: Any = None
    error: str = ""


@lru_cache(maxsize=8)
def _model(name: str) -> Atlas:
    return load(name)


def found(request: Request) -> Any:
    """What the function finds; ValueError for one that is not among `FUNCTIONS`."""
    if request.function not in FUNCTIONS:
        raise ValueError(f"{request.function!r} is not computed here; it has to be among model.apart.FUNCTIONS")
    module, _, name = request.function.rpartition(".")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    atlas = _model(request.model)
    if request.source is None:
        return function(atlas, *request.arguments)
    return function(atlas, atlas.trace(request.source, request.target), *request.arguments)


def answer(line: str) -> str:
    """The line that answers a line. What goes wrong is an answer too."""
    try:
        return plain.write(Answer(found(plain.read(line))))
    except Exception as error:  # whoever asked computes it itself, and meets the same error where it belongs
        return plain.write(Answer(error=f"{type(error).__name__}: {error}"))


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer line by line until there are no more."""
    for line in requests:
        answers.write(f"{answer(line)}\n")
        answers.flush()
