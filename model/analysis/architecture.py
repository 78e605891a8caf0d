"""The diagram of a model, read from its module tree and from the trace of a forward pass.

Nothing is listed beforehand. Stacks, layers, sublayers and norms are the modules that are there, in the order in which the trace
recorded them; which sentence a stack reads, where cross-attention takes its keys from, and whether the future is hidden
are read from the trace as well. So a model that is built otherwise is drawn otherwise.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import nn

from model.analysis.diagram import Architecture, Arrow, Box, Column, Flow, Role
from model.attention import MultiHeadAttention
from model.embedding import InputEmbedding
from model.layers import FeedForward, Residual
from model.trace import Activation, Trace
from model.transformer import Stack
from model.translator import Atlas

SYMBOLS = {"head": "h", "head_dim": "d_k", "vocab": "V"}
LENGTHS = {"source": "L_s", "target": "L_t"}


def of_translator(atlas: Atlas, trace: Trace) -> Architecture:
    """The diagram of a loaded model, with the shapes of this trace."""
    return drawn(atlas.model, trace)


def drawn(model: nn.Module, trace: Mapping[str, Activation], counted: nn.Module | None = None) -> Architecture:
    """The diagram of any model made of this project's modules, and of what one forward pass recorded in it.

    Parameters are counted on `counted`, a model with the same module tree, if one is given.
    """
    walk = _Walk(trace, dict((counted or model).named_modules()))
    modules = dict(model.named_modules())
    embeddings = {path: module for path, module in modules.items() if isinstance(module, InputEmbedding)}
    stacks = {path: module for path, module in modules.items() if isinstance(module, Stack)}
    recorded = {path: at for at, path in enumerate(trace)}
    for path in sorted(stacks, key=lambda path: recorded[f"{path}.output"]):
        walk.column(path, stacks[path], embeddings)
    head = {name: child for name, child in model.named_children() if name not in embeddings and name not in stacks}
    walk.head(head)
    return walk.finished()


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
    later = torch.ones(masked.shape[-2:], dtype=torch.bool, device=masked.device).triu(1)
    return bool(later.any()) and bool(torch.isneginf(masked[..., later]).all())


@dataclass
class _Walk:
    """Boxes and arrows found so far; `last` is the box whose output flows on."""

    trace: Mapping[str, Activation]
    modules: Mapping[str, nn.Module]  # on which parameters are counted, by path
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
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

    def finished(self) -> Architecture:
        """With the parameters counted, each matrix once."""
        users: dict[int, list[str]] = {}
        for box in self.boxes:
            for parameter in self.held(box):
                users.setdefault(id(parameter), []).append(box.id)
        boxes = tuple(self.counted(box, users) for box in self.boxes)
        columns = tuple(self.column_of(path) for path in dict.fromkeys(box.stack for box in boxes))
        return Architecture(boxes, tuple(self.arrows), columns, sum(box.new_parameters for box in boxes))

    def held(self, box: Box) -> list[nn.Parameter]:
        """The parameters of a box. Boxes that share a matrix hold the same object."""
        return list(self.modules[box.path].parameters()) if box.module else []

    def counted(self, box: Box, users: Mapping[int, Sequence[str]]) -> Box:
        held = self.held(box)
        others = dict.fromkeys(user for parameter in held for user in users[id(parameter)] if user != box.id)
        new = [parameter for parameter in held if users[id(parameter)][0] == box.id]
        return replace(box, parameters=_count(held), new_parameters=_count(new), shared_with=tuple(others))

    def column_of(self, path: str) -> Column:
        layers = {
            name: _count(module.parameters())
            for name, module in self.modules.items()
            if name.rpartition(".")[0] == f"{path}.layers"
        }
        sentence = self.trace[f"{path}.output"].spans["token"]
        return Column(path, sentence, tuple(layers), tuple(layers.values()), _count(self.modules[path].parameters()))


def _count(parameters: Iterable[nn.Parameter]) -> int:
    return sum(parameter.numel() for parameter in parameters)
