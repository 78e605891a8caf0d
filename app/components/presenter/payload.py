"""What the presenter's bar shows: the page, the slide, its place among the others."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

LABELS: tuple[str, ...] = (
    "slide", "count", "down", "previous", "next", "leave", "help", "keys", "close",
    "key_next", "key_previous", "key_first", "key_last", "key_scroll", "key_full", "key_black", "key_help", "key_leave",
    "key_focus",
)  # fmt: skip


def pack(
    *, page: str, title: str, slide: int, count: int, kind: str, parts: Sequence[str], spoken: str, text: Mapping[str, str]
) -> bytes:
    """The slide `slide` of `count`, counted from 1, of the page called `page`.

    `kind`: what the slide holds ("idea", "stage", ...), which decides how large its type may become. `parts`: of every slide
    the id of the same part on the page, or "". `spoken`: the language of the page ("en", "zh").
    """
    return json.dumps(
        {
            "page": page,
            "title": title,
            "slide": slide,
            "count": count,
            "kind": kind,
            "parts": list(parts),
            "spoken": spoken,
            "text": {label: text[label] for label in LABELS},
        },
        ensure_ascii=False,
    ).encode()


def unpack(payload: bytes) -> dict[str, Any]:
    """What `pack` was given; for tests."""
    found: dict[str, Any] = json.loads(payload)
    return found
