"""What the bars are drawn from: labels in order, and one series of numbers for each kind of bar."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

LABELS: tuple[str, ...] = (
    "hint", "keys", "bar", "position", "table", "png", "svg", "csv", "caption_sentence",
)  # fmt: skip

Look = Literal["filled", "second", "outlined"]
LOOKS: tuple[Look, ...] = ("filled", "second", "outlined")


@dataclass(frozen=True)
class Series:
    """One kind of bar: a number for each label. Series differ by look as well as by colour."""

    id: str
    title: str
    values: Sequence[float]
    look: Look = "filled"


def pack(
    labels: Sequence[str],
    series: Sequence[Series],
    *,
    title: str,
    name: str,
    text: Mapping[str, str],
    caption: Mapping[str, str],
    digits: int = 2,
    role: Literal["source", "target", "plain"] = "plain",
    numbered: bool = True,
) -> bytes:
    """All bars of one picture in one message, UTF-8 JSON.

    `labels` name the groups from top to bottom; they never decide where a bar stands. `name` is what runs along them
    ("token"); with `numbered` their index, from 0, is printed as well. `text` holds a translated sentence for every name in
    `LABELS`, `caption` the "model", "source" and "target" that exports name.
    """
    for kind in series:
        if len(kind.values) != len(labels):
            raise ValueError(f"series {kind.id!r} has {len(kind.values)} values for {len(labels)} labels; give one for each")
        if not all(math.isfinite(value) for value in kind.values):
            raise ValueError(f"series {kind.id!r} holds a value that is not finite; a bar cannot show it")
    header = {
        "labels": list(labels),
        "series": [{"id": kind.id, "title": kind.title, "values": list(kind.values), "look": kind.look} for kind in series],
        "title": title,
        "name": name,
        "digits": digits,
        "role": role,
        "numbered": numbered,
        "text": {label: text[label] for label in LABELS},
        "caption": dict(caption),
    }
    return json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
