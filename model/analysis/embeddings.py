"""From ids to the vectors that enter the first layer: the parts of the sum, how long they are, and what lies near them."""

from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from model.analysis import what_if
from model.analysis.forced import repeated
from model.analysis.vocabulary import Side
from model.embedding import InputEmbedding
from model.position import sinusoidal
from model.trace import Trace
from model.translator import Atlas

BLOCKS = 6  # of the rows of a table that are drawn as their mean, at least; few, so that the product stands in one row
NEAREST = 10


def embedding_of(atlas: Atlas, side: Side) -> InputEmbedding:
    """The module that turns the ids of this side into vectors."""
    module: InputEmbedding = getattr(atlas.model, side)
    return module


def _ids(trace: Trace, side: Side, device: torch.device) -> Tensor:
    return torch.tensor([token.id for token in trace.tokens(side)], device=device)


@dataclass(frozen=True)
class Parts:
    """What enters the first layer of a side, and what it is made of, one row a token that was read.

    `looked_up` are the rows of the table; `scaled` the same times sqrt(d_model); `position` is None where positions are not
    added (rotary models); `entering` is what the first layer's residual stream begins with.
    """

    looked_up: Float[Tensor, "token d_model"]
    scaled: Float[Tensor, "token d_model"]
    position: Float[Tensor, "token d_model"] | None
    entering: Float[Tensor, "token d_model"]

    @property
    def largest(self) -> float:
        """The largest absolute number of the sum and its two parts: one scale for all three."""
        added = (self.scaled, self.entering) if self.position is None else (self.scaled, self.position, self.entering)
        return max(float(part.abs().max()) for part in added)


def parts(atlas: Atlas, trace: Trace, side: Side) -> Parts:
    """The rows of the table by look-up; the rest as the forward pass recorded it."""
    table = embedding_of(atlas, side).table.weight
    stack = {"source": "encoder", "target": "decoder"}[side]
    return Parts(
        looked_up=table[_ids(trace, side, table.device)].detach(),
        scaled=trace[f"{side}.embedding"].tensor[0],
        position=trace[f"{side}.position"].tensor[0] if f"{side}.position" in trace else None,
        entering=trace[f"{stack}.layers.0.residual.0.input"].tensor[0],
    )


@dataclass(frozen=True)
class Agreement:
    """The largest absolute difference, over all numbers of a sentence, between two ways to the same matrix.

    `product`: one-hot rows times the whole table, against the look-up. `scaled`: looked-up rows times the factor, against
    what was recorded. `sum`: embedding plus position, against what the first layer read.
    """

    product: float
    scaled: float
    sum: float


def agreement(atlas: Atlas, trace: Trace, side: Side) -> Agreement:
    """How far the steps of the page are from what the model computed; 0 everywhere if they are the same computation."""
    module, found = embedding_of(atlas, side), parts(atlas, trace, side)
    table = module.table.weight.detach()
    one_hot = functional.one_hot(_ids(trace, side, table.device), len(table)).to(table.dtype)
    added = found.scaled if found.position is None else found.scaled + found.position
    return Agreement(
        product=_distance(one_hot @ table, found.looked_up),
        scaled=_distance(found.looked_up * module.scale, found.scaled),
        sum=_distance(added, found.entering),
    )


def _distance(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


@dataclass(frozen=True)
class Condensed:
    """A table [V, d_model] with few enough rows to be drawn, in the order of the ids.

    Row r stands for the ids `first[r]` to `last[r]`. The rows of the sentence's ids stand alone and are `exact`; those
    between are gathered into blocks, each drawn as the mean of its rows. `place` is the row of each token, and `one_hot` has
    a 1 there, so that one_hot @ rows are the looked-up rows. No block has more than `block` rows.
    """

    rows: Float[Tensor, "row d_model"]
    place: tuple[int, ...]
    one_hot: Float[Tensor, "token row"]
    first: tuple[int, ...]
    last: tuple[int, ...]
    exact: tuple[bool, ...]
    block: int


def condensed(atlas: Atlas, trace: Trace, side: Side, blocks: int = BLOCKS) -> Condensed:
    """The whole table of a side with the rows of this sentence's tokens exact."""
    table = embedding_of(atlas, side).table.weight.detach()
    ids = _ids(trace, side, table.device)
    chosen, largest = sorted(set(ids.tolist())), -(-len(table) // blocks)
    ranges: list[tuple[int, int]] = []
    for before, after in pairwise([-1, *chosen, len(table)]):
        begin, size = before + 1, after - before - 1
        count = -(-size // largest)
        edges = [begin + size * part // count for part in range(count + 1)] if count else []
        ranges += pairwise(edges)
        ranges += [(after, after + 1)] if after < len(table) else []
    rows = torch.stack([table[begin:end].mean(dim=0) for begin, end in ranges])
    place = {begin: row for row, (begin, _) in enumerate(ranges) if begin in set(chosen)}
    places = tuple(place[id_] for id_ in ids.tolist())
    return Condensed(
        rows=rows,
        place=places,
        one_hot=functional.one_hot(torch.tensor(places), len(ranges)).to(rows),
        first=tuple(begin for begin, _ in ranges),
        last=tuple(end - 1 for _, end in ranges),
        exact=tuple(begin in place for begin, _ in ranges),
        block=largest,
    )


@dataclass(frozen=True)
class Norms:
    """Lengths of the vectors of each token, and how much of the word is left in its input.

    `looked_up`, `scaled`, `position` (None if none is added) and `entering` are Euclidean norms. `word` is the cosine of the
    input with the word's own row, `word_unscaled` the same if the row were added without the factor; `found` says whether
    the row of the table with the largest cosine to the input is still the token's own, `found_unscaled` without the factor.
    """

    looked_up: tuple[float, ...]
    scaled: tuple[float, ...]
    position: tuple[float, ...] | None
    entering: tuple[float, ...]
    word: tuple[float, ...]
    word_unscaled: tuple[float, ...]
    found: tuple[bool, ...]
    found_unscaled: tuple[bool, ...]

    @property
    def found_again(self) -> int:
        """How many tokens can be told from their input."""
        return sum(self.found)

    @property
    def found_again_unscaled(self) -> int:
        """How many could be told without the factor."""
        return sum(self.found_unscaled)


def norms(atlas: Atlas, trace: Trace, side: Side) -> Norms:
    """The parts of the input side by side: lengths and cosines in float64, the search through the table in float32."""
    found = parts(atlas, trace, side)
    table = embedding_of(atlas, side).table.weight.detach()
    ids, unit = _ids(trace, side, table.device), functional.normalize(table, dim=-1)
    unscaled = found.looked_up if found.position is None else found.looked_up + found.position
    return Norms(
        looked_up=_lengths(found.looked_up),
        scaled=_lengths(found.scaled),
        position=None if found.position is None else _lengths(found.position),
        entering=_lengths(found.entering),
        word=_cosines(found.entering, found.looked_up),
        word_unscaled=_cosines(unscaled, found.looked_up),
        found=tuple(((found.entering @ unit.T).argmax(dim=1) == ids).tolist()),
        found_unscaled=tuple(((unscaled @ unit.T).argmax(dim=1) == ids).tolist()),
    )


def _cosines(vectors: Tensor, others: Tensor) -> tuple[float, ...]:
    return tuple(functional.cosine_similarity(vectors.double(), others.double(), dim=-1).tolist())


def _lengths(vectors: Tensor) -> tuple[float, ...]:
    return tuple(vectors.double().norm(dim=-1).tolist())


@dataclass(frozen=True)
class Untrained:
    """Mean norms of a table before any training: of its rows, of these times sqrt(d_model), and of a position."""

    row: float
    scaled: float
    position: float


def untrained(atlas: Atlas, side: Side) -> Untrained:
    """What the factor is for: rows drawn from N(0, 1 / d_model), as a model of this shape draws its own, beside a position."""
    config = atlas.config
    size = {"source": config.source_vocab_size, "target": config.target_vocab_size}[side]
    weight = torch.empty(size, config.d_model, dtype=torch.float64)
    nn.init.normal_(weight, std=config.d_model**-0.5, generator=torch.Generator().manual_seed(0))
    mean = float(weight.norm(dim=-1).mean())
    return Untrained(mean, mean * config.d_model**0.5, float(sinusoidal(1, config.d_model).double().norm()))


@dataclass(frozen=True)
class Neighbours:
    """The rows of a table that point most nearly where the row of `id` points.

    `nearest` are ids with their cosines, the closest first, `id` itself left out; `mean` and `spread` are mean and standard
    deviation of the cosine with all other rows, the level of chance.
    """

    id: int
    nearest: tuple[tuple[int, float], ...]
    mean: float
    spread: float


def neighbours(atlas: Atlas, side: Side, id: int, count: int = NEAREST) -> Neighbours:
    """The nearest neighbours of a token in the table, by cosine."""
    table = embedding_of(atlas, side).table.weight.detach().double()
    others = torch.arange(len(table), device=table.device) != id
    unit = functional.normalize(table, dim=-1)
    cosines = unit @ unit[id]
    values, ids = cosines.masked_fill(~others, -2).topk(min(count, len(table) - 1))
    return Neighbours(
        id,
        tuple(zip(ids.tolist(), values.tolist(), strict=True)),
        float(cosines[others].mean()),
        float(cosines[others].std()),
    )


@dataclass(frozen=True)
class Damage:
    """The same pair of sentences through an altered model: log-probability of each produced token, and what it writes itself."""

    log_probabilities: tuple[float, ...]
    written: str
    stopped: str


def without_factor(atlas: Atlas, trace: Trace) -> Damage:
    """The model without the factor sqrt(d_model): the same weights, which were trained with it."""
    return _damage(what_if.without_embedding_scale(atlas), trace)


def without_position(atlas: Atlas, trace: Trace) -> Damage:
    """The model without positions: the same weights, which were trained with them."""
    return _damage(what_if.without_positions(atlas), trace)


def _damage(altered: Atlas, trace: Trace) -> Damage:
    written = altered.write(trace.source_text)
    text = altered.said(trace.source_text, [token.id for token in written.produced])
    return Damage(repeated(altered, trace, only=frozenset()).log_probabilities, text, written.stopped)
