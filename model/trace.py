"""Recording: what a forward pass computed, by name, with the axes of every tensor.

The axes, one glossary for the whole project:

    batch     sentences computed together; always kept, 1 in a trace of one sentence
    head      attention heads, h of them
    query     positions that look (rows); knows its sentence, "source" or "target"
    key       positions that are looked at (columns); knows its sentence
    token     positions of one sentence, where nobody looks at anybody
    d_model   the width of the residual stream
    head_dim  the width of one head, d_model / h
    d_ff      the width of the feed-forward layer's inside
    vocab     entries of the target vocabulary

Recording is off unless inside `with tracing() as recording:`. The recording is a context variable, so threads that use
one model at the same time never mix, and a forward pass gives the same bits with and without it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache

from torch import Tensor, nn
from torch.compiler import is_compiling

from model.tokenizer import Token

Edit = Callable[[Tensor], Tensor]


class UnknownPathError(KeyError):
    """A path that the forward pass did not record, or that cannot be edited."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Activation:
    """One recorded tensor that carries its own labels.

    `axes` names each dimension of `tensor`; `spans` says for the axes query, key and token along which sentence
    ("source" or "target") they run.
    """

    path: str
    tensor: Tensor
    axes: tuple[str, ...]
    spans: Mapping[str, str]

    def size(self, axis: str) -> int:
        """The length of the named axis."""
        return self.tensor.shape[self.axes.index(axis)]


@dataclass
class Recording:
    """What one `tracing` collects: activations in order, and the edits still to be applied."""

    edits: Mapping[str, Edit]
    only: frozenset[str] | None
    activations: dict[str, Activation] = field(default_factory=dict)
    edited: set[str] = field(default_factory=set)

    def __getitem__(self, path: str) -> Activation:
        return self.activations[path]

    def keep(self, path: str, tensor: Tensor, axes: str, spans: Mapping[str, str]) -> None:
        if self.only is not None and path not in self.only:
            return
        names = _names(axes)
        if len(names) != tensor.ndim:
            raise ValueError(f"{path} has shape {tuple(tensor.shape)}, but its axes are named {axes!r}")
        self.activations[path] = Activation(path, tensor, names, {axis: spans[axis] for axis in names if axis in spans})


@cache
def _names(axes: str) -> tuple[str, ...]:
    return tuple(axes.split())


_recording: ContextVar[Recording | None] = ContextVar("recording", default=None)


@contextmanager
def tracing(edits: Mapping[str, Edit] | None = None, only: frozenset[str] | None = None) -> Iterator[Recording]:
    """Record every forward pass of this thread inside the `with`; a later pass overwrites an earlier one.

    `edits` maps a path to a function from tensor to tensor of the same shape, applied where the value is computed, so
    that everything downstream uses the edited one. `only` keeps just these paths. An edit whose path no forward pass
    reached raises `UnknownPathError` at the end.
    """
    recording = Recording(dict(edits or {}), only)
    token = _recording.set(recording)
    try:
        yield recording
    finally:
        _recording.reset(token)
    if missed := sorted(set(recording.edits) - recording.edited):
        raise UnknownPathError(
            f"no value to edit at {', '.join(missed)}; a path looks like decoder.layers.1.cross_attention.weights and ends "
            "in query, key, value, scores, weights or context"
        )


class Traced(nn.Module):
    """A module that knows its dotted name and publishes what it computes."""

    path: str = ""
    spans: Mapping[str, str] = {}

    def record(self, axes: str, **values: Tensor) -> None:
        """Publish values under this module's path; nothing happens unless somebody is tracing."""
        if is_compiling() or (recording := _recording.get()) is None:
            return
        for name, tensor in values.items():
            recording.keep(f"{self.path}.{name}" if self.path else name, tensor, axes, self.spans)

    def tap(self, axes: str, **value: Tensor) -> Tensor:
        """Publish one value and return it, or what the caller's edit made of it."""
        ((name, tensor),) = value.items()
        if is_compiling() or (recording := _recording.get()) is None:
            return tensor
        path = f"{self.path}.{name}"
        if edit := recording.edits.get(path):
            recording.edited.add(path)
            edited = edit(tensor)
            if edited.shape != tensor.shape:
                raise ValueError(
                    f"the edit of {path} returned shape {tuple(edited.shape)}; needed is {tuple(tensor.shape)}, the axes {axes}"
                )
            tensor = edited
        recording.keep(path, tensor, axes, self.spans)
        return tensor


def name_modules(root: nn.Module, spans: Callable[[str], Mapping[str, str]]) -> None:
    """Tell every traced module its path in the module tree and the sentences along its axes."""
    for path, module in root.named_modules():
        if isinstance(module, Traced):
            module.path, module.spans = path, spans(path)


@dataclass(frozen=True)
class Trace(Mapping[str, Activation]):
    """One forced pass over a pair of sentences: every recorded value by path, with the tokens that label the axes.

    Row r of the decoder reads `target[r]` and produces `produced[r]`: both tuples are equally long, `target` begins with
    the start token and `produced` ends with the end token. `log_probabilities[r]` is the natural logarithm of the
    probability that the model gave `produced[r]`.
    """

    activations: Mapping[str, Activation]
    source: tuple[Token, ...]
    target: tuple[Token, ...]
    produced: tuple[Token, ...]
    log_probabilities: tuple[float, ...]
    source_text: str
    target_text: str

    def __getitem__(self, path: str) -> Activation:
        try:
            return self.activations[path]
        except KeyError:
            raise UnknownPathError(f"nothing was recorded at {path!r}; iterate over the trace to see its paths") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.activations)

    def __len__(self) -> int:
        return len(self.activations)

    def tokens(self, sentence: str) -> tuple[Token, ...]:
        """The tokens along a span: "source" or "target" (those that were read)."""
        return {"source": self.source, "target": self.target}[sentence]
