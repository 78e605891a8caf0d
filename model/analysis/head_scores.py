"""What the heads of a model do, measured over many sentences, each score beside its chance level.

Every score but the entropies is the mean, over rows, of what a row's weights give: the weight on certain keys (the token
before, punctuation ...) or the mean of a quantity over the keys (the distance). **Chance** is the same mean on the same rows
for weights that are spread evenly over the allowed keys. Rows that may read only one key have no choice and are left out; so
are, for the weight on certain keys, rows that may read none of them.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.alignment import extract
from model.alignment.extract import Choice
from model.analysis.what_if import entropy
from model.tokenizer import Token
from model.trace import Trace

ATTENTIONS = ("encoder.self_attention", "decoder.self_attention", "decoder.cross_attention")
SHARES = ("previous", "same", "next", "special", "punctuation", "aligned_produced", "aligned_read")
"""Scores that are shares of the weight, 0 to 1: where a head may earn a role."""


@dataclass(frozen=True)
class Score:
    """One measure of all heads of one attention: `heads[layer][head]`, what even weights score, and over how many rows."""

    heads: tuple[tuple[float, ...], ...]
    chance: float
    rows: int


@dataclass(frozen=True)
class Measure:
    """What is averaged: a number for each query and key, and the rows that count."""

    values: Float[Tensor, "query key"]
    rows: Bool[Tensor, " query"]


class Sums:
    """Totals of one measure over sentences."""

    def __init__(self) -> None:
        self.total: Tensor | float = 0.0
        self.chance = 0.0
        self.rows = 0

    def add(
        self, heads: Float[Tensor, "layer head query"], chance: Float[Tensor, " query"], rows: Bool[Tensor, " query"]
    ) -> None:
        """One sentence: what each row of each head scored, and what chance scored there."""
        self.total = self.total + heads[..., rows].sum(dim=-1)
        self.chance += float(chance[rows].sum())
        self.rows += int(rows.sum())

    def score(self) -> Score | None:
        """The means; None where no row counted."""
        if not self.rows or not isinstance(self.total, Tensor):
            return None
        means = (self.total / self.rows).tolist()
        return Score(tuple(map(tuple, means)), self.chance / self.rows, self.rows)


def measure(traces: Iterable[Trace], reference: Choice | None = None) -> dict[str, dict[str, Score]]:
    """Every score of every head over these traces: `[attention][score]`.

    Scores: `previous`, `same`, `next` (the share of weight on the token before, on the row's own, on the one after; own
    means the token that the row reads; self-attention only, `next` in the encoder only), `special` (on `</s>` of the source,
    or `<s>` of the target), `punctuation`; `aligned_produced` and `aligned_read` (cross-attention: the share on the source
    word that `reference`, a head that aligns, links to the word that the row produces or reads); `entropy` in bits,
    `relative_entropy` (over log2 of the allowed keys); `distance` (in tokens; in cross-attention from the diagonal).
    """
    sums: dict[str, dict[str, Sums]] = {attention: {} for attention in ATTENTIONS}
    for trace in traces:
        for attention in ATTENTIONS:
            if not paths_of(trace, attention):
                continue  # a language model has one of the three
            weights, allowed = stacked(trace, attention)
            _add(sums[attention], weights, allowed, dict(measures(trace, attention, allowed, reference)))
    found = {attention: {name: total.score() for name, total in members.items()} for attention, members in sums.items()}
    return {
        attention: {name: score for name, score in members.items() if score is not None}
        for attention, members in found.items()
        if members
    }


def stacked(trace: Trace, attention: str) -> tuple[Float[Tensor, "layer head query key"], Bool[Tensor, "query key"]]:
    """The weights of all layers of one attention in float64, and which keys each row may read."""
    paths = paths_of(trace, attention)
    weights = torch.stack([trace[f"{path}.weights"].tensor[0].double() for path in paths])
    return weights, ~torch.isneginf(trace[f"{paths[0]}.masked"].tensor[0, 0])


def paths_of(trace: Trace, attention: str) -> tuple[str, ...]:
    """The paths of one kind of attention, "decoder.cross_attention", layer by layer."""
    stack, name = attention.split(".")
    found: list[str] = []
    while f"{(path := f'{stack}.layers.{len(found)}.{name}')}.weights" in trace:
        found.append(path)
    return tuple(found)


def even(allowed: Bool[Tensor, "query key"]) -> Float[Tensor, "query key"]:
    """Weights spread evenly over the allowed keys of each row."""
    return allowed.double() / allowed.sum(dim=-1, keepdim=True).clamp(min=1)


def _add(
    sums: dict[str, Sums],
    weights: Float[Tensor, "layer head query key"],
    allowed: Bool[Tensor, "query key"],
    wanted: Mapping[str, Measure],
) -> None:
    chance, choice = even(allowed), allowed.sum(dim=-1) > 1
    for name, item in wanted.items():
        rows = item.rows & choice
        scored = sums.setdefault(name, Sums())
        scored.add((weights * item.values).sum(dim=-1), (chance * item.values).sum(dim=-1), rows)
    bits, most = entropy(weights), entropy(chance)
    sums.setdefault("entropy", Sums()).add(bits, most, choice)
    sums.setdefault("relative_entropy", Sums()).add(bits / most.clamp(min=1e-12), torch.ones_like(most), choice)


def measures(
    trace: Trace, attention: str, allowed: Bool[Tensor, "query key"], reference: Choice | None
) -> Iterator[tuple[str, Measure]]:
    """The measures that make sense for this attention."""
    queries, keys = allowed.shape
    crosses = attention.endswith("cross_attention")
    read = trace.source if crosses or attention.startswith("encoder") else trace.target
    shares = {"special": of_keys(read, special), "punctuation": of_keys(read, punctuation)}
    selected = {name: chosen.expand(queries, keys) for name, chosen in shares.items()}
    if crosses:
        if reference is not None:
            selected |= linked(trace, reference)
    else:
        steps = {"previous": -1, "same": 0} | ({"next": 1} if attention.startswith("encoder") else {})
        row, column = torch.arange(queries)[:, None], torch.arange(keys)
        selected |= {name: column - row == step for name, step in steps.items()}
    for name, chosen in selected.items():
        yield name, Measure(chosen.double(), (chosen & allowed).any(dim=-1))
    yield "distance", Measure(distances(queries, keys), torch.ones(queries, dtype=torch.bool))


def distances(queries: int, keys: int) -> Float[Tensor, "query key"]:
    """How far each key stands from its query, in tokens; where the lengths differ, from the diagonal between the corners."""
    slope = (keys - 1) / (queries - 1) if queries > 1 else 0.0
    return (torch.arange(keys, dtype=torch.float64) - slope * torch.arange(queries, dtype=torch.float64)[:, None]).abs()


def of_keys(tokens: tuple[Token, ...], kind: Callable[[Token], bool]) -> Bool[Tensor, " key"]:
    """Which tokens are of a kind."""
    return torch.tensor([kind(token) for token in tokens], dtype=torch.bool)


def special(token: Token) -> bool:
    """A token that stands for no text."""
    return token.special


def punctuation(token: Token) -> bool:
    """A token of punctuation marks alone."""
    return not token.special and all(unicodedata.category(character).startswith("P") for character in token.text)


def linked(trace: Trace, reference: Choice) -> dict[str, Bool[Tensor, "query key"]]:
    """For each row the tokens of the source words that the reference head links to the word it produces, or reads."""
    weights, labels = extract.of_trace(trace), extract.label(trace)
    links = extract.links(weights, reference)
    targets = {"aligned_produced": labels.produced, "aligned_read": labels.read}
    return {
        name: torch.tensor([[(source, target) in links for source in labels.source] for target in rows], dtype=torch.bool)
        for name, rows in targets.items()
    }
