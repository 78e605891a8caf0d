"""What numbers have to be before they are shown as attention, and the trace that is made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from model.tokenizer import Token
from model.trace import Activation, Trace

LARGEST_FILE = 50_000_000
LARGEST = 25_000_000  # weights in all: 6 layers of 16 heads over 512 tokens
LONGEST = 512  # tokens along an axis
TOLERANCE = 0.02
"""How far the sum of a row may be from 1: numbers printed with few digits, or stored in half precision."""

Kind = Literal["encoder.self_attention", "decoder.self_attention", "decoder.cross_attention"]
AXES = ("layer", "head", "query", "key")
SPECIALS = frozenset(
    {"<s>", "</s>", "<pad>", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "<mask>", "<bos>", "<eos>", "<|endoftext|>", "EOS"}
)


class MatrixError(ValueError):
    """A file that holds no attention: the message names the axis, what was given, what is needed and what to do."""


@dataclass(frozen=True)
class Map:
    """The weights of one attention, (layer, head, query, key); layers may differ in nothing but their numbers."""

    kind: Kind
    weights: npt.NDArray[np.float32]


def numbers(values: Any, what: str) -> npt.NDArray[np.float32]:
    """Nested lists or an array as float32; ragged lists and anything but numbers are refused."""
    try:
        found = np.asarray(values)
    except ValueError:
        raise MatrixError(f"{what} is ragged: its rows are not equally long; give every row one number for each key") from None
    if found.dtype.kind not in "fiu":
        raise MatrixError(f"{what} holds {found.dtype}, needed are numbers; export it as plain floats, without None or text")
    if found.size > LARGEST:
        raise MatrixError(
            f"{what} has {found.size:,} weights, at most {LARGEST:,} are shown; bring fewer layers or a shorter text"
        )
    with np.errstate(over="ignore"):
        return found.astype(np.float32)


def stacked(values: Any, what: str) -> npt.NDArray[np.float32]:
    """Weights as (layer, head, query, key): of one matrix, of the heads of a layer, or of layers; a batch of one is dropped."""
    if isinstance(values, (list, tuple)) and values and all(isinstance(layer, np.ndarray) for layer in values):
        shapes = {layer.shape for layer in values}
        if len(shapes) > 1:
            raise MatrixError(f"{what}: its layers have the shapes {_listed(shapes)}; needed is one for all, (head, query, key)")
    found = numbers(values, what)
    if found.ndim == 5 and found.shape[1] == 1:  # (layer, batch, head, query, key)
        found = found[:, 0]
    if found.ndim == 5 and found.shape[0] == 1:
        found = found[0]
    if not 2 <= found.ndim <= 4:
        raise MatrixError(
            f"{what} has {found.ndim} axes, shape {found.shape}; needed are (query, key), (head, query, key) or "
            "(layer, head, query, key), and a batch of one sentence"
        )
    found = found.reshape((1,) * (4 - found.ndim) + found.shape)
    for axis, size in zip(AXES, found.shape, strict=True):
        if size == 0:
            raise MatrixError(f"{what}: axis {axis!r} has 0 places, shape {found.shape}; give at least one")
    return found


def checked(weights: npt.NDArray[np.float32], what: str) -> npt.NDArray[np.float32]:
    """Weights that are finite and not negative, each row of which sums to 1 (or is 0: no key may be read)."""
    for axis, size in zip(AXES[2:], weights.shape[2:], strict=True):
        if size > LONGEST:
            raise MatrixError(f"{what}: axis {axis!r} has {size} places, at most {LONGEST} are shown; bring a shorter text")
    if not np.isfinite(weights).all():
        place = tuple(int(index) for index in np.argwhere(~np.isfinite(weights))[0])
        raise MatrixError(
            f"{what}: {_where(place)} is {weights[place]}; needed are finite weights, not scores before the softmax"
        )
    if weights.min() < 0:
        place = tuple(int(index) for index in np.argwhere(weights < 0)[0])
        raise MatrixError(f"{what}: {_where(place)} is {weights[place]:.4g}, below 0; needed are weights after the softmax")
    sums = weights.sum(axis=-1, dtype=np.float64)
    wrong = (np.abs(sums - 1) > TOLERANCE) & (sums != 0)
    if wrong.any():
        place = tuple(int(index) for index in np.argwhere(wrong)[0])
        down = np.abs(weights.sum(axis=-2, dtype=np.float64) - 1).max() <= TOLERANCE
        advice = (
            "its columns do: axes 'query' and 'key' are swapped, turn the matrix around"
            if down
            else "give the weights of whole rows, after the softmax and before any is cut away"
        )
        raise MatrixError(f"{what}: the row of axis 'key' at {_where(place)} sums to {sums[place]:.4g}, needed is 1; {advice}")
    return weights


def labels(values: Any, what: str) -> list[str]:
    """Tokens as a list of texts."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, list) or not all(isinstance(token, str) for token in values):
        raise MatrixError(f"{what} is no list of texts; give one text for each token")
    return list(values)


def made(
    maps: Sequence[Map], sides: Mapping[str, Sequence[str]], produced: Sequence[str] = (), shares: Sequence[float] = ()
) -> Trace:
    """The trace of some maps; `sides` has the tokens of "source" and "target" (those that were read) where a map runs along them.

    `produced` are the tokens that the rows of the target wrote, if the file says so; `shares` their log-probabilities.
    """
    kept = {side: list(sides.get(side) or ()) for side in ("source", "target")}
    activations: dict[str, Activation] = {}
    for found in maps:
        stack, name = found.kind.split(".")
        query = "source" if stack == "encoder" else "target"
        spans = {"query": query, "key": "source" if name == "cross_attention" else query}
        weights = checked(found.weights, found.kind)
        for axis, size in zip(("query", "key"), weights.shape[2:], strict=True):
            side = spans[axis]
            kept[side] = kept[side] or [str(place) for place in range(size)]
            if size != len(kept[side]):
                raise MatrixError(
                    f"{found.kind}: axis {axis!r} has {size} places, the {side} has {len(kept[side])} tokens; give one for each"
                )
        for layer, one in enumerate(weights):
            path = f"{stack}.layers.{layer}.{name}.weights"
            tensor = torch.from_numpy(np.ascontiguousarray(one))[None]
            activations[path] = Activation(path, tensor, ("batch", "head", "query", "key"), spans)
    if produced and len(produced) != len(kept["target"]):
        raise MatrixError(
            f"tokens.produced has {len(produced)} tokens, the target that was read {len(kept['target'])}; give one for each row"
        )
    if shares and len(shares) != len(produced):
        raise MatrixError(f"log_probabilities has {len(shares)} numbers, tokens.produced {len(produced)}; give one for each")
    source, source_text = tokens(kept["source"])
    target, target_text = tokens(kept["target"])
    written = tokens(produced)[0]
    if produced and not written[-1].special and produced[:-1] == kept["target"][1:]:
        target_text = tokens(produced)[1]
    return Trace(activations, source, target, written, tuple(shares) or (), source_text, target_text)


def tokens(texts: Sequence[str]) -> tuple[tuple[Token, ...], str]:
    """Labels as tokens, with the text that they make: signs for spaces are spaces, a piece that goes on a word joins it."""
    found: list[Token] = []
    written = ""
    spaced = any(text[:1] in ("\u2581", "\u0120") for text in texts)
    for number, text in enumerate(texts):
        if text in SPECIALS:
            found.append(Token(text, number, (len(written), len(written)), special=True))
            continue
        begins = text[:1] in ("\u2581", "\u0120") if spaced else not text.startswith("##")
        joins = text.endswith("@@")
        plain = text.lstrip("\u2581\u0120") if spaced else text.removeprefix("##").removesuffix("@@") if text != "##" else text
        if written and begins and not written.endswith("\u200b"):
            written += " "
        written = written.removesuffix("\u200b")
        found.append(Token(plain or text, number, (len(written), len(written) + len(plain))))
        written += plain + ("\u200b" if joins else "")
    return tuple(found), written.removesuffix("\u200b")


def _where(place: Sequence[int]) -> str:
    return ", ".join(f"{axis} {index}" for axis, index in zip(AXES, place, strict=False)) + " (counted from 0)"


def _listed(shapes: set[tuple[int, ...]]) -> str:
    return " and ".join(str(shape) for shape in sorted(shapes)[:3])
