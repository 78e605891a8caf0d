"""Values under the names that one of the known formats gives them: the objects of JSON, the arrays of an NPZ."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from model.adapters.matrices import soft
from model.adapters.matrices.checks import Kind, Made, Map, made, numbers, stacked
from model.adapters.matrices.labels import labels
from model.adapters.matrices.problem import MatrixError, Place
from model.adapters.matrices.steps import joined, per_step

_PATH = re.compile(r"(encoder|decoder)\.layers\.(\d{1,3})\.(self_attention|cross_attention)\.weights")
_PAIR = re.compile(r"pair_(\d{1,6})_weights")
_UNNAMED = re.compile(r"arr_\d+")  # what numpy.savez calls arrays that were given without names
_LAYER = re.compile(r"(arr|layers?|blocks?|att|attns?|attentions?|weights)[ _.-]?(\d{1,3})")
_OTHER = re.compile(
    r"link|alignment|sure|possible|mask|score|logit|ids|embed|hidden"
)  # names of what is never attention, though its shape may be the same

NAMES: Mapping[str, Kind] = {
    "encoder_attention": "encoder.self_attention",
    "encoder_attentions": "encoder.self_attention",
    "decoder_attention": "decoder.self_attention",
    "decoder_attentions": "decoder.self_attention",
    "cross_attention": "decoder.cross_attention",
    "cross_attentions": "decoder.cross_attention",
}
ATTENTION = ("attention", "attentions", "attention_weights", "attn_weights", "attn", "attns", "weights")
SOURCE = ("encoder_tokens", "source_tokens", "source_words", "source", "src_tokens", "src", "input_tokens")
READ = (
    *("decoder_tokens", "decoder_input_tokens", "decoder_input"),
    *("target_tokens", "target_words", "target", "tgt_tokens", "trg_tokens", "tgt", "trg"),
)
PRODUCED = ("produced", "predicted", "output_tokens", "pred", "prediction", "translation", "hypothesis")
TOKENS = frozenset(("tokens", "query_tokens", "key_tokens", "text", *SOURCE, *READ, *PRODUCED))
SPECIAL_COLUMNS = range(4)  # special tokens that a studio's matrix may have behind the words of the source

Found = tuple[str, Place, Iterator[tuple[int, Callable[[], Made]]]]


def read(content: Mapping[str, Any]) -> Found:
    """The format, what its sentences are called, and each with its number from 1."""
    if {"nodes", "links"} <= set(content):
        return _one("nematus-json", lambda: soft.links(soft.links_of(content)))
    if any(map(_PATH.fullmatch, content)):
        return _one("atlas", lambda: _atlas(content))
    if pairs := sorted((int(match[1]), match[1]) for match in map(_PAIR.fullmatch, content) if match):
        return "atlas-studio", "pair", ((pair, partial(_studio, content, f"pair_{named}")) for pair, named in pairs)
    if any(name in NAMES for name in content):
        return _one("bertviz", lambda: _sides(content))
    if any(name in ATTENTION for name in content):
        return _one("attention", lambda: _attention(content))
    if soft.is_sentence(content):
        return _one("sockeye-json", lambda: soft.sentence(content))
    if layers := _numbered(content):
        format_ = "npz" if all(map(_UNNAMED.fullmatch, layers)) else "attention"
        return _one(format_, lambda: _attention({**content, ATTENTION[0]: _layers([content[name] for name in layers])}))
    if only := _only(content):
        return _one("attention", lambda: _attention({**content, ATTENTION[0]: content[only]}))
    given = ", ".join(repr(name[:40]) for name in list(content)[:5]) or "nothing"
    raise MatrixError("names", given=given, choices=", ".join(map(repr, NAMES)))


def bare(weights: Any) -> Made:
    """Weights without any tokens, (layer, head, query, key): of a sentence to itself where they are square."""
    kind: Kind = "encoder.self_attention" if weights.shape[2] == weights.shape[3] else "decoder.cross_attention"
    return made([Map(kind, weights)], {})


def _one(format_: str, make: Callable[[], Made]) -> Found:
    return format_, "entry", iter([(1, make)])


def _numbered(content: Mapping[str, Any]) -> list[str]:
    """The names of layers that a number tells apart, in the order of the numbers, which begin with 0 or 1 and lack none."""
    found = [(match[1], int(match[2]), name) for name in content if (match := _LAYER.fullmatch(name))]
    if not found or len({stem for stem, _, _ in found}) > 1:
        return []
    places = sorted(place for _, place, _ in found)
    first = min(places[0], 1)
    if missing := sorted(set(range(first, places[-1] + 1)) - set(places)):
        raise MatrixError("no_layer", array=found[0][0], layer=missing[0])
    return [name for _, _, name in sorted(found)]


def _only(content: Mapping[str, Any]) -> str:
    """The one name beside the tokens, if it holds a matrix and is not a name of something else."""
    names = [name for name in content if name not in TOKENS]
    if len(names) != 1 or _OTHER.search(names[0].casefold()):
        return ""
    value = content[names[0]]
    if isinstance(value, np.ndarray):
        return names[0] if value.ndim > 1 and value.dtype.kind in "fiu" else ""
    depth = 0
    while isinstance(value, list) and value:
        value, depth = value[0], depth + 1
    return names[0] if depth > 1 and isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def stack(values: Any, array: str) -> Any:
    """Weights as (layer, head, query, key), also of a tuple a step of `generate()`."""
    return stacked(joined(values, array) if per_step(values) else values, array)


def _layers(arrays: Sequence[Any]) -> Any:
    """Layers that stand apart as one stack; a layer without an axis of heads has one head."""
    if len(arrays) == 1:
        return arrays[0]
    layers = [numbers(array, "layers") for array in arrays]
    return [layer[None] if layer.ndim == 2 else layer for layer in layers]


def _atlas(content: Mapping[str, Any]) -> Made:
    """Our own export: an array (head, query, key) a path, and the tokens."""
    found: dict[Kind, dict[int, Any]] = {}
    for path, values in content.items():
        if match := _PATH.fullmatch(path):
            weights = numbers(values, path)
            if weights.ndim != 3:
                raise MatrixError("rank", array=path, axes=weights.ndim, shape=str(weights.shape))
            found.setdefault(f"{match[1]}.{match[3]}", {})[int(match[2])] = weights  # type: ignore[arg-type]
    maps = []
    for kind, layers in found.items():
        if missing := sorted(set(range(max(layers) + 1)) - set(layers)):
            raise MatrixError("no_layer", array=kind, layer=missing[0])
        maps.append(Map(kind, stacked([layers[layer] for layer in sorted(layers)], kind)))
    sides = {
        side: labels(content[f"tokens.{side}"], f"tokens.{side}") for side in ("source", "target") if f"tokens.{side}" in content
    }
    produced = labels(content["tokens.produced"], "tokens.produced") if "tokens.produced" in content else []
    shares = numbers(content.get("log_probabilities", []), "log_probabilities").reshape(-1).tolist() if produced else []
    return made(maps, sides, produced, shares)


def _studio(content: Mapping[str, Any], pair: str) -> Made:
    """A matrix (target, column) or (layer, head, row, target, column), the mean of the heads last.

    Columns are the words of the source, then special tokens. A row is of the word itself: the mean over the rows of its pieces.
    """
    array = f"{pair}_weights"
    weights = numbers(content[array], array)
    kinds = labels(content.get("rows", []), "rows") or ["produced"]
    if weights.ndim == 5:
        weights = weights[:, : max(1, weights.shape[1] - 1), 0]
    source = labels(content.get(f"{pair}_source_words"), f"{pair}_source_words")
    target = labels(content.get(f"{pair}_target_words"), f"{pair}_target_words")
    stack = stacked(weights, array)
    beyond = stack.shape[3] - len(source)
    if beyond not in SPECIAL_COLUMNS:
        raise MatrixError("source_words", array=array, places=stack.shape[3], words=len(source))
    sides = {"source": [*source, *[soft.END] * beyond], "target": target}
    return made([Map("decoder.cross_attention", stack)], sides, target if kinds[0] == "produced" else ())


def _sides(content: Mapping[str, Any]) -> Made:
    """What `model_view` of BertViz takes of an encoder-decoder, and names near to it."""
    maps = [Map(kind, stack(content[name], name)) for name, kind in NAMES.items() if content.get(name) is not None]
    if not maps:
        raise MatrixError("none", array=", ".join(name for name in NAMES if name in content))
    produced = _tokens(content, PRODUCED)
    read = _tokens(content, READ)
    stepped = {kind for name, kind in NAMES.items() if kind.startswith("decoder") and per_step(content.get(name))}
    rows = {found.weights.shape[2] for found in maps if found.kind in stepped}
    if not produced and rows == {len(read) - 1}:  # the whole sequence: its first token is never written, its last never read
        read, produced = read[:-1], read[1:]
    return made(maps, {"source": _tokens(content, SOURCE), "target": read or produced}, produced)


def _attention(content: Mapping[str, Any]) -> Made:
    """One attention: of a sentence to itself, or, with tokens of queries and keys, of a target to its source."""
    name = next(name for name in ATTENTION if name in content)
    weights = stack(content[name], name)
    if content.get("tokens") is not None:
        tokens = labels(content["tokens"], "tokens")
        if per_step(content[name]) and len(tokens) == weights.shape[2] + 1:
            tokens = tokens[:-1]  # the last one that was written is never read
        return made([Map("encoder.self_attention", weights)], {"source": tokens})
    queries = _tokens(content, ("query_tokens", *READ))
    keys = _tokens(content, ("key_tokens", *SOURCE))
    produced = _tokens(content, PRODUCED)
    if bool(queries or produced) != bool(keys):
        raise MatrixError("one_side", array="key_tokens" if keys else "query_tokens")
    if not queries and not produced:
        return bare(weights)
    if queries == keys:
        return made([Map("encoder.self_attention", weights)], {"source": queries})
    return made([Map("decoder.cross_attention", weights)], {"source": keys, "target": queries or produced}, produced)


def _tokens(content: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The tokens under the first of these names that the file has."""
    name = next((name for name in names if content.get(name) is not None), "")
    return labels(content[name], name) if name else []
