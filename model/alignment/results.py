"""What is taken away of pairs that were aligned: a table or JSON Lines of all that is known of each, and matrices as NPZ.

Links alone, in the formats that other tools read, are written by `formats.write_alignments`. All is written pair by pair.
"""

import io
import json
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, repeat
from typing import Any, BinaryIO

import numpy as np

from model.alignment import pharaoh
from model.alignment.corpus import Aligned
from model.alignment.extract import ROWS, Choice, WordWeights
from model.alignment.formats import GoldLinks
from model.alignment.formats.link_tables import Written, decimal, record
from model.alignment.formats.link_writing import written
from model.alignment.metrics import Counts

MEASURES = (
    "confidence",
    "confidence_percent",
    "coverage",
    "absentmindedness_rows",
    "absentmindedness_columns",
    "entropy",
    "length_ratio",
    "log_probability",
)
COLUMNS = ("pair", "source", "target", "links", *MEASURES, "gold", "alignment_error_rate", "precision", "recall", "problem")

Gold = Iterable[GoldLinks | None]


def scores_of(aligned: Aligned) -> dict[str, float]:
    """The scores of a pair by their names in files; NaN where there are none."""
    named = {name: getattr(aligned.scores, name) for name in MEASURES if name != "log_probability"}
    return {**named, "log_probability": aligned.log_probability}


def counts_of(aligned: Aligned, gold: GoldLinks | None) -> Counts | None:
    """How the links of a pair agree with gold; None without gold, and where nothing could be aligned."""
    if gold is None or aligned.problem is not None:
        return None
    return Counts.of(links_of(aligned), gold.sure, gold.possible)


def links_of(aligned: Aligned) -> frozenset[pharaoh.Link]:
    """The links without their weights."""
    return frozenset((link.source, link.target) for link in aligned.links)


def with_links(aligned: Aligned, gold: GoldLinks | None) -> Written:
    """Other links of a pair, gold or made by hand, with its words; without any if there are none."""
    sure, possible = gold or GoldLinks(frozenset(), frozenset())
    return Written(dict.fromkeys(sorted(sure | possible)), sure, aligned.source_words, aligned.target_words)


def table(results: Iterable[Aligned], gold: Gold = ()) -> Iterator[str]:
    """The lines of a table with a row a pair: words as they were counted, links, scores, agreement with gold."""
    yield "\t".join(COLUMNS)
    for aligned, right in _beside(results, gold):
        counts = counts_of(aligned, right)
        rates = (counts.alignment_error_rate, counts.precision, counts.recall) if counts else ()
        cells = (
            str(aligned.index + 1),
            " ".join(aligned.source_words),
            " ".join(aligned.target_words),
            pharaoh.render(links_of(aligned)),
            *map(decimal, scores_of(aligned).values()),
            "" if right is None else pharaoh.render(*right),
            *([decimal(rate) for rate in rates] or [""] * 3),
            str(aligned.problem or ""),
        )
        yield "\t".join(cells)


def json_lines(results: Iterable[Aligned], gold: Gold = ()) -> Iterator[str]:
    """A JSON object a pair: texts, words, links with weights, scores, gold; it can be read back as links."""
    for aligned, right in _beside(results, gold):
        scores = {name: float(decimal(value)) for name, value in scores_of(aligned).items() if math.isfinite(value)}
        made: dict[str, Any] = {"source": aligned.source, "target": aligned.target, **record(aligned.index + 1, written(aligned))}
        made["scores"] = scores
        if right is not None:
            made["gold"] = record(aligned.index + 1, with_links(aligned, right))["links"]
        if counts := counts_of(aligned, right):
            made["alignment_error_rate"] = float(decimal(counts.alignment_error_rate))
        if aligned.problem is not None:
            made["problem"] = str(aligned.problem)
        yield json.dumps(made, ensure_ascii=False)


def encoded(lines: Iterable[str]) -> Iterator[bytes]:
    """Lines as the bytes of a file."""
    return (f"{line}\n".encode() for line in lines)


def matrices_npz(
    pairs: Iterable[tuple[Aligned, WordWeights]],
    caption: Mapping[str, str],
    file: BinaryIO,
    choice: Choice | None = None,
) -> None:
    """The matrices of pairs as NPZ: numpy opens it without unpickling anything.

    Of pair n the arrays pair_n_weights, pair_n_source_words and pair_n_target_words, and `axes` of all. Without a choice the
    weights are of every layer, head (the mean of all last) and row (produced, read): (layer, head, row, target, column). The
    columns after those of the source words are the special tokens of the source. `caption` is JSON.
    """
    axes = ("target", "column") if choice else ("layer", "head", "row", "target", "column")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, "caption", np.array(json.dumps(dict(caption), ensure_ascii=False)))
        _put(archive, "axes", np.array(axes))
        _put(archive, "rows", np.array([choice.row] if choice else ROWS))
        for aligned, weights in pairs:
            name = f"pair_{aligned.index + 1}"
            _put(archive, f"{name}_weights", matrices(weights, choice))
            _put(archive, f"{name}_source_words", _words(aligned.source_words))
            _put(archive, f"{name}_target_words", _words(aligned.target_words))


def matrices(weights: WordWeights, choice: Choice | None = None) -> np.ndarray:
    """The weights of one choice (target, column), or of all (layer, head, row, target, column), as float32."""
    if choice is not None:
        return weights.at(choice).cpu().numpy().astype(np.float32)
    both = (weights.produced.cpu().numpy(), weights.read.cpu().numpy())
    return np.stack(both, axis=2).astype(np.float32)


def _words(words: tuple[str, ...]) -> np.ndarray:
    return np.array(words, dtype=f"<U{max(map(len, words), default=1)}")


def _put(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    """One array into the archive; its date is always the same, so that the same numbers are the same file."""
    made = io.BytesIO()
    np.lib.format.write_array(made, array, allow_pickle=False)
    entry = zipfile.ZipInfo(f"{name}.npy")
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, made.getvalue())


def _beside(results: Iterable[Aligned], gold: Gold) -> Iterator[tuple[Aligned, GoldLinks | None]]:
    """Each pair with its gold, None where there is none (any more)."""
    return zip(results, chain(gold, repeat(None)), strict=False)
