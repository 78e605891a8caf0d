"""A process that measures for another: requests come in as lines, and what was found goes out as lines.

`python -m model.apart` reads from its standard input until that ends, so it never outlives whoever started it. It gives way to
others and computes on one thread. A request names one of `FUNCTIONS`, a shipped model, perhaps a pair whose trace the function
reads, and its arguments (`model.plain`): nothing of it is run as code.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TextIO

from model import plain
from model.trace import Trace
from model.translator import Atlas, Translation, load

Pace = Literal["quick", "long"]

FUNCTIONS: Mapping[str, Pace] = {
    "model.analysis.ablation.importance": "long",
    "model.analysis.agreement.of_trace": "quick",
    "model.analysis.altered_layers.damage": "quick",
    "model.analysis.changed_heads.scores": "quick",
    "model.analysis.changed_heads.written": "quick",
    "model.analysis.cheating.beside": "long",
    "model.analysis.decoding_steps.beside": "quick",
    "model.analysis.decoding_steps.cached": "quick",
    "model.analysis.decoding_steps.written_out": "quick",
    "model.analysis.edited.written": "quick",
    "model.analysis.embeddings.without_factor": "quick",
    "model.analysis.embeddings.without_position": "quick",
    "model.analysis.families.continued": "quick",
    "model.analysis.families.masked": "long",
    "model.analysis.feed_forward.corpora": "long",
    "model.analysis.lengths.loss_by_length": "long",
    "model.analysis.lens.from_encoder_layers": "long",
    "model.analysis.order.compare": "long",
    "model.analysis.painted.damage": "quick",
    "model.analysis.painted.damaged_text": "quick",
    "model.analysis.painted.written": "quick",
    "model.analysis.purpose.outcomes": "long",
    "model.analysis.purpose.outcomes_of": "long",
    "model.analysis.rotated.maps_without": "quick",
    "model.analysis.rotated.measure": "quick",
    "model.analysis.schedules_tried.shifts": "long",
    "model.analysis.stacks.arrangements": "long",
    "model.analysis.tying.misplaced": "long",
    "model.analysis.variants.measure": "quick",
    "model.analysis.variants.written": "quick",
    "model.apart.written": "quick",
}
"""What may be asked for, and which of two processes computes it: what takes some twentieth of a second, and what takes longer."""

FIRST = "model.apart.written"  # goes before all others: without the translation a page has nothing to show


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


@lru_cache(maxsize=8)
def _trace(name: str, source: str, target: str | Translation | None) -> Trace:
    return _model(name).trace(source, target)


def written(atlas: Atlas, source: str, beam: int, limit: int | None) -> Translation:
    """What a model writes of a text, or after it."""
    return atlas.write(source, beam, limit)


def found(request: Request) -> Any:
    """What the function finds; ValueError for one that is not of `FUNCTIONS`."""
    if request.function not in FUNCTIONS:
        raise ValueError(f"{request.function!r} is not computed here; it has to stand in model.apart.FUNCTIONS")
    module, _, name = request.function.rpartition(".")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    atlas = _model(request.model)
    if request.source is None:
        return function(atlas, *request.arguments)
    return function(atlas, _trace(request.model, request.source, request.target), *request.arguments)


def answer(line: str) -> str:
    """The line that answers a line; an empty one only asks whether anybody is there. What goes wrong is an answer too."""
    try:
        return plain.write(Answer(found(plain.read(line)) if line.strip() else None))
    except Exception as error:  # whoever asked computes it itself, and meets the same error where it belongs
        return plain.write(Answer(error=f"{type(error).__name__}: {error}"))


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer line by line until there are no more."""
    for line in requests:
        answers.write(f"{answer(line)}\n")
        answers.flush()
