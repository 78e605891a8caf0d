"""Links in Pharaoh notation, one line a pair: `0-0 1p2`, source and target from 0.

`p` or `?` in place of the dash marks a link that is possible only.
"""

import re
from collections.abc import Iterable

Link = tuple[int, int]
Links = frozenset[Link]

_LINK = re.compile(r"([0-9]+)([-p?])([0-9]+)")


def parse(line: str) -> tuple[Links, Links]:
    """The (sure, possible) links of one line, sure inside possible.

    Raises ValueError that names the unreadable item.
    """
    sure, possible = set(), set()
    for item in line.split():
        match = _LINK.fullmatch(item)
        if match is None:
            raise ValueError(f"{item!r} is no link; write source-target from 0 (0-0 1-2; 1p2 if only possible)")
        link = int(match[1]), int(match[3])
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return frozenset(sure), frozenset(possible)


def render(sure: Iterable[Link], possible: Iterable[Link] = ()) -> str:
    """The links as one line, in order of source and target; those that are possible only with a `p`."""
    certain = set(sure)
    return " ".join(f"{i}{'-' if (i, j) in certain else 'p'}{j}" for i, j in sorted(certain | set(possible)))
