"""The list of a study as arrays: sorted, filtered and searched here, so that a page is sent fifty rows whatever there is."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from app.session.studio_pairs import FLAGS
from app.session.studio_study import Study
from model.alignment.corpus import WeightedLink
from model.alignment.metrics import Counts, per_sentence
from model.alignment.pharaoh import Link

ListColumn = Literal["index", "confidence", "coverage", "rows", "columns", "entropy", "ratio", "aer"]
COLUMNS: tuple[ListColumn, ...] = get_args(ListColumn)
PERCENTAGES: tuple[ListColumn, ...] = ("confidence", "coverage", "rows", "columns")
PAGE = 50  # rows

Links = list[frozenset[Link] | None]


@dataclass(frozen=True)
class Wanted:
    """What a visitor wants to see of a list.

    `flags`: pairs with any of these. `below`: pairs whose percentage in a column is at most this. `edited`, `gold`: only pairs
    linked by hand, or with gold.
    """

    sort: ListColumn = "index"
    descending: bool = False
    query: str = ""
    flags: Collection[str] = ()
    below: tuple[tuple[ListColumn, float], ...] = ()
    edited: bool = False
    gold: bool = False


@dataclass(frozen=True)
class Table:
    """Numbers of all results, one array a column, NaN where there is none; `texts` are both sides, to search in."""

    numbers: dict[ListColumn, np.ndarray]
    texts: list[str]
    flags: list[frozenset[str]]
    edited: np.ndarray
    gold: np.ndarray

    def listed(self, wanted: Wanted) -> np.ndarray:
        """The indices of the pairs that are wanted, in their order; what has no number comes last."""
        keep = np.ones(len(self.texts), dtype=bool)
        if query := wanted.query.strip().casefold():
            keep &= np.fromiter((query in both for both in self.texts), dtype=bool, count=len(self.texts))
        if flags := frozenset(wanted.flags):
            keep &= np.fromiter((not flags.isdisjoint(own) for own in self.flags), dtype=bool, count=len(self.flags))
        for column, most in wanted.below:
            keep &= self.numbers[column] <= most
        if wanted.edited:
            keep &= self.edited
        if wanted.gold:
            keep &= self.gold
        indices = np.flatnonzero(keep)
        numbers = self.numbers[wanted.sort][indices]
        order = np.argsort(-numbers if wanted.descending else numbers, kind="stable")
        return indices[order]


def study_table(study: Study) -> Table:
    """The table of a study as it stands; made again only where something has changed, and of links by hand only their rows."""
    table = study.once("table", study.links_key, lambda: _table(study))
    counts = scored(study, "ours", study.links_key, lambda: links_of(study))
    edits = (study.version, study.done)
    return study.once("table_edited", edits, lambda: _with_gold(study, table, counts))


def links_of(study: Study) -> Links:
    """The links of each result; None where it could not be aligned."""

    def links() -> Links:
        return [pairs_of(one.links) if one.problem is None else None for one in study.results]

    return study.once("ours", study.links_key, links)


def pairs_of(links: Iterable[WeightedLink], *, turn: bool = False) -> frozenset[Link]:
    """Links without their weights; `turn`: of a model of the other direction."""
    return frozenset((link.target, link.source) if turn else (link.source, link.target) for link in links)


def scored(study: Study, name: str, key: object, links: Callable[[], Links]) -> np.ndarray:
    """Of each pair the counts of its links beside what is taken to be right (`metrics.per_sentence`); -1 where one is missing.

    Kept while the links stay the same; pairs that were linked by hand since then are counted again.
    """
    kept = study.once(f"scored {name}", key, lambda: _Scored(study, links()))
    kept.follow(study)
    return kept.counts


class _Scored:
    """Counts of links that follow what the visitor links by hand."""

    def __init__(self, study: Study, links: Links) -> None:
        self.links, self.edits = links, dict(study.edits)
        self.counts = np.full((len(links), 4), -1, dtype=np.int64)
        self._count(study, [index for index in range(len(links)) if study.gold_of(index) is not None] if study.has_gold() else [])

    def follow(self, study: Study) -> None:
        if self.edits == study.edits:
            return
        changed = [index for index in {*self.edits, *study.edits} if self.edits.get(index) != study.edits.get(index)]
        self.edits = dict(study.edits)
        self._count(study, [index for index in changed if index < len(self.links)])

    def _count(self, study: Study, indices: Sequence[int]) -> None:
        for index in indices:
            links, gold = self.links[index], study.gold_of(index)
            if links is None or gold is None:
                self.counts[index] = -1
            else:
                self.counts[index] = per_sentence([links], [gold.sure], [gold.possible])[0]


def corpus_counts(study: Study) -> tuple[Counts, int] | None:
    """Links and gold links counted over all pairs that have both, and how many pairs these are; None where there are none."""
    if not study.has_gold():
        return None
    counts = scored(study, "ours", study.links_key, lambda: links_of(study))
    there = counts[counts[:, 0] >= 0]
    return (Counts(*(int(count) for count in there.sum(axis=0))), len(there)) if len(there) else None


def count_flags(study: Study) -> dict[str, int]:
    """How many pairs have each flag, those that occur; see studio_pairs.FLAGS."""

    def count() -> dict[str, int]:
        counts = Counter(flag for index in range(study.total) for flag in study.flags_at(index))
        return {flag: counts[flag] for flag in FLAGS if counts[flag]}

    return study.once("flags", (study.links_key, study.model, study.state), count)


def _table(study: Study) -> Table:
    results = list(study.results)
    count = len(results)
    scores = [one.scores for one in results]
    nothing = np.zeros(count, dtype=bool)
    numbers: dict[ListColumn, np.ndarray] = {
        "index": np.arange(count, dtype=np.float64),
        "confidence": _array([one.confidence_percent for one in scores]),
        "coverage": _array([one.coverage_percent for one in scores]),
        "rows": _array([one.rows_percent for one in scores]),
        "columns": _array([one.columns_percent for one in scores]),
        "entropy": _array([one.entropy for one in scores]),
        "ratio": _array([one.length_ratio for one in scores]),
        "aer": np.full(count, np.nan),
    }
    texts = [f"{one.source}\n{one.target}".casefold() for one in results]
    return Table(numbers, texts, [study.flags_at(index) for index in range(count)], nothing, nothing)


def _with_gold(study: Study, table: Table, counts: np.ndarray) -> Table:
    """The table with what depends on gold: error rates, which pairs have gold, which were linked by hand."""
    count = len(table.texts)
    gold = study.once("gold_there", (), lambda: np.array([links is not None for links in study.gold], dtype=bool))
    there, edited = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    there[: len(gold)] = gold[:count]
    edited[[index for index in study.edits if index < count]] = True
    links, sure, in_sure, in_possible = counts[:count].T
    size = links + sure
    rates = np.where(size > 0, 1.0 - (in_sure + in_possible) / np.maximum(size, 1), np.where(links < 0, np.nan, 0.0))
    return replace(table, numbers=table.numbers | {"aer": rates}, edited=edited, gold=there | edited)


def _array(values: list[float]) -> np.ndarray:
    return np.array(values, dtype=np.float64)
