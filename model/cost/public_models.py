"""Published models and what each keeps of a token while it writes."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "assets" / "cost" / "public_models.toml"


@dataclass(frozen=True)
class PublicModel:
    """The shape of a published model's attention, and where it is published.

    Of `heads` query heads each, `kv_heads` share keys and values (grouped-query attention). `latent`: numbers kept a token and
    layer by multi-head latent attention, instead of keys and values. `window`: only so many tokens are kept.
    """

    name: str
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    context: int
    source: str
    latent: int = 0
    window: int = 0

    @property
    def numbers(self) -> int:
        """Numbers that are kept of one token: 2 x layers x key/value heads x head_dim."""
        return self.layers * (self.latent or 2 * self.kv_heads * self.head_dim)

    def cache_bytes(self, length: int, bytes_per_number: int = 2, batch: int = 1) -> int:
        """What is kept of `length` tokens."""
        return batch * self.numbers * (min(length, self.window) if self.window else length) * bytes_per_number

    @property
    def ungrouped(self) -> int:
        """Numbers of one token if every query head had keys and values of its own."""
        return 2 * self.layers * self.heads * self.head_dim

    @property
    def saving(self) -> float:
        """How many times more it would keep ungrouped."""
        return self.ungrouped / self.numbers


@cache
def public_models() -> tuple[PublicModel, ...]:
    """The table that is shipped, in its order."""
    return tuple(PublicModel(**entry) for entry in tomllib.loads(TABLE.read_text("utf-8"))["model"])
