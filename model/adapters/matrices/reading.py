"""Which of the known kinds a file is, and the traces in it."""

import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model.adapters.matrices import soft
from model.adapters.matrices.checks import LARGEST, LARGEST_FILE, Kind, Map, MatrixError, labels, made, numbers, stacked
from model.trace import Trace

_PATH = re.compile(r"(encoder|decoder)\.layers\.(\d{1,3})\.(self_attention|cross_attention)\.weights")
_PAIR = re.compile(r"pair_(\d{1,6})_weights")
_LARGEST_ARRAYS = 4 * LARGEST + 10_000_000  # bytes of an unpacked NPZ

NAMES: Mapping[str, Kind] = {
    "encoder_attention": "encoder.self_attention",
    "decoder_attention": "decoder.self_attention",
    "cross_attention": "decoder.cross_attention",
}


@dataclass(frozen=True)
class Matrices:
    """What a file holds: its format in words, and a trace for each sentence or pair."""

    format: str
    traces: tuple[Trace, ...]


def read(data: bytes, name: str = "") -> Matrices:
    """The matrices of a file by what stands in it; `name` is said in messages. Raises `MatrixError`."""
    what = name or "the file"
    if len(data) > LARGEST_FILE:
        raise MatrixError(f"{what} has {len(data):,} bytes, at most {LARGEST_FILE:,} are read; bring fewer layers or sentences")
    if not data.strip():
        raise MatrixError(f"{what} is empty; bring a file with attention weights")
    if data.startswith(b"PK"):
        return _named(_arrays(data, what), what)
    if data.startswith(b"\x93NUMPY"):
        return Matrices("npy", (made([_along({}, stacked(_array(io.BytesIO(data), what), what))], {}),))
    if data.startswith(b"\x80"):
        raise MatrixError(f"{what} is a pickle (torch.save, pickle.dump), which can run code when it is read; save NPZ or JSON")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MatrixError(f"{what} is no NPZ, and no UTF-8 text from byte {error.start}; save NPZ, JSON or text") from None
    if text.lstrip()[:1] in ("{", "["):
        return _json(text, what)
    return Matrices(*soft.read(text, what))


def _array(stream: Any, what: str) -> Any:
    try:
        return np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError, MemoryError, KeyError, TypeError) as error:
        raise MatrixError(f"{what} is no whole array of numbers ({_first_line(error)}); save it again with numpy.savez") from None


def _arrays(data: bytes, what: str) -> dict[str, Any]:
    """The arrays of an NPZ, none unpickled, none larger than can be shown."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
            if (size := sum(entry.file_size for entry in entries)) > _LARGEST_ARRAYS:
                raise MatrixError(f"{what} unpacks to {size:,} bytes, at most {_LARGEST_ARRAYS:,} are read; bring fewer layers")
            return {
                entry.filename.removesuffix(".npy"): _array(io.BytesIO(archive.read(entry)), f"{what}/{entry.filename}")
                for entry in entries
            }
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        if isinstance(error, MatrixError):
            raise
        raise MatrixError(f"{what} is a damaged NPZ ({_first_line(error)}); save it again with numpy.savez") from None


def _json(text: str, what: str) -> Matrices:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MatrixError(f"{what} is no whole JSON ({_first_line(error)}); save it again with json.dump") from None
    if isinstance(content, dict) and {"nodes", "links"} <= set(content):
        return Matrices("nematus-json", (soft.links([content], what),))
    if isinstance(content, dict):
        return _named(content, what)
    if soft.are_links(content):
        return Matrices("nematus-json", (soft.links(content, what),))
    if content and all(isinstance(entry, dict) for entry in content):
        found = [_named(entry, f"{what}, entry {number}") for number, entry in enumerate(content, start=1)]
        return Matrices(found[0].format, tuple(trace for one in found for trace in one.traces))
    return Matrices("json", (made([_along({}, stacked(content, what))], {}),))


def _named(content: Mapping[str, Any], what: str) -> Matrices:
    """Values under the names that one of the formats gives them."""
    readers: Sequence[tuple[str, Callable[[str], Any], Callable[[Mapping[str, Any], str], tuple[Trace, ...]]]] = (
        ("atlas", _PATH.fullmatch, _atlas),
        ("atlas-studio", _PAIR.fullmatch, _studio),
        ("bertviz", NAMES.__contains__, _sides),
        ("attention", ("attention", "attentions").__contains__, _one),
    )
    for format_, knows, reader in readers:
        if any(knows(name) for name in content):
            return Matrices(format_, reader(content, what))
    if soft.is_sentence(content):
        return Matrices("sockeye-json", (soft.sentence(content, what),))
    raise MatrixError(
        f"{what} names {', '.join(map(repr, list(content)[:5])) or 'nothing'}; needed is 'attention' with 'tokens', one of "
        f"{', '.join(map(repr, NAMES))}, or paths such as 'decoder.layers.0.cross_attention.weights'"
    )


def _atlas(content: Mapping[str, Any], what: str) -> tuple[Trace, ...]:
    """Our own export: an array (head, query, key) a path, and the tokens."""
    found: dict[Kind, dict[int, Any]] = {}
    for path, values in content.items():
        if match := _PATH.fullmatch(path):
            weights = numbers(values, path)
            if weights.ndim != 3:
                raise MatrixError(f"{path} has {weights.ndim} axes, shape {weights.shape}; needed are (head, query, key)")
            found.setdefault(f"{match[1]}.{match[3]}", {})[int(match[2])] = weights  # type: ignore[arg-type]
    maps = []
    for kind, layers in found.items():
        missing = sorted(set(range(max(layers) + 1)) - set(layers))
        if missing:
            raise MatrixError(
                f"{what}: {kind} lacks axis 'layer' {missing[0]} (counted from 0); export all layers up to the last"
            )
        maps.append(Map(kind, stacked([layers[layer] for layer in sorted(layers)], kind)))
    sides = {
        side: labels(content[f"tokens.{side}"], f"tokens.{side}") for side in ("source", "target") if f"tokens.{side}" in content
    }
    produced = labels(content["tokens.produced"], "tokens.produced") if "tokens.produced" in content else []
    shares = numbers(content.get("log_probabilities", []), "log_probabilities").reshape(-1).tolist() if produced else []
    return (made(maps, sides, produced, shares),)


def _studio(content: Mapping[str, Any], what: str) -> tuple[Trace, ...]:
    """The studio's matrices: (target, column) or (layer, head, row, target, column); words of the source, then special tokens."""
    traces = []
    for name in sorted((name for name in content if _PAIR.fullmatch(name)), key=lambda name: int(name.split("_")[1])):
        pair = name.removesuffix("_weights")
        weights = numbers(content[name], name)
        if weights.ndim == 5:
            weights = weights[:, :, 0]  # the rows of the words that were produced
        source = labels(content.get(f"{pair}_source_words"), f"{pair}_source_words")
        target = labels(content.get(f"{pair}_target_words"), f"{pair}_target_words")
        stack = stacked(weights, name)
        beyond = stack.shape[3] - len(source)
        if beyond not in range(4):
            raise MatrixError(f"{name}: axis 'key' has {stack.shape[3]} places, {len(source)} source words; give one for each")
        traces.append(made([Map("decoder.cross_attention", stack)], {"source": [*source, *["</s>"] * beyond], "target": target}))
    return tuple(traces)


def _sides(content: Mapping[str, Any], what: str) -> tuple[Trace, ...]:
    """What `model_view` of BertViz takes of an encoder-decoder."""
    maps = [Map(kind, stacked(content[name], name)) for name, kind in NAMES.items() if content.get(name) is not None]
    if not maps:
        raise MatrixError(f"{what}: {', '.join(name for name in NAMES if name in content)} is None; {_EAGER}")
    sides = {
        side: labels(content[name], name)
        for side, name in (("source", "encoder_tokens"), ("target", "decoder_tokens"))
        if content.get(name) is not None
    }
    return (made(maps, sides),)


def _one(content: Mapping[str, Any], what: str) -> tuple[Trace, ...]:
    """One attention: of a sentence to itself, or, with tokens of queries and keys, of a target to its source."""
    name = "attention" if "attention" in content else "attentions"
    if content[name] is None or (isinstance(content[name], list) and None in content[name]):
        raise MatrixError(f"{what}: {name} is None; {_EAGER}")
    given = {key: labels(content[key], key) for key in ("tokens", "query_tokens", "key_tokens") if content.get(key) is not None}
    if len(given.keys() & {"query_tokens", "key_tokens"}) == 1:
        raise MatrixError(
            f"{what} has {next(iter(given.keys() - {'tokens'}))} alone; give query_tokens and key_tokens, or tokens"
        )
    found = _along(given, stacked(content[name], name))
    if "tokens" in given:
        sides = {"source": given["tokens"]}
    elif found.kind == "decoder.cross_attention":
        sides = {"source": given.get("key_tokens", []), "target": given.get("query_tokens", [])}
    else:
        sides = {"source": given.get("query_tokens", [])}
    return (made([found], sides),)


def _along(given: Mapping[str, Sequence[str]], weights: Any) -> Map:
    """Whether an attention is of a sentence to itself: by its tokens, or without any by its shape."""
    itself = "tokens" in given or weights.shape[2] == weights.shape[3]
    if "query_tokens" in given:
        itself = list(given["query_tokens"]) == list(given["key_tokens"])
    return Map("encoder.self_attention" if itself else "decoder.cross_attention", weights)


_EAGER = 'the model gave no weights: load it with attn_implementation="eager" and ask for output_attentions=True'


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
