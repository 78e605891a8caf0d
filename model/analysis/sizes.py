"""What the parts of a drawn model hold, counted from its modules, and the same model with other settings beside it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from model import cost
from model.analysis.diagram import Architecture
from model.analysis.sketch import sketched
from model.config import ModelConfig, paper_base, paper_big
from model.trace import Trace
from model.translator import Atlas


@dataclass(frozen=True)
class StackTerms:
    """The sum of a stack: `layers` times (`attentions` of `attention` + `feed_forward` + `norms` of `norm`), and `final`.

    Parameters of one of each; `final` is those of the norm at the end of a pre-norm stack, 0 in post-norm.
    """

    path: str
    layers: int
    attentions: int
    attention: int
    feed_forward: int
    norms: int
    norm: int
    final: int
    total: int


@dataclass(frozen=True)
class Compared:
    """Parameters by part and layers by stack: here, and in the same model with other settings."""

    here: dict[str, int]
    there: dict[str, int]
    layers_here: dict[str, int]
    layers_there: dict[str, int]


def by_part(drawn: Architecture) -> dict[str, int]:
    """Parameters of `embeddings`, each stack by its path, `output`, and `total`; a shared matrix counts where it comes first."""
    outside = {"embeddings": 0, "output": 0}
    for box in drawn.boxes:
        if box.kind == "embedding":
            outside["embeddings"] += box.new_parameters
        elif box.kind in {"linear", "module"} and box.layer is None:
            outside["output"] += box.new_parameters
    stacks = {column.path: column.parameters for column in drawn.columns}
    return {"embeddings": outside["embeddings"], **stacks, "output": outside["output"], "total": drawn.parameters}


def stack_terms(drawn: Architecture) -> tuple[StackTerms, ...]:
    """The sum of each stack that has layers, read from the boxes of its first layer (all layers of a stack are alike)."""
    found = []
    for column in drawn.columns:
        held: dict[str, list[int]] = {"attention": [], "feed_forward": [], "norm": [], "final": []}
        for box in drawn.boxes:
            if box.stack == column.path and box.layer in (0, None) and (name := _summand(box.kind, box.layer)):
                held[name].append(box.parameters)
        if not column.layers or not held["attention"]:
            continue
        found.append(
            StackTerms(
                path=column.path,
                layers=len(column.layers),
                attentions=len(held["attention"]),
                attention=held["attention"][0],
                feed_forward=sum(held["feed_forward"]),
                norms=len(held["norm"]),
                norm=held["norm"][0],
                final=sum(held["final"]),
                total=column.parameters,
            )
        )
    return tuple(found)


def _summand(kind: str, layer: int | None) -> str:
    if layer is None:
        return "final" if kind == "norm" else ""
    if kind.endswith("attention"):
        return "attention"
    return {"feed_forward": "feed_forward", "norm": "norm", "add_norm": "norm"}.get(kind, "")


SETTINGS: dict[str, Callable[[ModelConfig], ModelConfig]] = {
    "base": lambda config: paper_base(),
    "big": lambda config: paper_big(),
    "norm": lambda config: replace(config, norm="pre" if config.norm == "post" else "post"),
    "positions": lambda config: replace(config, positions="sinusoidal" if config.positions == "rotary" else "rotary"),
    "tie": lambda config: replace(config, tie="target" if config.tie == "none" else "none"),
}


def compared(atlas: Atlas, name: str) -> Compared:
    """The model beside one with the settings `name` (see `SETTINGS`). No sentence changes these counts."""
    here, there = (sketched(config, 1, 1) for config in (atlas.config, SETTINGS[name](atlas.config)))
    return Compared(by_part(here), by_part(there), _layers(here), _layers(there))


def _layers(drawn: Architecture) -> dict[str, int]:
    return {column.path: len(column.layers) for column in drawn.columns}


def operations(atlas: Atlas, trace: Trace, name: str) -> tuple[int, int]:
    """Floating-point operations of one forced pass over this pair of sentences: here, and with the settings `name`."""
    lengths = len(trace.source), len(trace.target)
    return cost.flops(atlas.config, *lengths), cost.flops(SETTINGS[name](atlas.config), *lengths)


def variant(atlas: Atlas, trace: Trace, name: str) -> Architecture:
    """The diagram with the settings `name`, for sentences as long as those of the trace."""
    return sketched(SETTINGS[name](atlas.config), len(trace.source), len(trace.target))
