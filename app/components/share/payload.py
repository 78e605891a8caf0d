"""What the share button is told: what the parameters of this page's address are called, and what no link of it holds."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

LABELS: tuple[str, ...] = (
    "share", "title", "link", "as_text", "copy", "copied", "by_hand", "close", "language", "holds", "leaves_out", "page",
    "opened", "closed", "mean", "painted", "no_text", "long", "too_long", "comma",
)  # fmt: skip

Kind = Literal["plain", "counted", "word", "opened", "mask"]


class Name(NamedTuple):
    """What a parameter of the address is called on the screen, and how its value is read there.

    "counted" are numbers from 0 that the screen counts from 1, "word" are ids that `words` translates, "opened" are parts of a
    page that are unfolded or switched on, "mask" is a mask by its name or its rows.
    """

    label: str
    kind: Kind = "plain"


def pack(
    names: Mapping[str, Name],
    words: Mapping[str, str],
    left: Sequence[str],
    *,
    place: Mapping[str, str],
    page: str,
    spoken: str,
    language: str,
    text: Mapping[str, str],
) -> bytes:
    """UTF-8 JSON. `names` are by parameter; one that begins with a dot is of all parameters that end so ("table.cell"), one that
    ends with a star of all that begin so. `words` are what values are called, by "parameter=value".

    `left` are sentences, `place` are parameters that the link gets where the address lacks them, `page` and `language` are called
    so on the screen, whose language is `spoken` ("en", "zh"), `text` has a sentence for every name in `LABELS`.
    """
    message = {
        "names": {name: list(called) for name, called in names.items()},
        "words": dict(words),
        "left": list(left),
        "place": dict(place),
        "page": page,
        "spoken": spoken,
        "language": language,
        "text": {label: text[label] for label in LABELS},
    }
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
