"""What is counted while pairs go by: how many, how many without links, and how they agree with gold."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from model.alignment.baseline import diagonal
from model.alignment.corpus import Aligned
from model.alignment.formats import GoldLinks
from model.alignment.metrics import Counts

NOTHING = (0, 0, 0, 0)


@dataclass(frozen=True)
class Tally:
    """Sums over the pairs so far; `links` and `diagonal` are the four counts of `metrics.Counts`.

    They are of the `measured` pairs: those with gold that could be aligned.
    """

    pairs: int = 0
    unaligned: int = 0
    measured: int = 0
    links: tuple[int, int, int, int] = NOTHING
    diagonal: tuple[int, int, int, int] = NOTHING

    def after(self, aligned: Aligned, gold: GoldLinks | None) -> "Tally":
        """With one more pair."""
        more = replace(self, pairs=self.pairs + 1, unaligned=self.unaligned + (aligned.problem is not None))
        if gold is None or aligned.problem is not None:
            return more
        found = {(link.source, link.target) for link in aligned.links}
        baseline = diagonal(len(aligned.source_words), len(aligned.target_words))
        return replace(
            more,
            measured=self.measured + 1,
            links=_sum(self.links, Counts.of(found, gold.sure, gold.possible)),
            diagonal=_sum(self.diagonal, Counts.of(baseline, gold.sure, gold.possible)),
        )

    def to_dict(self) -> dict[str, Any]:
        """For the progress file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> "Tally":
        """Back from the progress file; raises TypeError or ValueError where it holds something else."""
        links, baseline = (_four(values.pop(name)) for name in ("links", "diagonal"))
        return cls(**{name: int(value) for name, value in values.items()}, links=links, diagonal=baseline)

    def report(self) -> str:
        """The agreement with gold in words."""
        links, baseline = Counts(*self.links), Counts(*self.diagonal)
        return (
            f"AER {links.alignment_error_rate:.3f}, precision {links.precision:.3f}, recall {links.recall:.3f} "
            f"over {self.measured} pairs with gold; the diagonal: AER {baseline.alignment_error_rate:.3f}"
        )


def _sum(before: Iterable[int], counts: Counts) -> tuple[int, int, int, int]:
    links, sure, in_sure, in_possible = before
    return (
        links + counts.links,
        sure + counts.sure,
        in_sure + counts.links_in_sure,
        in_possible + counts.links_in_possible,
    )


def _four(values: Iterable[Any]) -> tuple[int, int, int, int]:
    one, two, three, four = values
    return int(one), int(two), int(three), int(four)
