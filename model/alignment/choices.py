"""Which head of a model to take links from, as far as its card knows."""

from collections.abc import Mapping
from typing import Any, Literal

from model.alignment.extract import Choice
from model.alignment.forced import Measure
from model.translator import Atlas, Translator

Reason = Literal["chosen", "exact", "guided", "middle"]


def of_card(card: Mapping[str, Any]) -> tuple[Choice, Reason] | None:
    """The head that aligned best on gold links ("chosen") or in a language known exactly, else the first guided one, or none."""
    entries: dict[Reason, Any] = {
        "chosen": card.get("alignment", {}).get("chosen"),
        "exact": card.get("exact"),
        "guided": next(iter(card.get("guided", ())), None),
    }
    for reason, entry in entries.items():
        if entry:
            head = None if entry["head"] == "mean" else int(entry["head"])
            return Choice(int(entry["layer"]), head, entry["row"]), reason
    return None


def default_with_reason(atlas: Translator) -> tuple[Choice, Reason]:
    """The head of the card; where it names none, the mean of the middle layer, on the rows that produce ("middle")."""
    return of_card(atlas.card) or (Choice(atlas.config.decoder_layers // 2, None, "produced"), "middle")


def default_choice(atlas: Translator) -> Choice:
    """Where links are taken from unless somebody chooses: `default_with_reason` without the reason."""
    return default_with_reason(atlas)[0]


def threshold_of(
    card: Mapping[str, Any], choice: Choice, measure: Measure = "weights", symmetrize: str | None = None
) -> float | None:
    """The weight above which links are taken unless somebody chooses; None for the largest of each row.

    A card names it where it beat the largest on the gold lines that it was chosen on. It belongs to the card's own head, to
    weights, and to one direction alone: links that are then joined with a reverse model's were measured without it.
    """
    chosen = card.get("alignment", {}).get("chosen") or {}
    own = of_card(card) == (choice, "chosen") and measure == "weights" and symmetrize is None
    return float(chosen["threshold"]) if own and "threshold" in chosen else None


def default_threshold(atlas: Translator) -> float | None:
    """The threshold that belongs to `default_choice`, or None (argmax)."""
    return threshold_of(atlas.card, default_choice(atlas))


def reference_of(atlas: Atlas) -> Choice | None:
    """The head that aligns best by the model's card, or none."""
    found = of_card(atlas.card)
    return found[0] if found else None
