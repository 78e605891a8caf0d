"""A recorded trace as the one block of bytes that the attention map draws from.

Layout, little-endian: uint32 header length, UTF-8 JSON header, zeros to a multiple of 4, raw block. The raw block holds,
for each attention, its weights as uint16 (65535 stands for `unit`; order layer, head, query, key) and its mask as uint8
(1 = may not be read). A weight printed from its level with `DECIMALS` decimals reads as the weight itself would. Weights
longer than `LARGEST` tokens are pooled for the overview, unless asked otherwise; `pack_detail` sends one head exactly.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from model.trace import Trace

LARGEST = 128
"""Tokens along an axis above which the overview is pooled and heads are fetched one by one."""

LEVELS = 65535
DECIMALS = 4

LABELS: tuple[str, ...] = (
    "attention", "all_attentions", "encoder_self_attention", "decoder_self_attention", "decoder_cross_attention",
    "layer", "head", "mean", "layer_number", "head_number", "head_mean",
    "row", "row_produced", "row_read", "unit", "unit_pieces", "unit_words", "special",
    "scale", "scale_unit", "scale_map", "scale_each_map", "scale_this_map",
    "masked", "no_key", "all_special", "removed_row", "removed_mean",
    "overview", "overview_hint", "overview_hidden", "map_name", "opened", "opened_mean", "guided", "guided_hint",
    "step_into", "step_into_hint", "reset", "reset_hint", "matrix", "matrix_hint",
    "lines", "lines_hint", "lines_threshold", "overlay",
    "convention_self", "convention_produced", "convention_read",
    "cell", "cell_masked", "row_summary", "row_no_key", "row_all_special", "key_summary",
    "linked_hint", "sentence_probability", "sentence_word_probability", "sentence_start",
    "sentence_looked", "sentence_looked_mean", "sentence_read_by", "sentence_read_by_mean", "weight_says",
    "source", "target", "steps", "step", "reads", "writes", "probability", "looked_at",
    "table", "table_head", "table_row", "position", "token", "weight",
    "png", "svg", "csv", "copy_link", "copied", "copy_failed",
    "pooled", "pooled_switches", "loading", "left_out", "caption_sentence", "caption_shown",
)  # fmt: skip


def pack(
    trace: Trace,
    *,
    view: Literal["heads", "linked"],
    attentions: Sequence[str],
    words: Mapping[str, Sequence[int]],
    text: Mapping[str, str],
    caption: Mapping[str, str],
    guided: Iterable[Mapping[str, Any]] = (),
    defaults: Mapping[str, Any] | None = None,
    extra: Mapping[str, Any] | None = None,
    layers: Sequence[int] | None = None,
    largest: int = LARGEST,
    steps: bool = True,
) -> bytes:
    """Everything that one view of a trace needs, in one message.

    `attentions` are ids such as "decoder.cross_attention"; `words` gives the word of each token of "source", "target" and
    "produced" (a side left out shows pieces as words); `text` holds a translated sentence for every name in `LABELS`;
    `caption` the "model", "source" and "target" that exports name; `guided` heads carry a badge (layer, head, row and, where
    it is not the cross-attention, attention; label replaces the word on the badge; mark and hint stand for another kind of badge
    than the star of guided heads); `defaults` is what a first visit shows
    (attention, overview, layer, head, row, unit, special, scale); `extra` is what another component adds of its own. `layers`:
    those to send, counted from 0, all if None; an attention that has none of them is left out. Above `largest` tokens weights are
    pooled. `steps`: whether a head can be stepped through, which needs its model. Rows of a trace that does not say what they
    produced are called by what they read; where both are the same (words of a file) by what they produced.

    Raises `ValueError` for weights of another shape than (1, head, query, key), or of other lengths than their sentences.
    """
    if view not in ("heads", "linked"):
        raise ValueError(f"view={view!r} is not known; choose 'heads' or 'linked'")
    if not attentions:
        raise ValueError("attentions is empty; give at least one id such as 'decoder.cross_attention'")
    if layers is not None:
        attentions = [identifier for identifier in attentions if any(layer < len(_paths(trace, identifier)) for layer in layers)]
        if not attentions:
            raise ValueError(f"no attention of this trace has any of the layers {list(layers)}, counted from 0")
    named, fingerprint = _rows_named(trace), _fingerprint(trace)
    trace = trace if trace.produced else replace(trace, produced=trace.target)
    blocks: list[bytes] = []
    header: dict[str, Any] = {
        "view": view,
        "trace": fingerprint,
        "tokens": {side: _tokens(trace, side, words.get(side)) for side in ("source", "target", "produced")},
        "probabilities": [math.exp(value) for value in trace.log_probabilities],
        "attentions": [{**_attention(trace, identifier, blocks, layers, largest), **named} for identifier in attentions],
        "text": {name: text[name] for name in LABELS},
        "caption": dict(caption),
        "guided": [{"attention": "decoder.cross_attention", **entry} for entry in guided],
        "extra": dict(extra or {}),
    }
    if not steps:
        header["steps"] = False
    return _envelope(header, blocks, {"defaults": dict(defaults or {})})


def pack_detail(trace: Trace, attention: str, layer: int, head: int | Literal["mean"]) -> bytes:
    """One head exactly (float32) with its mask, for maps that the overview shows pooled; head "mean" is the mean of the heads."""
    paths = _paths(trace, attention)
    if not 0 <= layer < len(paths):
        raise ValueError(f"layer={layer} is not in {attention}, which has {len(paths)} layers counted from 0")
    weights = _numpy(trace[paths[layer]].tensor)
    if head != "mean" and not 0 <= head < len(weights):
        raise ValueError(f"head={head} is not in {attention}, which has {len(weights)} heads counted from 0")
    exact = weights.mean(axis=0) if head == "mean" else weights[head]
    mask = _mask(trace, paths[layer], weights.shape)[0 if head == "mean" else head]
    header = {
        "trace": _fingerprint(trace), "attention": attention, "layer": layer, "head": head,
        "queries": exact.shape[0], "keys": exact.shape[1],
    }  # fmt: skip
    return _envelope(header, [exact.astype("<f4").tobytes(), mask.astype("u1").tobytes()])


def unpack(message: bytes) -> tuple[dict[str, Any], memoryview]:
    """The header and the raw block of a packed message."""
    length = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + length])
    start = -(-(4 + length) // 4) * 4
    return header, memoryview(message)[start : start + header["bytes"]]


def _rows_named(trace: Trace) -> dict[str, str]:
    """By what alone the decoder's rows can be called; nothing where the reader may choose."""
    if not trace.produced:
        return {"named": "read"}
    same = [token.text for token in trace.produced] == [token.text for token in trace.target]
    return {"named": "produced"} if same else {}


def _envelope(header: dict[str, Any], blocks: Sequence[bytes], beside: Mapping[str, Any] | None = None) -> bytes:
    """The message. Its digest says whether a picture must be made anew; what stands `beside` does not change the picture."""
    raw = b"".join(blocks)
    digest = hashlib.blake2b(raw, digest_size=12)
    digest.update(json.dumps(header, sort_keys=True).encode())
    complete = {**header, **(beside or {}), "bytes": len(raw), "digest": digest.hexdigest()}
    encoded = json.dumps(complete, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
    padding = -(4 + len(encoded)) % 4
    return len(encoded).to_bytes(4, "little") + encoded + bytes(padding) + raw + bytes(-len(raw) % 4)


def _fingerprint(trace: Trace) -> str:
    """Tells one pass from another, so that a detail is never drawn over other tokens."""
    ids = [[token.id for token in getattr(trace, side)] for side in ("source", "target", "produced")]
    content = json.dumps([ids, trace.source_text, trace.target_text, list(trace.log_probabilities)])
    return hashlib.blake2b(content.encode(), digest_size=12).hexdigest()


def _tokens(trace: Trace, side: str, words: Sequence[int] | None) -> dict[str, Any]:
    tokens: Sequence[Any] = getattr(trace, side)
    if words is not None and len(words) != len(tokens):
        raise ValueError(f"words[{side!r}] has {len(words)} entries, the trace {len(tokens)} tokens; give one for each token")
    groups: dict[int, list[int]] = {}
    for position, word in enumerate(range(len(tokens)) if words is None else words):
        groups.setdefault(word, []).append(position)
    text = trace.source_text if side == "source" else trace.target_text
    return {
        "labels": [token.label for token in tokens],
        "special": [int(token.special) for token in tokens],
        "words": [{"tokens": group, "label": _word_label([tokens[i] for i in group], text)} for group in groups.values()],
    }


def _word_label(pieces: Sequence[Any], text: str | None) -> str:
    """The word as it was typed where the pieces know their place in the text, else their labels joined."""
    spans = [piece.span for piece in pieces if not piece.special and piece.span[1] > piece.span[0]]
    if len(pieces) == 1 or not text or len(spans) < len(pieces):
        return "".join(piece.label for piece in pieces)
    typed = text[min(start for start, _ in spans) : max(end for _, end in spans)].strip()
    if not typed or not typed.isprintable():
        return "".join(piece.label for piece in pieces)
    return f"{pieces[0].unknown_name} {typed}" if all(piece.unknown for piece in pieces) else typed


def _attention(trace: Trace, identifier: str, blocks: list[bytes], only: Sequence[int] | None, largest: int) -> dict[str, Any]:
    every = _paths(trace, identifier)
    kept = [layer for layer in range(len(every)) if only is None or layer in only]
    paths = [every[layer] for layer in kept]
    for path in paths:
        _check(trace, path)
    weights = np.stack([_numpy(trace[path].tensor) for path in paths])
    if not np.isfinite(weights).all() or weights.min(initial=0.0) < 0:
        raise ValueError(f"{identifier}: weights must be finite and not negative; look at the edits of this trace")
    mask = np.stack([_mask(trace, path, weights.shape[1:]) for path in paths])
    _, heads, queries, keys = weights.shape
    spans = trace[paths[0]].spans
    unit = max(1.0, float(weights.max(initial=0.0))) if weights.max(initial=0.0) > 1 + 1e-5 else 1.0
    block = [-(-queries // largest), -(-keys // largest)]
    if max(block) > 1:
        weights, mask = _pool(weights, block, np.maximum, 0.0), _pool(mask, block, np.logical_and, True)
    shared = bool((mask == mask[:1, :1]).all())
    entry = {
        "id": identifier, "path": every[0].replace(".layers.0.", ".layers.{layer}."),
        "query": spans["query"], "key": spans["key"],
        "layers": len(every), "kept": kept, "heads": heads, "queries": queries, "keys": keys,
        "stored": list(weights.shape[2:]), "block": block, "unit": unit,
        "offset": sum(map(len, blocks)), "masks": "shared" if shared else "each",
    }  # fmt: skip
    stored = _levels(weights.astype(np.float64).clip(0, unit), unit).astype("<u2").tobytes()
    blocks.append(stored + bytes(-len(stored) % 4))
    entry["mask"] = sum(map(len, blocks))
    hidden = (mask[0, 0] if shared else mask).astype("u1").tobytes()
    blocks.append(hidden + bytes(-len(hidden) % 4))
    return entry


def _check(trace: Trace, path: str) -> None:
    """Shape and lengths, before anything is drawn with labels that belong elsewhere."""
    activation = trace[path]
    shape = tuple(activation.tensor.shape)
    if len(shape) != 4 or shape[0] != 1:
        raise ValueError(f"{path} has shape {shape}; needed are the four axes (1, head, query, key), for one sentence")
    for axis, size in (("query", shape[2]), ("key", shape[3])):
        sentence = activation.spans[axis]
        if size != (count := len(trace.tokens(sentence))):
            raise ValueError(
                f"{path}: axis {axis!r} has {size} places, the {sentence} has {count} tokens; give one token for each"
            )


def _levels(weights: npt.NDArray[Any], unit: float) -> npt.NDArray[Any]:
    """The nearest level, or its neighbour where only that one rounds to the same decimals."""
    levels = np.rint(weights * (LEVELS / unit))
    step = 10.0**DECIMALS
    off = np.rint(weights * step) - np.rint(levels * (unit / LEVELS) * step)
    nearest: npt.NDArray[Any] = (levels + np.sign(off)).clip(0, LEVELS)
    return nearest


def _paths(trace: Trace, identifier: str) -> list[str]:
    stack, _, name = identifier.partition(".")
    found: list[str] = []
    while (path := f"{stack}.layers.{len(found)}.{name}.weights") in trace:
        found.append(path)
    if not found:
        raise KeyError(
            f"{identifier!r}: no {stack}.layers.0.{name}.weights in this trace; give the id of an attention it recorded"
        )
    return found


def _mask(trace: Trace, path: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """True where a key may not be read; nothing is masked where the trace has no masked scores (weights read from a file)."""
    scores = path.removesuffix("weights") + "masked"
    if scores not in trace:
        return np.zeros(shape, dtype=bool)
    return np.broadcast_to(np.isneginf(_numpy(trace[scores].tensor)), shape)


def _pool(values: npt.NDArray[Any], block: Sequence[int], joined: np.ufunc, fill: float | bool) -> npt.NDArray[Any]:
    """`values` (layer, head, query, key) joined over blocks of queries and keys; ragged last blocks are filled up.

    First whole rows are joined, then columns: several times as quick as all of a block at once.
    """
    missing = [-size % length for size, length in zip(values.shape[2:], block, strict=True)]
    padded = np.pad(values, ((0, 0), (0, 0), (0, missing[0]), (0, missing[1])), constant_values=fill)
    rows: npt.NDArray[Any] = reduce(joined, [padded[:, :, step :: block[0]] for step in range(block[0])])
    pooled: npt.NDArray[Any] = reduce(joined, [rows[..., step :: block[1]] for step in range(block[1])])
    return pooled


def _numpy(tensor: Any) -> npt.NDArray[Any]:
    """The one sentence of a batch of one, as float32."""
    return np.asarray(tensor.detach().cpu().float().numpy()[0])
