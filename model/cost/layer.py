"""One layer, self-attention with feed-forward: its operations, the bytes that it moves, and where the square overtakes.

n is the number of tokens, d the width. Such a layer is one of an encoder, or of a decoder-only model.
"""

from dataclasses import dataclass

from model.config import ModelConfig
from model.cost.counts import of_attention, of_feed_forward, of_norm


def layer_flops(config: ModelConfig, length: int) -> tuple[int, int]:
    """Operations of one layer on `length` tokens: those that grow with n, and those that grow with its square.

    The matrices take 8 n d^2 + 4 n d d_ff, Q K^T and weights times V take 4 n^2 d; a multiplication with its addition is 2.
    """
    if length < 0:
        raise ValueError(f"length={length} is a length in tokens; give 0 or more")
    d = config.d_model
    return 8 * length * d**2 + 4 * length * d * config.d_ff, 4 * length**2 * d


def crossing(config: ModelConfig) -> int:
    """The length from which on the square costs more: n = 2 d + d_ff, so 6 d where d_ff = 4 d."""
    return 2 * config.d_model + config.d_ff


def square_share(config: ModelConfig, length: int) -> float:
    """The share of the square in the operations of one layer: n / (n + 2 d + d_ff)."""
    return length / (length + crossing(config)) if length else 0.0


def fused_bytes(config: ModelConfig, length: int, batch: int = 1) -> int:
    """What FlashAttention keeps of the weights of one layer: one float32 a head and query, the logarithm of the row's sum.

    (Dao et al. 2022, Algorithm 1; the weights themselves are made anew, block by block, whenever they are needed.)
    """
    return batch * config.num_heads * length * 4


@dataclass(frozen=True)
class Work:
    """What one layer does: operations, and bytes that must pass between the memory and the arithmetic at the least."""

    flops: int
    bytes: int

    @property
    def intensity(self) -> float:
        """Operations for each byte moved."""
        return self.flops / self.bytes


def prefill(config: ModelConfig, length: int, batch: int = 1, bytes_per_number: int = 2, stored: bool = False) -> Work:
    """One layer on `length` tokens at once, for each of `batch` sequences.

    Bytes: the parameters once; every product reads its operands and writes its result once (norms, sums and the non-linearity
    are done on the way). With `stored` the scores and the weights are written to memory and read back, as this code does it;
    without, they never leave the chip, as in FlashAttention.
    """
    d, n = config.d_model, length
    of_token = (1 + 3) * d + (3 + 1) * d + 2 * d + (d + config.d_ff) + (config.d_ff + d)  # Q K V, attention, W_O, W_1, W_2
    numbers = n * of_token + (4 * config.num_heads * n**2 if stored else 0)
    return Work(batch * sum(layer_flops(config, n)), (_held(config) + batch * numbers) * bytes_per_number)


def step(config: ModelConfig, length: int, batch: int = 1, bytes_per_number: int = 2) -> Work:
    """One layer in one decoding step with a cache: one new token a sequence, its query against `length` keys, its own included.

    Bytes: the parameters once for the whole batch, the cache of every sequence, and the new token's own numbers.
    """
    d = config.d_model
    linear, _ = layer_flops(config, 1)
    of_token = (1 + 3) * d + (1 + 1) * d + 2 * d + (d + config.d_ff) + (config.d_ff + d)
    numbers = of_token + 2 * length * d
    return Work(batch * (linear + 4 * length * d), (_held(config) + batch * numbers) * bytes_per_number)


def _held(config: ModelConfig) -> int:
    return of_attention(config) + of_feed_forward(config) + 2 * of_norm(config)
