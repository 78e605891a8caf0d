"""Multi-head attention, written out; one class for self-, masked and cross-attention."""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model.attention_mask import surely_no_empty_row
from model.config import ModelConfig
from model.position import rotate
from model.trace import Traced

QUERY, KEY, PAIR = "batch head query head_dim", "batch head key head_dim", "batch head query key"


class MultiHeadAttention(Traced):
    """Every query position averages the values of the key positions that it may attend to (Vaswani et al. 2017, 3.2).

    weights = softmax(Q K^T / sqrt(head_dim)), one row of weights for each query and head, over the keys. A query that may
    attend to no key at all gets weights 0 and so context 0, never NaN and never an even spread.
    """

    def __init__(self, config: ModelConfig, rotary: bool = False) -> None:
        super().__init__()
        self.num_heads, self.head_dim, self.rotary = config.num_heads, config.head_dim, rotary
        self.to_query = nn.Linear(config.d_model, config.d_model, bias=config.attention_bias)  # W_Q of all heads, side by side
        self.to_key = nn.Linear(config.d_model, config.d_model, bias=config.attention_bias)  # W_K
        self.to_value = nn.Linear(config.d_model, config.d_model, bias=config.attention_bias)  # W_V
        self.to_output = nn.Linear(config.d_model, config.d_model, bias=config.attention_bias)  # W_O
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        attention_mask: Bool[Tensor, "#batch #query all_keys"] | None = None,
        positions: Int[Tensor, "#batch query"] | None = None,
        cache: "KeyValueCache | None" = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """`x` looks at `memory` (itself in self-attention); `attention_mask` is True where it may, None where it may everywhere.

        `positions` are needed by rotary attention only. A `cache` supplies the keys and values of earlier calls, so that
        `all_keys` counts them too.
        """
        query = self.tap(QUERY, query=self.split(self.to_query(x)))
        if self.rotary:
            query = self.rotated(query, positions)
            self.record(QUERY, query_rotated=query)
        key, value = cache.extend(self, memory, positions) if cache else self.keys_and_values(memory, positions)
        scores = self.tap(PAIR, scores=scaled_products(query, key, self.head_dim**-0.5))
        masked = scores if attention_mask is None else torch.where(attention_mask[:, None], scores, -math.inf)
        weights = self.tap(PAIR, weights=softmax_or_zero(masked, attention_mask))
        kept = self.dropout(weights) if self.training else weights
        context = self.tap(QUERY, context=kept @ value)
        output: Tensor = self.to_output(self.merge(context))

        self.record(PAIR, masked=masked)
        self.record("batch query d_model", output=output)
        return output

    def keys_and_values(self, memory: Tensor, positions: Tensor | None) -> tuple[Tensor, Tensor]:
        """What `memory` offers: keys to be compared with, values to be averaged; (batch, head, key, head_dim) each."""
        key = self.tap(KEY, key=self.split(self.to_key(memory)))
        value = self.tap(KEY, value=self.split(self.to_value(memory)))
        if self.rotary:
            key = self.rotated(key, positions)
            self.record(KEY, key_rotated=key)
        return key, value

    def rotated(self, x: Float[Tensor, "batch head token head_dim"], positions: Tensor | None) -> Tensor:
        if positions is None:
            raise ValueError(f"{self.path or 'this attention'} turns queries and keys by their positions; give positions")
        return rotate(x, positions[:, None])

    def split(self, x: Float[Tensor, "batch token d_model"]) -> Float[Tensor, "batch head token head_dim"]:
        """Cut the width into heads. (A plain reshape to the result's shape would mix positions into heads.)"""
        return x.view(x.shape[0], x.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    def merge(self, context: Float[Tensor, "batch head token head_dim"]) -> Float[Tensor, "batch token d_model"]:
        """Put the heads side by side again: Concat(head_1, ..., head_h)."""
        return context.transpose(1, 2).flatten(2)


def scaled_products(
    query: Float[Tensor, "batch head query head_dim"], key: Float[Tensor, "batch head key head_dim"], scale: float
) -> Float[Tensor, "batch head query key"]:
    """scale * (query . key) for each query and key of a head: `query @ key.mT * scale`, in one pass over memory."""
    (batch, heads, queries, width), keys = query.shape, key.shape[2]
    queries_of_heads, keys_of_heads = query.reshape(batch * heads, queries, width), key.reshape(batch * heads, keys, width)
    nothing = query.new_empty(1)  # what baddbmm could add; it is not read where beta is 0
    products = torch.baddbmm(nothing, queries_of_heads, keys_of_heads.mT, beta=0, alpha=scale)
    return products.view(batch, heads, queries, keys)


def softmax_or_zero(
    masked: Float[Tensor, "batch head query key"], attention_mask: Bool[Tensor, "#batch #query key"] | None
) -> Float[Tensor, "batch head query key"]:
    """Softmax over the keys; a row without any allowed key is 0 throughout instead of 0/0."""
    weights = masked.softmax(dim=-1)
    if attention_mask is None or surely_no_empty_row(attention_mask):
        return weights
    return torch.where(attention_mask[:, None], weights, 0.0)


class KeyValueCache:
    """The keys and values of earlier decoding steps, by the path of their attention.

    Self-attention adds those of the new tokens at each step; cross-attention projects the source once and keeps it. One
    cache belongs to one decoding: the model stays stateless.
    """

    def __init__(self) -> None:
        self.kept: dict[str, tuple[Tensor, Tensor]] = {}
        self.length = 0  # target tokens that are cached

    def __bool__(self) -> bool:
        return True

    def extend(self, attention: MultiHeadAttention, memory: Tensor, positions: Tensor | None) -> tuple[Tensor, Tensor]:
        """All keys and values that `attention` has to look at now."""
        earlier = self.kept.get(attention.path)
        crosses = attention.spans.get("query") != attention.spans.get("key")
        if earlier is not None and crosses:
            return earlier
        key, value = attention.keys_and_values(memory, positions)
        if earlier is not None:
            key, value = torch.cat((earlier[0], key), dim=2), torch.cat((earlier[1], value), dim=2)
        self.kept[attention.path] = key.contiguous(), value.contiguous()  # head by head, as every later step reads them
        return self.kept[attention.path]

    def select(self, rows: Int[Tensor, " beams"]) -> None:
        """Keep these sentences of the batch, in this order (a beam search carries on from some of its beams)."""
        self.kept = {path: (key[rows], value[rows]) for path, (key, value) in self.kept.items()}

    def bytes(self) -> int:
        """The memory that all kept keys and values take."""
        return sum(tensor.nbytes for pair in self.kept.values() for tensor in pair)
