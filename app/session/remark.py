"""What is said to a visitor, until the page says it in their language."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Remark:
    """Something to tell the visitor: the key of a sentence and its values.

    `model`: one that suits the text better, to be offered; empty if there is none.
    """

    key: str
    values: Mapping[str, object]
    model: str = ""
