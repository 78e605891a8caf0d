"""Language tags as files write them: `EN`, `en-US`, `en_us`, `eng` are all English."""

from collections.abc import Sequence
from functools import lru_cache

from model.alignment.formats import languages


@lru_cache(maxsize=1024)
def normal(tag: str) -> str:
    """A tag with hyphens, in small letters, its first part as short as it gets."""
    first, *rest = tag[:80].strip().lower().replace("_", "-").split("-")
    return "-".join((languages.language(first) or first, *rest))


def same(tag: str, other: str) -> bool:
    """Whether both name one language, whatever the region or script; an empty tag names none."""
    return bool(tag and other) and normal(tag).split("-")[0] == normal(other).split("-")[0]


def matches(tags: Sequence[str], wanted: str) -> list[int]:
    """Which of `tags` are the wanted one: those equal to it where there are any, else those of the same language."""
    exact = [index for index, tag in enumerate(tags) if normal(tag) == normal(wanted)]
    return exact or [index for index, tag in enumerate(tags) if same(tag, wanted)]
