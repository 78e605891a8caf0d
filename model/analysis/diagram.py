"""A model as a diagram: boxes, and the arrows between them with what flows along."""

from dataclasses import dataclass
from typing import Literal

Role = Literal["flow", "residual", "memory", "mask", "position"]


@dataclass(frozen=True)
class Flow:
    """What runs along an arrow: its path in the trace ("" if it is not recorded), its axes as symbols, its sizes."""

    path: str
    symbols: tuple[str, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Box:
    """One step of the computation.

    `path` is its place in the module tree, "" for a function without parameters, and `module` the name of its class.
    `stack` is the path of the stack it belongs to and `layer` its layer there, None before and after the layers.
    `inputs` are what enters, `output` what leaves, `inside` what it computes in between: the weights of an attention, the
    hidden units of feed-forward. `parameters` counts its own; `shared_with` names the boxes that
    use one of the same matrices, and `new_parameters` leaves out what an earlier box has counted already.
    """

    id: str
    kind: str
    path: str
    module: str
    stack: str
    layer: int | None
    inputs: tuple[Flow, ...]
    output: Flow
    inside: Flow | None = None
    notes: tuple[str, ...] = ()
    parameters: int = 0
    new_parameters: int = 0
    shared_with: tuple[str, ...] = ()


@dataclass(frozen=True)
class Arrow:
    """What flows from one box into another."""

    start: str
    end: str
    role: Role
    flow: Flow


@dataclass(frozen=True)
class Column:
    """A stack of layers: its path, the sentence along it ("source" or "target"), the paths and parameters of its layers."""

    path: str
    sentence: str
    layers: tuple[str, ...]
    layer_parameters: tuple[int, ...]
    parameters: int


@dataclass(frozen=True)
class Architecture:
    """A whole model: boxes in the order in which data flows, the arrows between them, one column for each stack."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    columns: tuple[Column, ...]
    parameters: int

    def box(self, id: str) -> Box:
        """The box of this id; KeyError if there is none."""
        return {box.id: box for box in self.boxes}[id]

    def sublayer(self, box: Box) -> Box | None:
        """The attention or feed-forward that a norm, sum or mask belongs to, or that it is; None outside the layers."""
        if box.layer is None:
            return None
        if box.kind in {"norm", "mask"}:
            return next(self.box(arrow.end) for arrow in self.arrows if arrow.start == box.id)
        if box.kind in {"add", "add_norm"}:
            return next(self.box(arrow.start) for arrow in self.arrows if arrow.end == box.id and arrow.role == "flow")
        return box
