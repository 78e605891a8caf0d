"""A model as a diagram: boxes and arrows read from its module tree and from the trace of a forward pass.

Nothing is listed beforehand. Stacks, layers, sublayers and norms are the modules that are there, in the order in which the trace
recorded them; which sentence a stack reads, where cross-attention takes its keys from, and whether the future is hidden
are read from the trace as well. So a model that is built otherwise is drawn otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor, nn

from model.attention import MultiHeadAttention
from model.config import ModelConfig
from model.embedding import InputEmbedding
from model.layers import FeedForward, Residual
from model.trace import Activation, Trace, tracing
from model.transformer import EncoderDecoder, Stack
from model.translator import Translator

Role = Literal["flow", "residual", "memory", "mask", "position"]

SYMBOLS = {"head": "h", "head_dim": "d_k", "vocab": "V"}
LENGTHS = {"source": "L_s", "target": "L_t"}


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


def of_translator(atlas: Translator, trace: Trace) -> Architecture:
    """The diagram of a loaded model, with the shapes of this trace."""
    return drawn(atlas.model, trace)


def sketched(config: ModelConfig, source: int, target: int) -> Architecture:
    """The diagram of a model of these settings that nobody has trained, for sentences of these lengths in tokens.

    Its modules are real, but made on PyTorch's `meta` device, where a tensor has a shape and no numbers: the paper's
    big model costs milliseconds.
    """
    with torch.device("meta"), tracing() as recording:
        untrained = EncoderDecoder(config).eval()
        untrained(torch.zeros(1, source, dtype=torch.long), torch.zeros(1, target, dtype=torch.long))
    return drawn(untrained, recording.activations)


def drawn(model: nn.Module, trace: Mapping[str, Activation]) -> Architecture:
    """The diagram of any model made of this project's modules, and of what one forward pass recorded in it."""
    walk = _Walk(trace)
    modules = dict(model.named_modules())
    embeddings = {path: module for path, module in modules.items() if isinstance(module, InputEmbedding)}
    stacks = {path: module for path, module in modules.items() if isinstance(module, Stack)}
    recorded = {path: at for at, path in enumerate(trace)}
    for path in sorted(stacks, key=lambda path: recorded[f"{path}.output"]):
        walk.column(path, stacks[path], embeddings)
    head = {name: child for name, child in model.named_children() if name not in embeddings and name not in stacks}
    walk.head(head)
    return walk.finished(stacks)


def flow(activation: Activation, keep: int | None = None) -> Flow:
    """The shape of a recorded tensor without its batch; with `keep`, of its last axes alone."""
    axes = [(_symbol(activation, axis), size) for axis, size in zip(activation.axes, activation.tensor.shape, strict=True)]
    kept = [entry for entry in axes if entry[0] != "batch"][-keep if keep else 0 :]
    return Flow(activation.path, tuple(symbol for symbol, _ in kept), tuple(size for _, size in kept))


def _symbol(activation: Activation, axis: str) -> str:
    return LENGTHS.get(activation.spans.get(axis, ""), SYMBOLS.get(axis, axis))


def hides_the_future(trace: Mapping[str, Activation], attention: str) -> bool:
    """Whether every score of a later key was taken away before the softmax. A single query has no later key to hide."""
    scores, masked = trace[f"{attention}.scores"].tensor, trace[f"{attention}.masked"].tensor
    if masked is scores:
        return False
    if masked.is_meta:  # no numbers to look at; without padding, the one mask that there can be is the causal one
        return True
    later = torch.ones(masked.shape[-2:], dtype=torch.bool, device=masked.device).triu(1)
    return bool(later.any()) and bool(torch.isneginf(masked[..., later]).all())


@dataclass
class _Walk:
    """Boxes and arrows found so far; `last` is the box whose output flows on."""

    trace: Mapping[str, Activation]
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    modules: dict[str, nn.Module] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)  # of each sentence, the box at the end of its stack
    stack: str = ""
    layer: int | None = None
    last: str = ""

    def add(
        self,
        kind: str,
        path: str,
        inputs: Sequence[Flow],
        output: Flow,
        *,
        id: str = "",
        module: nn.Module | None = None,
        inside: Flow | None = None,
        notes: Sequence[str] = (),
    ) -> str:
        """Put down a box, and return its id."""
        name = type(module).__name__ if module else ""
        box = Box(id or path, kind, path, name, self.stack, self.layer, tuple(inputs), output, inside, tuple(notes))
        self.boxes.append(box)
        if module:
            self.modules[box.id] = module
        return box.id

    def arrow(self, start: str, end: str, role: Role, what: Flow) -> None:
        self.arrows.append(Arrow(start, end, role, what))

    def column(self, path: str, stack: Stack, embeddings: Mapping[str, InputEmbedding]) -> None:
        """A stack, from the tokens that it reads to its end."""
        self.stack, self.layer = path, None
        leaving = self.trace[f"{path}.output"]
        sentence = leaving.spans["token"]
        self.last = ""
        for name, embedding in embeddings.items():
            if self.trace[f"{name}.embedding"].spans["token"] == sentence:
                self.embedding(name, embedding, flow(leaving))
        for index, (name, layer) in enumerate(stack.layers.named_children()):
            self.layer = index
            self.one_layer(f"{path}.layers.{name}", layer)
        self.layer = None
        if not isinstance(stack.norm, nn.Identity):
            entering = self.boxes[-1].output
            end = self.add("norm", f"{path}.norm", [entering], flow(leaving), module=stack.norm, notes=["final"])
            self.arrow(self.last, end, "flow", entering)
            self.last = end
        elif stack.layers:  # what the last layer makes is what leaves the stack: it goes by that name
            self.boxes[-1] = replace(self.boxes[-1], output=flow(leaving))
        self.ends[sentence] = self.last

    def embedding(self, path: str, module: InputEmbedding, stream: Flow) -> None:
        """Token ids to vectors, and their positions if those are added here. `stream`: the shape that leaves the stack."""
        looked_up = flow(self.trace[f"{path}.embedding"])
        ids = Flow("", looked_up.symbols[:1], looked_up.sizes[:1])
        tokens = self.add("tokens", "", [], ids, id=f"{self.stack}:tokens")
        table = self.add("embedding", path, [ids], looked_up, module=module, notes=["scaled"])
        self.arrow(tokens, table, "flow", ids)
        self.last = table
        if module.positions is None:
            return
        position = flow(self.trace[f"{path}.position"])
        entering = self.trace.get(f"{self.stack}.layers.0.residual.0.input")
        summed = flow(entering) if entering else replace(stream, path="")
        added = self.add("position", f"{path}.positions", [ids], position)
        plus = self.add("plus", "", [looked_up, position], summed, id=f"{path}:plus")
        self.arrow(table, plus, "flow", looked_up)
        self.arrow(added, plus, "position", position)
        self.last = plus

    def one_layer(self, path: str, layer: nn.Module) -> None:
        """Sublayers in their order, each inside the residual of the same number."""
        residuals = [(name, module) for name, module in layer.named_modules() if isinstance(module, Residual)]
        sublayers = [(name, child) for name, child in layer.named_children() if not isinstance(child, nn.ModuleList)]
        for (around, residual), (name, sublayer) in zip(residuals, sublayers, strict=True):
            self.one_sublayer(f"{path}.{around}", residual, f"{path}.{name}", sublayer)

    def one_sublayer(self, around: str, residual: Residual, path: str, sublayer: nn.Module) -> None:
        entering, changed, total, normed = (
            flow(self.trace[f"{around}.{name}"]) for name in ("input", "sublayer", "sum", "normed")
        )
        before, inner = self.last, entering
        if residual.pre_norm:
            norm = self.add("norm", f"{around}.norm", [entering], normed, module=residual.norm)
            self.arrow(before, norm, "flow", entering)
            self.last, inner = norm, normed
        made = self.sublayer(path, sublayer, inner, changed)
        if residual.pre_norm:
            after = self.add("add", around, [entering, changed], total)
        else:
            after = self.add("add_norm", around, [entering, changed], normed, module=residual)
        self.arrow(made, after, "flow", changed)
        self.arrow(before, after, "residual", entering)
        self.last = after

    def sublayer(self, path: str, module: nn.Module, inner: Flow, changed: Flow) -> str:
        """What stands inside a residual: an attention, with its mask and its memory, or feed-forward, or anything else."""
        kind, notes, inputs, inside = "module", [], [inner], None
        memory = mask = ""
        if isinstance(module, MultiHeadAttention):
            inside = flow(self.trace[f"{path}.weights"])
            spans = self.trace[f"{path}.weights"].spans
            kind = "self_attention" if spans["query"] == spans["key"] else "cross_attention"
            notes = ["rotary"] if module.rotary else []
            if kind == "cross_attention":
                memory = self.ends[spans["key"]]
                inputs.append(self.output_of(memory))
            elif hides_the_future(self.trace, path):
                kind = "masked_self_attention"
                hidden = replace(flow(self.trace[f"{path}.masked"], keep=2), path="")
                mask = self.add("mask", "", [], hidden, id=f"{path}:mask")
                inputs.append(hidden)
        elif isinstance(module, FeedForward):
            kind, notes = "feed_forward", [type(module.activation).__name__.lower()]
            inside = flow(self.trace[f"{path}.hidden"])
        made = self.add(kind, path, inputs, changed, module=module, inside=inside, notes=notes)
        self.arrow(self.last, made, "flow", inner)
        if memory:
            self.arrow(memory, made, "memory", inputs[-1])
        if mask:
            self.arrow(mask, made, "mask", inputs[-1])
        return made

    def head(self, modules: Mapping[str, nn.Module]) -> None:
        """What follows the last stack: the modules beside the stacks, softmax, and the tokens that come out."""
        entering = self.output_of(self.last)
        for name, module in modules.items():
            leaving = flow(self.trace["logits"])
            made = self.add("linear" if isinstance(module, nn.Linear) else "module", name, [entering], leaving, module=module)
            self.arrow(self.last, made, "flow", entering)
            self.last, entering = made, leaving
        probabilities = replace(entering, path="")
        softmax = self.add("softmax", "", [entering], probabilities, id=f"{self.stack}:softmax")
        self.arrow(self.last, softmax, "flow", entering)
        tokens = Flow("", probabilities.symbols[:1], probabilities.sizes[:1])
        produced = self.add("produced", "", [probabilities], tokens, id=f"{self.stack}:produced")
        self.arrow(softmax, produced, "flow", probabilities)

    def output_of(self, id: str) -> Flow:
        return next(box.output for box in self.boxes if box.id == id)

    def finished(self, stacks: Mapping[str, Stack]) -> Architecture:
        """With the parameters counted, each matrix once."""
        users: dict[int, list[str]] = {}
        for id, module in self.modules.items():
            for parameter in module.parameters():
                users.setdefault(_identity(parameter), []).append(id)
        boxes = tuple(self.counted(box, users) for box in self.boxes)
        columns = tuple(_column(path, stacks[path], self.trace) for path in dict.fromkeys(box.stack for box in boxes))
        return Architecture(boxes, tuple(self.arrows), columns, sum(box.new_parameters for box in boxes))

    def counted(self, box: Box, users: Mapping[int, Sequence[str]]) -> Box:
        if box.id not in self.modules:
            return box
        held = list(self.modules[box.id].parameters())
        others = dict.fromkeys(user for parameter in held for user in users[_identity(parameter)] if user != box.id)
        new = [parameter for parameter in held if users[_identity(parameter)][0] == box.id]
        return replace(box, parameters=_count(held), new_parameters=_count(new), shared_with=tuple(others))


def _column(path: str, stack: Stack, trace: Mapping[str, Activation]) -> Column:
    layers = {f"{path}.layers.{name}": _count(layer.parameters()) for name, layer in stack.layers.named_children()}
    sentence = trace[f"{path}.output"].spans["token"]
    return Column(path, sentence, tuple(layers), tuple(layers.values()), _count(stack.parameters()))


def _count(parameters: Iterator[nn.Parameter] | Sequence[Tensor]) -> int:
    return sum(parameter.numel() for parameter in parameters)


def _identity(parameter: Tensor) -> int:
    """Two modules that share a matrix hold the same object. (Its memory says nothing on the meta device.)"""
    return id(parameter)
