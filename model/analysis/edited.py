"""Change single numbers of one head, and see what becomes of everything after them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.cells import KINDS, CellEdit
from model.analysis.forced import freely, repeated
from model.analysis.steps import path_of
from model.trace import Edit, Trace
from model.translator import Atlas

SHOWN = (*KINDS, "context")


def as_edits(attention: str, layer: int, head: int, cells: Sequence[CellEdit], renormalise: bool = False) -> Mapping[str, Edit]:
    """The cells as edits for `tracing`, the later of two on one cell winning.

    Row r of a decoder tensor is row r of the decoder, so a cell waits until its row and column exist: in a pass over fewer
    tokens it does nothing. `renormalise` divides every row with a changed weight by its sum, where that is positive.
    """
    path = path_of(attention, layer)
    kinds = {cell.kind for cell in cells}
    return {f"{path}.{kind}": _setting([cell for cell in cells if cell.kind == kind], head, renormalise) for kind in kinds}


def _setting(cells: Sequence[CellEdit], head: int, renormalise: bool) -> Edit:
    def changed(values: Tensor) -> Tensor:
        made = values.clone()
        rows, columns = made.shape[-2:]
        there = [cell for cell in cells if cell.row < rows and cell.column < columns]
        for cell in there:
            made[:, head, cell.row, cell.column] = cell.value
        for row in {cell.row for cell in there if renormalise and cell.kind == "weights"}:
            total = made[:, head, row].sum(dim=-1, keepdim=True)
            made[:, head, row] = torch.where(total > 0, made[:, head, row] / total, made[:, head, row])
        return made

    return changed


@dataclass(frozen=True)
class Pair:
    """The same matrix of one head before and after."""

    before: Float[Tensor, "row column"]
    after: Float[Tensor, "row column"]

    @property
    def changed(self) -> int:
        """How many cells differ."""
        return int((self.before != self.after).sum())


@dataclass(frozen=True)
class Travelled:
    """How far a change came: of the residual stream after one sublayer.

    `path` is the sublayer's residual; `relative` the norm of the difference over all positions divided by the norm before;
    `positions` the norm of the difference at each position.
    """

    path: str
    relative: float
    positions: Float[Tensor, " token"]

    @property
    def percent(self) -> float:
        """`relative` in hundredths."""
        return 100 * self.relative

    @property
    def reached(self) -> int:
        """How many positions differ at all."""
        return int((self.positions > 0).sum())


@dataclass(frozen=True)
class Candidate:
    """A token that could come next, and its probability before and after."""

    id: int
    label: str
    before: float
    after: float


@dataclass(frozen=True)
class Row:
    """One row of the decoder: its likeliest tokens before and after, likeliest before first.

    `moved` is the total variation between both distributions: 0 for equal ones, 1 for such as share nothing.
    """

    first_before: str
    first_after: str
    moved: float
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Recomputed:
    """A forced pass over the same tokens with edits, beside the one without."""

    matrices: Mapping[str, Pair]
    encoder: tuple[Travelled, ...]
    decoder: tuple[Travelled, ...]
    rows: tuple[Row, ...]
    log_probability_before: float
    log_probability_after: float

    @property
    def most_moved(self) -> int:
        """The row whose next token changed most."""
        return max(range(len(self.rows)), key=lambda row: self.rows[row].moved)

    @property
    def words_changed(self) -> int:
        """At how many rows another token is now the likeliest."""
        return sum(row.first_before != row.first_after for row in self.rows)

    def row_sums(self, rows: Sequence[int]) -> tuple[float, ...]:
        """The sums of these rows of changed weights."""
        return tuple(float(self.matrices["weights"].after[row].double().sum()) for row in rows)


def recompute(
    atlas: Atlas,
    trace: Trace,
    attention: str,
    layer: int,
    head: int,
    cells: tuple[CellEdit, ...],
    renormalise: bool = False,
    candidates: int = 5,
) -> Recomputed:
    """Everything downstream of the edited cells, over the same source and target tokens."""
    path = path_of(attention, layer)
    streams = {stack: _stream(atlas, trace, stack) for stack in ("encoder", "decoder")}
    kept = frozenset((*(f"{path}.{name}" for name in SHOWN), *streams["encoder"], *streams["decoder"], "logits"))
    after = repeated(atlas, trace, as_edits(attention, layer, head, cells, renormalise), kept)
    return Recomputed(
        matrices={name: Pair(trace[f"{path}.{name}"].tensor[0, head], after[f"{path}.{name}"].tensor[0, head]) for name in SHOWN},
        encoder=tuple(_travelled(trace, after, name) for name in streams["encoder"]),
        decoder=tuple(_travelled(trace, after, name) for name in streams["decoder"]),
        rows=_rows(atlas, trace, after, candidates),
        log_probability_before=sum(trace.log_probabilities),
        log_probability_after=sum(after.log_probabilities),
    )


def written(
    atlas: Atlas,
    trace: Trace,
    attention: str,
    layer: int,
    head: int,
    cells: tuple[CellEdit, ...],
    renormalise: bool = False,
) -> str:
    """What the model writes greedily for the same source while the cells are set.

    In the encoder they are set once, before the first word. In the decoder a cell is set at row r as soon as row r exists,
    whatever token that row reads by then; rows that are never reached change nothing.
    """
    changes = as_edits(attention, layer, head, cells, renormalise)
    hypothesis = freely(atlas, trace, changes, cached=attention.startswith("encoder"))
    return atlas.said(trace.source_text, hypothesis.ids)


def _stream(atlas: Atlas, trace: Trace, stack: str) -> list[str]:
    """Where the residual stream of a stack stands after each of its sublayers, in order."""
    name = "sum" if atlas.config.norm == "pre" else "normed"
    return [path for path in trace if path.startswith(f"{stack}.layers.") and ".residual." in path and path.endswith(f".{name}")]


def _travelled(before: Trace, after: Trace, path: str) -> Travelled:
    old, new = before[path].tensor[0].double(), after[path].tensor[0].double()
    positions = (new - old).norm(dim=-1)
    return Travelled(path.rsplit(".", 1)[0], float(positions.norm() / old.norm()), positions)


def _rows(atlas: Atlas, before: Trace, after: Trace, count: int) -> tuple[Row, ...]:
    old, new = (trace["logits"].tensor[0].double().softmax(dim=-1) for trace in (before, after))
    moved = ((new - old).abs().sum(dim=-1) / 2).tolist()
    best_old, best_new = old.topk(count).indices.tolist(), new.topk(count).indices.tolist()
    every = {id_ for row in (*best_old, *best_new) for id_ in row}
    labels = {id_: atlas.tokenizers.target.produced([id_])[0].label for id_ in every}
    found = []
    for row, (first, second) in enumerate(zip(best_old, best_new, strict=True)):
        ids = list(dict.fromkeys((*first, *second)))
        pairs = zip(ids, old[row, ids].tolist(), new[row, ids].tolist(), strict=True)
        entries = tuple(Candidate(id_, labels[id_], was, now) for id_, was, now in pairs)
        found.append(Row(labels[first[0]], labels[second[0]], moved[row], entries))
    return tuple(found)


def positions(entries: Sequence[Travelled]) -> Float[Tensor, "sublayer token"]:
    """The norms of the differences, one row a sublayer, one column a position."""
    return torch.stack([entry.positions for entry in entries])


def most_changed(entries: Sequence[Travelled]) -> tuple[int, int]:
    """The sublayer and the position that changed most."""
    sublayer, position = divmod(int(positions(entries).argmax()), len(entries[0].positions))
    return sublayer, position
