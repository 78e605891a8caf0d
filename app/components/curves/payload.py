"""Curves and bars over one common axis, as the bytes that the component draws from: UTF-8 JSON, since charts are small."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

LABELS: tuple[str, ...] = (
    "hint", "keys", "at", "said", "none", "log", "table", "png", "svg", "csv", "copy_link", "copied", "copy_failed",
    "caption_sentence", "caption_chart",
)  # fmt: skip

LARGEST = 5_000
"""Numbers of one chart: what can still be told apart; more belongs on a matrix."""


@dataclass(frozen=True)
class Series:
    """One curve, or one set of bars; a value that is None or not finite leaves a gap. Counts (all int) are read whole."""

    label: str
    values: Sequence[float | None]
    kind: Literal["line", "bar", "dots"] = "line"


@dataclass(frozen=True)
class Mark:
    """A place on the axis that has a name, drawn as a line across the chart."""

    place: float
    label: str


@dataclass(frozen=True)
class Chart:
    """Series over a common axis of points.

    `labels` name the points, one each; they never decide where a point stands: that is its index, or `places`, numbers for an
    axis of quantities, `places_logarithmic` over decades. `logarithmic` values at or below 0 leave a gap. `marked` is the point
    that is marked at first; `marks` name places of an axis of quantities.
    """

    title: str
    x_name: str
    y_name: str
    series: Sequence[Series]
    labels: Sequence[str]
    places: Sequence[float] | None = None
    logarithmic: bool = False
    marked: int | None = None
    path: str = ""
    places_logarithmic: bool = False
    marks: Sequence[Mark] = ()


def pack(chart: Chart, *, text: Mapping[str, str], caption: Mapping[str, str], name: str) -> bytes:
    """One chart in one message.

    `text` holds a translated sentence for every name in `LABELS`; `caption` the "model", "source" and "target" that exports
    name; `name` sets this chart's URL parameter and its files apart.
    """
    points = len(chart.labels)
    for series in chart.series:
        if len(series.values) != points:
            raise ValueError(f"series {series.label!r} has {len(series.values)} values for {points} points; give one for each")
    if chart.places is not None and len(chart.places) != points:
        raise ValueError(f"{len(chart.places)} places for {points} points; give one for each")
    if chart.places_logarithmic and (chart.places is None or min(chart.places, default=1.0) <= 0):
        raise ValueError("a logarithmic axis needs places, all above 0")
    if points * len(chart.series) > LARGEST:
        raise ValueError(f"{points * len(chart.series):,} numbers are more than the {LARGEST:,} of one chart; draw a matrix")
    header: dict[str, Any] = {
        "title": chart.title, "x_name": chart.x_name, "y_name": chart.y_name, "labels": list(chart.labels),
        "places": list(chart.places) if chart.places is not None else None, "logarithmic": chart.logarithmic,
        "places_logarithmic": chart.places_logarithmic,
        "marks": [{"place": mark.place, "label": mark.label} for mark in chart.marks] if chart.places is not None else [],
        "marked": chart.marked, "path": chart.path, "name": name, "caption": dict(caption),
        "series": [
            {
                "label": series.label,
                "kind": series.kind,
                "values": [_shown(value, chart.logarithmic) for value in series.values],
                "whole": all(isinstance(value, int) for value in series.values),
            }
            for series in chart.series
        ],
        "text": {label: text[label] for label in LABELS},
    }  # fmt: skip
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=12).hexdigest()
    return json.dumps({**header, "digest": digest}, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def unpack(message: bytes) -> dict[str, Any]:
    """What the component is told."""
    found: dict[str, Any] = json.loads(message)
    return found


def _shown(value: float | None, logarithmic: bool) -> float | None:
    if value is None or not math.isfinite(value) or (logarithmic and value <= 0):
        return None
    return float(value)
