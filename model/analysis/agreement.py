"""Do weights point at what the model needs? Each source token is taken away, and what the produced words lose is compared.

The **prediction difference** of row r and source token j is log P(produced r) with the whole source minus the same without
token j: no attention of the encoder and no cross-attention may look at it, in any layer; positions stay. Weights, norms and
rollout each rank the source tokens of a row; Spearman's rank correlation with the difference says how far they agree (compare
Jain & Wallace 2019, Serrano & Smith 2019).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis import norms, rollout, what_if
from model.analysis.ablation import chosen, inputs
from model.analysis.head_scores import distances, paths_of, stacked
from model.trace import Trace, tracing
from model.translator import Translator

AT_ONCE = 8  # copies of a sentence in one pass
READ = ("encoder.self_attention", "decoder.cross_attention")  # where source tokens are looked at


@dataclass(frozen=True)
class Agreement:
    """How one map agrees with the prediction difference: means over rows.

    `correlation` is Spearman's (1 the same order, 0 none, -1 the reverse), `first` the share of rows whose largest entry is
    the token that is missed most, `chance` what picking a token blindly would score there. Rows in which one of the two is
    constant have no order and are left out of the correlation.
    """

    correlation: float
    first: float
    chance: float
    rows: int


@dataclass(frozen=True)
class Comparison:
    """The prediction difference of a sentence, the maps that are compared with it, and how far each agrees."""

    difference: Float[Tensor, "target source"]
    maps: dict[str, Float[Tensor, "target source"]]
    agreements: dict[str, Agreement]


def prediction_difference(atlas: Translator, trace: Trace) -> Float[Tensor, "target source"]:
    """What each produced token loses in log-probability (nats) without each source token; negative where it gains."""
    attentions = [path for attention in READ for path in paths_of(trace, attention)]
    losses: list[Tensor] = []
    whole = torch.tensor(trace.log_probabilities, dtype=torch.float64)
    for keys in torch.split(torch.arange(len(trace.source)), AT_ONCE):
        changes = what_if.without_source_tokens(attentions, keys)
        with torch.inference_mode(), tracing(edits=changes, only=frozenset()):
            logits = atlas.model(*inputs(atlas, trace, len(keys)))
        losses.append(whole - chosen(logits, trace).cpu())
    return torch.cat(losses).mT.clone()


def maps(atlas: Translator, trace: Trace) -> dict[str, Float[Tensor, "target source"]]:
    """What is compared, each a map from produced tokens (rows) to source tokens.

    `aligning`: the weights of the head that was guided to align the word that its row produces (left out if there is none);
    `weights`: the mean of all heads of all layers of cross-attention; `last`: of the last layer; `norms`: ||sum of alpha f(x)||
    of each layer as shares, the mean of all layers; `rollout`: the source part of the decoder's rollout; `diagonal`: nothing of
    the model, only nearness to the diagonal.
    """
    cross, _ = stacked(trace, "decoder.cross_attention")
    found: dict[str, Tensor] = {}
    for entry in atlas.card.get("guided", ()):
        if entry["row"] == "produced":
            found["aligning"] = cross[entry["layer"], entry["head"]]
    return found | {
        "weights": cross.mean(dim=(0, 1)),
        "last": cross[-1].mean(dim=0),
        "norms": norms.shares(norms.of_attention(atlas, trace, "decoder.cross_attention")).mean(dim=0),
        "rollout": rollout.decoder(trace)[1],
        "diagonal": -distances(*cross.shape[-2:]),
    }


def compare(map_: Float[Tensor, "target source"], difference: Float[Tensor, "target source"]) -> Agreement:
    """One map against the prediction difference, row by row."""
    correlations = spearman(map_, difference)
    known = correlations.isfinite()
    first = map_.argmax(dim=-1) == difference.argmax(dim=-1)
    mean = float(correlations[known].mean()) if bool(known.any()) else 0.0
    return Agreement(mean, float(first.double().mean()), 1 / map_.shape[-1], int(known.sum()))


def of_trace(atlas: Translator, trace: Trace) -> Comparison:
    """Every map of one sentence against its prediction difference."""
    difference, compared = prediction_difference(atlas, trace), maps(atlas, trace)
    return Comparison(difference, compared, {name: compare(map_, difference) for name, map_ in compared.items()})


def over_sentences(atlas: Translator, traces: Iterable[Trace]) -> dict[str, Agreement]:
    """The same over many sentences; every row counts once."""
    found: dict[str, list[tuple[Agreement, int]]] = {}
    for trace in traces:
        for name, value in of_trace(atlas, trace).agreements.items():
            found.setdefault(name, []).append((value, len(trace.produced)))
    return {name: _joined(values) for name, values in found.items()}


def _joined(values: Sequence[tuple[Agreement, int]]) -> Agreement:
    known, rows = sum(value.rows for value, _ in values), sum(rows for _, rows in values)
    return Agreement(
        sum(value.correlation * value.rows for value, _ in values) / max(1, known),
        sum(value.first * rows for value, rows in values) / max(1, rows),
        sum(value.chance * rows for value, rows in values) / max(1, rows),
        known,
    )


def spearman(x: Float[Tensor, "*rows item"], y: Float[Tensor, "*rows item"]) -> Float[Tensor, "*rows"]:
    """Spearman's rank correlation along the last axis: Pearson's of the ranks; NaN where x or y is constant."""
    x, y = ranks(x), ranks(y)
    x, y = x - x.mean(dim=-1, keepdim=True), y - y.mean(dim=-1, keepdim=True)
    scale = (x.square().sum(dim=-1) * y.square().sum(dim=-1)).sqrt()
    return torch.where(scale > 0, (x * y).sum(dim=-1) / scale.clamp(min=1e-300), torch.nan)


def ranks(values: Float[Tensor, "*rows item"]) -> Float[Tensor, "*rows item"]:
    """Ranks from 1, the smallest first; equal values share the mean of their ranks."""
    below = (values[..., None, :] < values[..., :, None]).sum(dim=-1)
    equal = (values[..., None, :] == values[..., :, None]).sum(dim=-1)
    return below.double() + (equal.double() + 1) / 2
