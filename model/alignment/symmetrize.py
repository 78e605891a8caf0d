"""One set of links from two directions (Och and Ney 2003; Koehn et al. 2005)."""

import heapq
from collections.abc import Set

from model.alignment.pharaoh import Link

METHODS = ("intersection", "union", "grow-diag", "grow-diag-final-and")

# The order in which links beside an accepted one are tried: straight neighbours first, then diagonal ones.
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrize(forward: Set[Link], backward: Set[Link], method: str) -> set[Link]:
    """Join the links (source, target) found in the two directions; both sets are written source first.

    "intersection" and "union" are what they say. "grow-diag" starts from the intersection and adds those of its eight
    neighbours that are in the union and link a word still free. "grow-diag-final-and" then adds links of the union
    between two free words.
    """
    both, either = set(forward & backward), set(forward | backward)
    match method:
        case "intersection":
            return both
        case "union":
            return either
        case "grow-diag":
            return _grow(both, either)
        case "grow-diag-final-and":
            return _finish(_finish(_grow(both, either), forward), backward)
    raise ValueError(f"method={method!r} is unknown; choose one of {', '.join(METHODS)}")


def _grow(links: set[Link], union: set[Link]) -> set[Link]:
    """Sweep over the accepted links in order, added ones included, until a sweep adds none."""
    grown = set(links)
    sources, targets = {i for i, _ in grown}, {j for _, j in grown}
    added = True
    while added:
        added = False
        sweep = sorted(grown)
        while sweep:
            here = heapq.heappop(sweep)
            for step in _NEIGHBOURS:
                link = here[0] + step[0], here[1] + step[1]
                if link in union and link not in grown and (link[0] not in sources or link[1] not in targets):
                    grown.add(link)
                    sources.add(link[0])
                    targets.add(link[1])
                    added = True
                    if link > here:
                        heapq.heappush(sweep, link)
    return grown


def _finish(links: set[Link], candidates: Set[Link]) -> set[Link]:
    finished = set(links)
    sources, targets = {i for i, _ in links}, {j for _, j in links}
    for i, j in sorted(candidates):
        if i not in sources and j not in targets:
            finished.add((i, j))
            sources.add(i)
            targets.add(j)
    return finished
