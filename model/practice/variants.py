"""The toy's variants, trained alike: what was measured of them, read from the file that `benchmarks/toy_variants.py` writes,
and the head of each that aligns best, on one pair.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from torch import Tensor

from model.alignment.choices import of_card
from model.alignment.extract import ROWS, Choice
from model.checkpoint import CheckpointError, shown
from model.training import exact
from model.training.tasks import Pair, examples
from model.translator import Translator, load

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


# ----- the best head of each, on one pair


@dataclass(frozen=True)
class BestHead:
    """The cross-attention of the head that aligns best by a model's card, in a forced pass over a pair of the toy language.

    In `right` of the `linked` rows whose word has a partner the largest weight lies on it. `loss` is that of the forced pass,
    nats a token; `written` is what the model writes by itself.
    """

    choice: Choice
    weights: Float[Tensor, "target source"]
    right: int
    linked: int
    loss: float
    written: str


def best_heads(toy: Translator, folder: Path, names: Sequence[str], pair: Pair) -> dict[str, BestHead]:
    """One for each of these variants in the folder of the toy, whose own name stands for itself."""
    found = {name: load(folder if name == toy.name else folder / name, "cpu") for name in names}
    return {name: best_head(atlas, pair) for name, atlas in found.items() if isinstance(atlas, Translator)}


def best_head(atlas: Translator, pair: Pair) -> BestHead:
    """See `BestHead`; a card that names no head is refused."""
    named = of_card(atlas.card)
    if named is None or named[0].head is None:
        raise CheckpointError(f"the card of {atlas.name} names no head that aligns; `python -m model.practice` writes one")
    choice = named[0]
    loss, alignment = exact.forced(atlas.model, examples([pair], atlas.tokenizers))
    linked = len({target for _, target in pair.links})
    share = float(alignment[choice.layer, choice.head, ROWS.index(choice.row)])
    weights = atlas.trace(pair.source, pair.target)[f"decoder.layers.{choice.layer}.cross_attention.weights"].tensor
    return BestHead(choice, weights[0, choice.head].cpu(), round(share * linked), linked, loss, atlas.translate(pair.source).text)
