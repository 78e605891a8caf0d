"""Aligned pairs as lines of JSON: how a process hands its share to the one that puts all together."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from model.alignment.confidence import Scores
from model.alignment.corpus import Aligned, WeightedLink
from model.alignment.formats import Message


def lines(rows: Iterable[Aligned]) -> Iterator[str]:
    """A line a pair, all of it but its number."""
    for row in rows:
        problem = row.problem and {"sentence": row.problem, "code": row.problem.code, "values": row.problem.values}
        yield json.dumps(
            {
                "source": row.source,
                "target": row.target,
                "source_words": row.source_words,
                "target_words": row.target_words,
                "links": row.links,
                "scores": asdict(row.scores),
                "log_probability": row.log_probability,
                "best": row.best.tolist(),
                "problem": problem,
            }
        )


def read(path: Path) -> Iterator[Aligned]:
    """The pairs of a file, numbered from 0."""
    with path.open(encoding="ascii") as file:
        for index, line in enumerate(file):
            yield _aligned(index, json.loads(line))


def _aligned(index: int, made: Any) -> Aligned:
    problem = made["problem"] and Message(**made["problem"])
    return Aligned(
        index,
        made["source"],
        made["target"],
        tuple(made["source_words"]),
        tuple(made["target_words"]),
        tuple(WeightedLink(*link) for link in made["links"]),
        Scores(**made["scores"]),
        made["log_probability"],
        np.array(made["best"], dtype=np.int16),
        problem,
    )
