"""Look for an edit that tells: one score of a head whose change makes another token the likeliest somewhere."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from model.analysis.cells import CellEdit, problem, rounded
from model.analysis.steps import path_of
from model.trace import Edit, Trace, tracing
from model.translator import Atlas

ABOVE = 10.0  # the largest score of its row: the row then reads this key and next to nothing else
AT_ONCE, TOKENS = 16, 1024  # edits, and tokens of all of them, in one forced pass
PASSES = 4


@dataclass(frozen=True)
class Search:
    """What was tried in one head, and the first edit that changed a word (None: none did) with the row where it did.

    `least_sure` is the row of the decoder whose likeliest token leads the second by least.
    """

    cell: CellEdit | None
    row: int
    tried: int
    least_sure: int


def search(atlas: Atlas, trace: Trace, attention: str, layer: int, head: int, passes: int = PASSES) -> Search:
    """Let one row after another read one key alone, and see whether the likeliest token of any row becomes another one.

    Tried first is what promises most: a value far from what the row reads now, in the decoder at a row whose word is least
    sure. Several edits share a forced pass, each in a copy of its own; only so many are tried as a few passes hold.
    """
    likely = trace["logits"].tensor[0].double().log_softmax(dim=-1)
    least_sure = int(_lead(likely).argmin())
    at_once = max(1, min(AT_ONCE, TOKENS // (len(trace.source) + len(trace.target))))
    tried = 0
    ranked = _ranked(trace, attention, layer, head, likely)
    for start in range(0, min(len(ranked), passes * at_once), at_once):
        cells = ranked[start : start + at_once]
        changed = _changed(atlas, trace, path_of(attention, layer), head, cells, likely.argmax(dim=-1))
        tried += len(cells)
        for cell, rows in zip(cells, changed, strict=True):
            if bool(rows.any()):
                return Search(cell, int(rows.nonzero()[0]), tried, least_sure)
    return Search(None, least_sure, tried, least_sure)


def elsewhere(atlas: Atlas, trace: Trace, attention: str, layer: int, head: int) -> tuple[str, int, int] | None:
    """Another head in which one pass finds such an edit: cross-attention from the last layer on, then the decoder's own."""
    for other in ("decoder.cross_attention", "decoder.self_attention"):
        for at in reversed(range(atlas.config.decoder_layers)):
            for index in range(atlas.config.num_heads):
                place = other, at, index
                if path_of(other, at) + ".weights" not in trace:
                    continue  # a language model has no cross-attention
                if place != (attention, layer, head) and search(atlas, trace, *place, passes=1).cell:
                    return place
    return None


def _lead(likely: Tensor) -> Tensor:
    """By how much the likeliest token of each row leads the second, in nats."""
    first, second = likely.topk(2, dim=-1).values.unbind(dim=-1)
    return first - second


def _ranked(trace: Trace, attention: str, layer: int, head: int, likely: Tensor) -> list[CellEdit]:
    """All cells that may be read, the most promising first."""
    path = path_of(attention, layer)
    masked, value, context = (trace[f"{path}.{name}"].tensor[0, head].double() for name in ("masked", "value", "context"))
    promise = torch.cdist(context, value)
    if attention.startswith("decoder"):
        promise = promise / _lead(likely).clamp(min=1e-6)[:, None]
    promise = promise.masked_fill(masked == -math.inf, -1.0)
    wanted = (masked.amax(dim=-1) + ABOVE).ceil()
    order = promise.flatten().argsort(descending=True).tolist()
    places = (divmod(at, masked.shape[1]) for at in order)
    cells = (CellEdit("scores", row, column, rounded(float(wanted[row]))) for row, column in places)
    return [cell for cell in cells if not problem(trace, attention, layer, head, cell)]


def _changed(atlas: Atlas, trace: Trace, path: str, head: int, cells: list[CellEdit], before: Tensor) -> Tensor:
    """For each edit, at which rows of the decoder another token is now the likeliest."""
    source, target = (
        torch.tensor([[token.id for token in tokens]], device=atlas.device).expand(len(cells), -1)
        for tokens in (trace.source, trace.target)
    )
    with torch.inference_mode(), tracing({f"{path}.scores": _each(cells, head)}, frozenset()):
        now = atlas.forced(source, target).argmax(dim=-1)
    return now != before


def _each(cells: list[CellEdit], head: int) -> Edit:
    def changed(scores: Tensor) -> Tensor:
        made = scores.clone()
        for copy, cell in enumerate(cells):
            made[copy, head, cell.row, cell.column] = cell.value
        return made

    return changed
