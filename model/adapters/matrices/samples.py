"""A small file in each format, of the numbers of a trace: what such a file looks like, and something to try."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from model.alignment import extract, results, words
from model.tokenizer import Token
from model.trace import Trace

DECIMALS = 4  # of a weight that is written as text


@dataclass(frozen=True)
class Sample:
    """One format: its file's name, how it is built (a sketch, the same in every language), and what makes it of a trace."""

    file: str
    sketch: str
    make: Callable[[Trace], bytes]


def _studio(trace: Trace) -> bytes:
    arrays = {
        "pair_1_weights": results.matrices(extract.of_trace(trace)),
        "pair_1_source_words": np.array(words.words(trace.source_text, split_punctuation=True)),
        "pair_1_target_words": np.array(words.words(trace.target_text, split_punctuation=True)),
        "axes": np.array(["layer", "head", "row", "target", "column"]),
        "rows": np.array(extract.ROWS),
    }
    return _npz(arrays)


def _bertviz(trace: Trace) -> bytes:
    content = {
        "encoder_attention": _layers(trace, "encoder.layers.{}.self_attention.weights"),
        "decoder_attention": _layers(trace, "decoder.layers.{}.self_attention.weights"),
        "cross_attention": _layers(trace, "decoder.layers.{}.cross_attention.weights"),
        "encoder_tokens": _labels(trace.source),
        "decoder_tokens": _labels(trace.target),
    }
    return _json(
        {name: value.round(DECIMALS).tolist() if isinstance(value, np.ndarray) else value for name, value in content.items()}
    )


def _bertviz_one(trace: Trace) -> bytes:
    attention = _layers(trace, "encoder.layers.{}.self_attention.weights")
    return _json({"attention": attention.round(DECIMALS).tolist(), "tokens": _labels(trace.source)})


def _inspectus(trace: Trace) -> bytes:
    attention = _layers(trace, "decoder.layers.{}.cross_attention.weights")
    return _npz(
        {"attention": attention, "query_tokens": np.array(_labels(trace.target)), "key_tokens": np.array(_labels(trace.source))}
    )


def _marian(trace: Trace) -> bytes:
    rows = " ".join(",".join(map(str, row)) for row in _soft(trace))
    return f"{_spaced(trace.source)} ||| {_spaced(trace.produced)} ||| {rows}\n".encode()


def _sockeye(trace: Trace) -> bytes:
    rows = _soft(trace)
    score = round(sum(trace.log_probabilities), DECIMALS)
    heading = f"0 ||| {_spaced(trace.produced)} ||| {score} ||| {_spaced(trace.source)} ||| {len(rows[0])} ||| {len(rows)}"
    return "\n".join([heading, *(" ".join(map(str, row)) for row in rows), ""]).encode()


def _nematus(trace: Trace) -> bytes:
    rows, source, target = _soft(trace), _labels(trace.source), _labels(trace.produced)
    links = [[t, s, str(rows[i][j]), i, j] for i, t in enumerate(target) for j, s in enumerate(source)]
    return _json(links)


def _array(trace: Trace) -> bytes:
    file = io.BytesIO()
    np.save(file, _layers(trace, "encoder.layers.{}.self_attention.weights"))
    return file.getvalue()


# Our own export, "atlas", is made by whoever offers it: app.charts.archive.
SAMPLES: Mapping[str, Sample] = {
    "bertviz": Sample(
        "bertviz.json",
        '{"encoder_attention": [layer][head][query][key],\n "decoder_attention": ..., "cross_attention": ...,\n'
        ' "encoder_tokens": ["I", "love", "you", ".", "</s>"],\n "decoder_tokens": ["<s>", "Je", "t", "\'", "aime", "."]}',
        _bertviz,
    ),
    "attention": Sample(
        "attention.json", '{"attention": [layer][head][query][key],\n "tokens": ["[CLS]", "it", "[SEP]"]}', _bertviz_one
    ),
    "inspectus": Sample(
        "inspectus.npz",
        "numpy.savez(file, attention=array,  # (layer, head, query, key)\n            query_tokens=[...], key_tokens=[...])",
        _inspectus,
    ),
    "atlas-studio": Sample(
        "studio.npz",
        "pair_1_weights       (layer, head, row, target, column), or (target, column)\npair_1_source_words  (source,)\n"
        "pair_1_target_words  (target,)",
        _studio,
    ),
    "marian": Sample("marian.txt", "I love you . ||| Je t ' aime . ||| 0.9,0.1,0,0,0 0.2,0.7,0.1,0,0 ...", _marian),
    "sockeye": Sample(
        "sockeye.txt", "0 ||| Je t ' aime . ||| -0.3 ||| I love you . ||| 5 ||| 6\n0.9 0.1 0 0 0\n0.2 0.7 0.1 0 0\n...", _sockeye
    ),
    "nematus-json": Sample("nematus.json", '[["Je", "I", "0.9", 0, 0], ["Je", "love", "0.1", 0, 1], ...]', _nematus),
    "npy": Sample(
        "attention.npy", "numpy.save(file, array)  # (layer, head, query, key), (head, query, key) or (query, key)", _array
    ),
}


def _layers(trace: Trace, path: str) -> npt.NDArray[np.float32]:
    """(layer, head, query, key)."""
    found: list[Any] = []
    while path.format(len(found)) in trace:
        found.append(trace[path.format(len(found))].tensor[0].float().numpy())
    return np.stack(found).astype(np.float32)


def _soft(trace: Trace) -> list[list[float]]:
    """The mean of the heads of the last decoder layer, a row a token that was produced."""
    mean = _layers(trace, "decoder.layers.{}.cross_attention.weights")[-1].mean(0)
    return [[round(float(weight), DECIMALS) for weight in row] for row in mean]


def _labels(tokens: Sequence[Token]) -> list[str]:
    return [token.text for token in tokens]


def _spaced(tokens: Sequence[Token]) -> str:
    """Without the end token, which these systems count and do not print."""
    return " ".join(token.text for token in tokens if not token.special)


def _json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode()


def _npz(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()
