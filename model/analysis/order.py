"""The same words in another order, read with positions and without: what the encoder makes of them, and what is written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.alignment import words
from model.analysis.rotated import nowhere
from model.decoding import Hypothesis, greedy
from model.tokenizer import Token
from model.trace import Trace
from model.translator import Translator


def _shuffled(count: int) -> list[int]:
    return torch.randperm(count, generator=torch.Generator().manual_seed(0)).tolist()


ORDERS: Mapping[str, Callable[[int], list[int]]] = {
    "reversed": lambda count: list(range(count))[::-1],
    "first_last": lambda count: [*range(1, count), 0][:count],
    "shuffled": _shuffled,
}
"""New orders of so many words, by the old place of each."""

REMOVED: Mapping[str, tuple[str, ...]] = {"none": (), "source": ("source",), "both": ("source", "target")}
"""Where positions are left out."""


def reordered(tokens: Sequence[Token], text: str, order: str) -> tuple[int, ...]:
    """The old place of each token when the words stand in another order.

    Pieces of one word stay together in their order; tokens that belong to no word (the end token) stay where they are.
    """
    if order not in ORDERS:
        raise ValueError(f"order={order!r} is not known; choose one of {', '.join(ORDERS)}")
    belongs = words.of_tokens(tokens, text)
    movable = [place for place, word in enumerate(belongs) if word >= 0 and not tokens[place].special]
    names = list(dict.fromkeys(belongs[place] for place in movable))
    moved = [place for at in ORDERS[order](len(names)) for place in movable if belongs[place] == names[at]]
    into = dict(zip(movable, moved, strict=True))
    return tuple(into.get(place, place) for place in range(len(tokens)))


@dataclass(frozen=True)
class Reading:
    """One model, the sentence and the reordered sentence.

    `apart` has for each token of the sentence the largest absolute difference between its row of the memory and the row of
    the same token in the other order; `largest` is the largest absolute number of the memory. `written` and `rewritten`
    are the greedy translations; `ended` says that both came to an end before the limit.
    """

    apart: tuple[float, ...]
    largest: float
    written: str
    rewritten: str
    ended: bool

    @property
    def difference(self) -> float:
        """The largest of `apart`: 0 up to rounding if the encoder does not see the order."""
        return max(self.apart)


@dataclass(frozen=True)
class Comparison:
    """The order that was read (old place of each token), its text, and a `Reading` for each of `REMOVED`."""

    order: tuple[int, ...]
    text: str
    readings: Mapping[str, Reading]


def compare(atlas: Translator, trace: Trace, order: str) -> Comparison:
    """A sentence and its reordering through the model as it is, without positions of the source, and without any."""
    places = reordered(trace.source, trace.source_text, order)
    ids = [trace.source[place].id for place in places]
    pieces = [id_ for id_, place in zip(ids, places, strict=True) if not trace.source[place].special]
    return Comparison(
        places,
        atlas.tokenizers.source.decode(pieces),
        {name: _read(nowhere(atlas, sides), trace, places) for name, sides in REMOVED.items()},
    )


@torch.inference_mode()
def _read(atlas: Translator, trace: Trace, places: Sequence[int]) -> Reading:
    ids = torch.tensor([[token.id for token in trace.source]], device=atlas.device)
    moved = ids[:, list(places)]
    memory, other = atlas.model.encode(ids)[0], atlas.model.encode(moved)[0]
    found: list[Hypothesis] = [greedy(atlas.model, read)[0] for read in (ids, moved)]
    written = [atlas.tokenizers.target.decode(hypothesis.ids) for hypothesis in found]
    return Reading(
        apart=_back_in_order((memory[list(places)] - other).abs().amax(dim=-1), places),
        largest=float(memory.abs().max()),
        written=written[0],
        rewritten=written[1],
        ended=all(hypothesis.ended for hypothesis in found),
    )


def _back_in_order(values: Tensor, places: Sequence[int]) -> tuple[float, ...]:
    """Values of the moved tokens, for the tokens where they stood at first."""
    by_place = dict(zip(places, values.tolist(), strict=True))
    return tuple(by_place[place] for place in range(len(places)))
