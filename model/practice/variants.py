"""What was measured of the toy's variants, trained alike: read from the file that `benchmarks/toy_variants.py` writes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.checkpoint import CheckpointError, shown

FILE = "variants.json"


@dataclass(frozen=True)
class Variant:
    """One variant: means over its trainings, which differ in their seed, and the least and largest loss among them.

    Losses are in nats a token, on held-out pairs as long as those of training, and longer. `exact` is the share of whole outputs
    that are right, `alignment` the share of linked words that the best head finds. `by_length` is (source words, loss).
    """

    name: str
    loss: float
    losses: tuple[float, float]
    exact: float
    alignment: float
    loss_longer: float
    exact_longer: float
    by_length: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Variants:
    """All variants by name. `trained_to`: the source words of the longest pair in training; `pairs` and `seeds` are counts."""

    variants: Mapping[str, Variant]
    trained_to: int
    pairs: int
    seeds: int


def read(path: Path) -> Variants:
    """The figures of a file."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        variants = {name: _variant(name, entry) for name, entry in said["variants"].items()}
        seeds = min(len(entry["seeds"]) for entry in said["variants"].values())
        return Variants(variants, int(said["trained_to"]), int(said["pairs"]), seeds)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{shown(path)} cannot be read: {error}. `python -m benchmarks.toy_variants` writes it") from error


def _variant(name: str, entry: Mapping[str, Any]) -> Variant:
    losses = [seed["loss"] for seed in entry["seeds"]]
    by_length = tuple((int(length), float(loss)) for length, loss in entry["loss_by_length"])
    return Variant(name, losses=(min(losses), max(losses)), by_length=by_length, **entry["mean"])
