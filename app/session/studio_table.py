"""The list of a study as arrays: sorted, filtered and searched here, so that a page is sent fifty rows whatever there is."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import streamlit as st

from app.session.studio_study import Study
from model.alignment.metrics import Counts

ListColumn = Literal["index", "confidence", "coverage", "rows", "columns", "entropy", "ratio", "aer"]
COLUMNS: tuple[ListColumn, ...] = get_args(ListColumn)
PERCENTAGES: tuple[ListColumn, ...] = ("confidence", "coverage", "rows", "columns")
PAGE = 50  # rows

_TABLE = "atlas_study_table"


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
    """The table of a study as it stands; made again only where something has changed."""
    key = (study.token, study.version, study.done)
    known: tuple[tuple[str, int, int], Table] | None = st.session_state.get(_TABLE)
    if known is None or known[0] != key:
        known = st.session_state[_TABLE] = (key, _table(study, key[2]))
    return known[1]


def aer_of(study: Study, index: int) -> float:
    """The alignment error rate of one pair; NaN where nothing is known to be right, or nothing was aligned."""
    gold, aligned = study.gold_of(index), study.results[index]
    if gold is None or aligned.problem is not None:
        return float("nan")
    return Counts.of({(link.source, link.target) for link in aligned.links}, gold.sure, gold.possible).alignment_error_rate


def corpus_counts(study: Study) -> tuple[Counts, int] | None:
    """Links and gold links counted over all pairs that have both, and how many pairs these are; None where there are none."""
    indices = [index for index, one in enumerate(study.results) if study.gold_of(index) is not None and one.problem is None]
    if not indices:
        return None
    gold = [links for index in indices if (links := study.gold_of(index)) is not None]
    found = [{(link.source, link.target) for link in study.results[index].links} for index in indices]
    return Counts.of(found, [links.sure for links in gold], [links.possible for links in gold]), len(indices)


def _table(study: Study, count: int) -> Table:
    results = study.results[:count]
    scores = [one.scores for one in results]
    numbers: dict[ListColumn, np.ndarray] = {
        "index": np.arange(count, dtype=np.float64),
        "confidence": _array([one.confidence_percent for one in scores]),
        "coverage": _array([one.coverage_percent for one in scores]),
        "rows": _array([one.rows_percent for one in scores]),
        "columns": _array([one.columns_percent for one in scores]),
        "entropy": _array([one.entropy for one in scores]),
        "ratio": _array([one.length_ratio for one in scores]),
        "aer": _array([aer_of(study, index) for index in range(count)]) if study.has_gold() else np.full(count, np.nan),
    }
    return Table(
        numbers,
        [f"{one.source}\n{one.target}".casefold() for one in results],
        [study.flags_at(index) for index in range(count)],
        np.fromiter((index in study.edits for index in range(count)), dtype=bool, count=count),
        np.fromiter((study.gold_of(index) is not None for index in range(count)), dtype=bool, count=count),
    )


def _array(values: list[float]) -> np.ndarray:
    return np.array(values, dtype=np.float64)
