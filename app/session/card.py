"""What the card of a model says about it, as keys of sentences with their values."""

from collections.abc import Mapping

from app.session.places import attentions, layers_of
from model.translator import LanguageModel, Opened


def card_facts(atlas: Opened, language: str) -> list[tuple[str, dict[str, object]]]:
    """What the card says, as keys of sentences with their values; what a card leaves out is left out.

    What a card says in words it says in English, and in `language` where it has that too.
    """
    card, config = atlas.card, atlas.config
    if not atlas.ours:
        return _of_others(atlas)
    facts: list[tuple[str, dict[str, object]]] = [
        ("card.size", {"count": f"{sum(parameter.numel() for parameter in atlas.model.parameters()):,}"}),
        ("card.shape", {"d_model": config.d_model, "d_ff": config.d_ff, "positions": config.positions, "norm": config.norm}),
    ]
    if data := card.get("data"):
        facts += [
            ("card.data", {"name": _said(data, "name", language)}),
            ("card.licence", {"licence": _said(card["model"], "licence", language), "attribution": data["attribution"]}),
        ]
    quality = card.get("quality")
    if quality and isinstance(atlas, LanguageModel):
        facts.append(("card.perplexity", {key: quality[key] for key in ("perplexity", "test_sentences")}))
    elif quality:
        facts.append(("card.quality", {key: quality[key] for key in ("bleu", "chrf", "test_sentences")}))
    if alignment := card.get("alignment"):
        found, diagonal = alignment["chosen"], alignment["diagonal"]
        head = found["head"] if found["head"] == "mean" else found["head"] + 1
        place = {"layer": found["layer"] + 1, "head": head, "row": found["row"]}
        facts.append(("card.alignment", {**place, "aer": found["aer"], "diagonal": diagonal["aer"], "pairs": alignment["pairs"]}))
    if exact := card.get("exact"):
        facts.append(("card.exact", {"match": f"{exact['match']:.0%}", "pairs": exact["pairs"]}))
        place = {"layer": exact["layer"] + 1, "head": exact["head"] + 1, "row": exact["row"]}
        facts.append(("card.exact_alignment", {**place, "accuracy": f"{exact['alignment']:.0%}"}))
    facts += [
        ("card.guided", {"layer": entry["layer"] + 1, "head": entry["head"] + 1, "row": entry["row"]})
        for entry in card.get("guided", ())
    ]
    return facts


def _of_others(atlas: Opened) -> list[tuple[str, dict[str, object]]]:
    """What a model shows of itself whose makers are not asked."""
    config, last = atlas.config, attentions(atlas)[-1]
    count = f"{sum(parameter.numel() for parameter in atlas.model.parameters()):,}"
    shape = {"d_model": config.d_model, "d_ff": config.d_ff, "width": config.head_dim}
    numbers = {"layers": layers_of(atlas, last), "heads": config.heads_of(last)}
    return [
        ("card.foreign_size", {"count": count, "architecture": atlas.card.get("architecture", "")}),
        ("card.foreign_shape", {**shape, **numbers}),
    ]


def _said(entry: Mapping[str, str], name: str, language: str) -> str:
    return entry.get(f"{name}_{language}", entry[name])
