"""What numbers have to be before they are shown as attention, and the trace that is made of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from model.adapters.matrices.labels import tokens
from model.adapters.matrices.problem import MatrixError, said
from model.alignment.formats.problem import Message
from model.trace import Activation, Trace

LARGEST = 25_000_000  # weights in all: 6 layers of 16 heads over 512 tokens
LONGEST = 512  # tokens along an axis
TOLERANCE = 0.02
"""How far the sum of a row may be from 1: numbers printed with few digits, or stored in half precision."""

HIGHEST = 2.0
"""A weight with dropout left on is divided by the share that is kept, which nobody takes below a half."""

Kind = Literal["encoder.self_attention", "decoder.self_attention", "decoder.cross_attention"]
AXES = ("layer", "head", "query", "key")


@dataclass(frozen=True)
class Map:
    """The weights of one attention, (layer, head, query, key); layers may differ in nothing but their numbers."""

    kind: Kind
    weights: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Made:
    """A trace, and what is doubtful about the numbers in it."""

    trace: Trace
    doubts: tuple[Message, ...] = ()


@dataclass
class Checked:
    """Weights that may be shown; `hidden` are rows (layer, head, query) without a key that may be read."""

    weights: npt.NDArray[np.float32]
    hidden: npt.NDArray[np.bool_]
    doubts: list[Message] = field(default_factory=list)


def numbers(values: Any, array: str) -> npt.NDArray[np.float32]:
    """Nested lists or an array as float32; ragged lists and anything but numbers are refused."""
    if values is None:
        raise MatrixError("none", array=array)
    try:
        found = np.asarray(values)
    except (ValueError, OverflowError):
        raise MatrixError("ragged", array=array) from None
    if found.dtype.kind not in "fiu":
        raise MatrixError("kind", array=array, given=str(found.dtype))
    if found.size > LARGEST:
        raise MatrixError("weights", array=array, given=found.size, limit=LARGEST)
    with np.errstate(over="ignore"):
        return found.astype(np.float32)


def stacked(values: Any, array: str) -> npt.NDArray[np.float32]:
    """Weights as (layer, head, query, key): of one matrix, of the heads of a layer, or of layers; a batch of one is dropped."""
    if isinstance(values, (list, tuple)):
        if any(layer is None for layer in values):
            raise MatrixError("none", array=array)
        shapes = {layer.shape for layer in values if isinstance(layer, np.ndarray)}
        if len(shapes) > 1:
            raise MatrixError("shapes", array=array, given=" and ".join(str(shape) for shape in sorted(shapes)[:3]))
    try:
        found = numbers(values, array)
    except MatrixError as error:
        raise (_unequal(values, array) if error.message.code == "ragged" else None) or error from None
    if found.ndim == 5 and found.shape[1] == 1:  # (layer, batch, head, query, key)
        found = found[:, 0]
    if found.ndim == 5 and found.shape[0] == 1:
        found = found[0]
    if not 2 <= found.ndim <= 4:
        raise MatrixError("rank", array=array, axes=found.ndim, shape=str(found.shape))
    found = found.reshape((1,) * (4 - found.ndim) + found.shape)
    for axis, size in zip(AXES, found.shape, strict=True):
        if size == 0:
            raise MatrixError("no_places", array=array, axis=axis, shape=str(found.shape))
    return found


def _unequal(values: Any, array: str) -> MatrixError | None:
    """What is wrong where each layer is whole by itself, but they are not of one shape."""
    try:
        shapes = sorted({np.shape(layer) for layer in values})
    except ValueError:
        return None
    if len(shapes) < 2 or min(map(len, shapes)) < 2:
        return None
    return MatrixError("shapes", array=array, given=" and ".join(str(shape) for shape in shapes[:3]))


def checked(weights: npt.NDArray[np.float32], array: str) -> Checked:
    """Weights that are finite and not negative. Rows that do not sum to 1 are doubted, those without any weight are hidden."""
    for axis, size in zip(AXES[2:], weights.shape[2:], strict=True):
        if size > LONGEST:
            raise MatrixError("long", array=array, axis=axis, given=size, limit=LONGEST)
    missing = np.asarray(np.isnan(weights).all(axis=-1))  # what a softmax makes of a row in which every key is masked
    weights = np.where(np.expand_dims(missing, -1), np.float32(0.0), weights) if missing.any() else weights
    for code, wrong in (("not_finite", ~np.isfinite(weights)), ("negative", weights < 0), ("above", weights > HIGHEST)):
        if wrong.any():
            place = _first(wrong)
            given = f"{weights[place]:.4g}"
            raise MatrixError(code, array=array, given=given, **_named(place))
    sums = weights.sum(axis=-1, dtype=np.float64)
    hidden = sums == 0
    found = Checked(weights, hidden)
    wrong = (np.abs(sums - 1) > TOLERANCE + 1e-6) & ~hidden
    if wrong.any():
        place = _first(wrong)
        if np.abs(weights.sum(axis=-2, dtype=np.float64) - 1).max() <= TOLERANCE:
            raise MatrixError("swapped", array=array, given=f"{sums[place]:.4g}", **_named(place))
        least, most = (f"{value:.4g}" for value in (sums[wrong].min(), sums[wrong].max()))
        counts = {"given": int(wrong.sum()), "rows": sums.size}
        found.doubts.append(said("sums", array=array, least=least, most=most, **counts, **_named(place)))
    if hidden.any():
        found.doubts.append(said("no_key", array=array, given=int(hidden.sum()), rows=sums.size))
    return found


def made(
    maps: Sequence[Map], sides: Mapping[str, Sequence[str]], produced: Sequence[str] = (), shares: Sequence[float] = ()
) -> Made:
    """The trace of some maps; `sides` has the tokens of "source" and "target" (those that were read) where a map runs along them.

    `produced` are the tokens that the rows of the target wrote, if the file says so; `shares` their log-probabilities.
    """
    kept = {side: list(sides.get(side) or ()) for side in ("source", "target")}
    activations: dict[str, Activation] = {}
    doubts: list[Message] = []
    for found in maps:
        stack, name = found.kind.split(".")
        query = "source" if stack == "encoder" else "target"
        spans = {"query": query, "key": "source" if name == "cross_attention" else query}
        right = checked(found.weights, found.kind)
        doubts += right.doubts
        for axis, size in zip(("query", "key"), right.weights.shape[2:], strict=True):
            side = spans[axis]
            if not kept[side]:
                kept[side] = [str(place) for place in range(size)]
                doubts.append(said("no_tokens", side=side))
            if size != len(kept[side]):
                raise MatrixError("tokens", array=found.kind, axis=axis, places=size, side=side, tokens=len(kept[side]))
        for layer, (one, hidden) in enumerate(zip(right.weights, right.hidden, strict=True)):
            recorded = _recorded(f"{stack}.layers.{layer}.{name}", one, hidden, spans)
            activations |= {activation.path: activation for activation in recorded}
    if produced and len(produced) != len(kept["target"]):
        raise MatrixError("produced", given=len(produced), needed=len(kept["target"]))
    if shares and len(shares) != len(produced):
        raise MatrixError("shares", given=len(shares), needed=len(produced))
    source, source_text = tokens(kept["source"])
    target, target_text = tokens(kept["target"])
    written, written_text = tokens(produced)
    if written_text.startswith(target_text):  # as a rule: a row reads what the one before wrote
        target_text = written_text
    elif not target_text.startswith(written_text):  # the best tokens of a forced pass, say: a text of their own
        start = len(target_text) + 1
        written = tuple(replace(token, span=(token.span[0] + start, token.span[1] + start)) for token in written)
        target_text = f"{target_text} {written_text}"
    return Made(Trace(activations, source, target, written, tuple(shares), source_text, target_text), tuple(doubts))


def _recorded(
    path: str, weights: npt.NDArray[np.float32], hidden: npt.NDArray[np.bool_], spans: Mapping[str, str]
) -> Iterable[Activation]:
    """The weights of a layer, and where a row may read no key the scores that say so."""
    axes = ("batch", "head", "query", "key")
    yield Activation(f"{path}.weights", torch.from_numpy(np.ascontiguousarray(weights))[None], axes, spans)
    if hidden.any():
        scores = torch.zeros(1, *weights.shape).masked_fill(torch.from_numpy(hidden)[None, :, :, None], -torch.inf)
        yield Activation(f"{path}.masked", scores, axes, spans)


def _first(wrong: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(index) for index in np.argwhere(wrong)[0])


def _named(place: Sequence[int]) -> dict[str, int]:
    return dict(zip(AXES, place, strict=False))
