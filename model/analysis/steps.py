"""One head of one attention, step by step: every operand and every result, as the model holds and recorded them.

Nothing here is a second implementation. Results are slices of the trace, operands are slices of the trace or of the module's
matrices; the one value that a forward pass never holds by itself, Q K^T before the division, comes from the function that
the model runs, with the factor 1. Tests multiply the operands and find the results.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from model.attention import MultiHeadAttention, scaled_products, softmax_or_zero
from model.config import ConfigError, ModelConfig
from model.trace import Trace
from model.translator import Atlas

CROSS = "decoder.cross_attention"
LARGEST_SIZE = 1_000_000  # of any number that a reader may ask the tables for
RESIDUAL = {"encoder.self_attention": 0, "decoder.self_attention": 0, CROSS: 1}  # the one around it


@dataclass(frozen=True)
class Projection:
    """One of W_Q, W_K, W_V: the columns that make this head's vectors, and their bias if the model has one."""

    weight: Float[Tensor, "d_model head_dim"]
    bias: Float[Tensor, " head_dim"] | None


@dataclass(frozen=True)
class HeadSteps:
    """What one head computes, in order. Rows of `scores` and what follows are queries, columns are keys.

    `x` gives the queries, `memory` the keys and values; in self-attention they are the same tensor. `products` is Q K^T
    before the division, `scores` after it, `masked` with -inf where `allowed` is False. `all_queries`, `contexts` and
    `concat` are those of all heads; `output` is what the sublayer returns. Rotary attention compares `query_rotated` with
    `key_rotated`; elsewhere they are None.
    """

    attention: str
    layer: int
    head: int
    spans: dict[str, str]
    x: Float[Tensor, "query d_model"]
    memory: Float[Tensor, "key d_model"]
    to_query: Projection
    to_key: Projection
    to_value: Projection
    all_queries: Float[Tensor, "query d_model"]
    query: Float[Tensor, "query head_dim"]
    key: Float[Tensor, "key head_dim"]
    value: Float[Tensor, "key head_dim"]
    query_rotated: Float[Tensor, "query head_dim"] | None
    key_rotated: Float[Tensor, "key head_dim"] | None
    products: Float[Tensor, "query key"]
    scores: Float[Tensor, "query key"]
    allowed: Bool[Tensor, "query key"]
    masked: Float[Tensor, "query key"]
    weights: Float[Tensor, "query key"]
    contexts: tuple[Float[Tensor, "query head_dim"], ...]
    concat: Float[Tensor, "query d_model"]
    weight_output: Float[Tensor, "d_model d_model"]
    bias_output: Float[Tensor, " d_model"] | None
    output: Float[Tensor, "query d_model"]

    @property
    def path(self) -> str:
        """Where the trace keeps this attention."""
        return path_of(self.attention, self.layer)

    @property
    def context(self) -> Float[Tensor, "query head_dim"]:
        """This head's share of `contexts`."""
        return self.contexts[self.head]

    @property
    def compared(self) -> tuple[Tensor, Tensor]:
        """The query and key vectors whose products are the scores: turned ones where the attention is rotary."""
        if self.query_rotated is None or self.key_rotated is None:
            return self.query, self.key
        return self.query_rotated, self.key_rotated

    @property
    def scale(self) -> float:
        """sqrt(d_k), by which the products are divided."""
        return math.sqrt(self.query.shape[1])

    @property
    def factor(self) -> float:
        """1 / sqrt(d_k), as the model multiplies."""
        return float(self.query.shape[1] ** -0.5)

    @property
    def hidden(self) -> int:
        """How many cells are masked."""
        return int((~self.allowed).sum())

    @property
    def columns(self) -> tuple[int, int]:
        """The first and the last column of the full Q, K and V that belong to this head."""
        width = self.query.shape[1]
        return self.head * width, (self.head + 1) * width - 1

    def largest_dimension(self, row: int) -> int:
        """The dimension of this row's context that is farthest from 0."""
        return int(self.context[row].abs().argmax())


def path_of(attention: str, layer: int) -> str:
    """`decoder.cross_attention` in layer 1 is recorded below decoder.layers.1.cross_attention."""
    stack, name = attention.split(".")
    return f"{stack}.layers.{layer}.{name}"


def module_of(atlas: Atlas, attention: str, layer: int) -> MultiHeadAttention:
    """The module that computed it."""
    module = atlas.model.get_submodule(path_of(attention, layer))
    assert isinstance(module, MultiHeadAttention)
    return module


def input_path(config: ModelConfig, attention: str, layer: int) -> str:
    """What this attention's queries are made from: in pre-norm models the normed residual stream, else the stream itself."""
    stack, _ = attention.split(".")
    return f"{stack}.layers.{layer}.residual.{RESIDUAL[attention]}.{'normed' if config.norm == 'pre' else 'input'}"


@torch.inference_mode()
def head_steps(atlas: Atlas, trace: Trace, attention: str, layer: int, head: int) -> HeadSteps:
    """All steps of one head; `attention` is "encoder.self_attention", "decoder.self_attention" or "decoder.cross_attention"."""
    path, module = path_of(attention, layer), module_of(atlas, attention, layer)
    columns = slice(head * module.head_dim, (head + 1) * module.head_dim)

    def of_head(name: str) -> Tensor:
        return trace[f"{path}.{name}"].tensor[0, head]

    def turned(name: str) -> Tensor | None:
        return of_head(f"{name}_rotated") if module.rotary else None

    def projection(layer: nn.Linear) -> Projection:
        return Projection(layer.weight[columns].mT, None if layer.bias is None else layer.bias[columns])

    x = trace[input_path(atlas.config, attention, layer)].tensor[0]
    suffix = "_rotated" if module.rotary else ""
    query, key = (trace[f"{path}.{name}{suffix}"].tensor[:, head : head + 1] for name in ("query", "key"))
    masked, contexts = of_head("masked"), trace[f"{path}.context"].tensor
    return HeadSteps(
        attention=attention,
        layer=layer,
        head=head,
        spans=dict(trace[f"{path}.weights"].spans),
        x=x,
        memory=trace["encoder.output"].tensor[0] if attention == CROSS else x,
        to_query=projection(module.to_query),
        to_key=projection(module.to_key),
        to_value=projection(module.to_value),
        all_queries=module.merge(trace[f"{path}.query"].tensor)[0],
        query=of_head("query"),
        key=of_head("key"),
        value=of_head("value"),
        query_rotated=turned("query"),
        key_rotated=turned("key"),
        products=scaled_products(query, key, 1.0)[0, 0],
        scores=of_head("scores"),
        allowed=masked > -math.inf,
        masked=masked,
        weights=of_head("weights"),
        contexts=tuple(contexts[0]),
        concat=module.merge(contexts)[0],
        weight_output=module.to_output.weight.mT,
        bias_output=module.to_output.bias,
        output=trace[f"{path}.output"].tensor[0],
    )


@dataclass(frozen=True)
class Scaling:
    """What dividing by sqrt(d_k) does to one head: the spread of its allowed scores, and the largest weight of one row.

    `before` and `after` are standard deviations; `undivided` is the largest weight that the row would have without the
    division, `divided` the one that it has.
    """

    before: float
    after: float
    undivided: float
    divided: float


def scaling(steps: HeadSteps, row: int) -> Scaling:
    """Measured on the numbers of this head, in float64."""
    allowed = steps.allowed[None]
    undivided = torch.where(steps.allowed, steps.products.double(), -math.inf)[None, None]
    return Scaling(
        before=_deviation(steps.products[steps.allowed]),
        after=_deviation(steps.scores[steps.allowed]),
        undivided=float(softmax_or_zero(undivided, allowed)[0, 0, row].max()),
        divided=float(steps.weights[row].max()),
    )


def _deviation(values: Float[Tensor, " cell"]) -> float:
    return float(values.double().std(correction=0)) if len(values) else 0.0


# ----- shapes, for the two tables


@dataclass(frozen=True)
class Sizes:
    """The numbers that all shapes of an attention follow from: `query` and `key` are lengths in tokens."""

    query: int
    key: int
    d_model: int
    num_heads: int
    d_ff: int
    layers: int

    @property
    def head_dim(self) -> int:
        return self.d_model // self.num_heads

    @property
    def scale(self) -> float:
        """sqrt(d_k)."""
        return math.sqrt(self.head_dim)

    def along(self, axes: str) -> tuple[int, ...]:
        """The shape of a tensor with these axes (those of model/trace.py), a batch of one sentence left out."""
        sizes = {"query": self.query, "key": self.key, "d_model": self.d_model, "d_ff": self.d_ff}
        sizes |= {"head": self.num_heads, "head_dim": self.head_dim}
        return tuple(sizes[axis] for axis in axes.split())


def reshape_reads(num_heads: int, length: int, head: int, row: int) -> tuple[int, int]:
    """Position and head whose numbers a plain reshape of [L, d_model] to [h, L, d_k] would put at this head and row."""
    return divmod(head * length + row, num_heads)


def sizes_of(config: ModelConfig, query: int, key: int) -> Sizes:
    """The sizes of a model at these lengths."""
    return Sizes(query, key, config.d_model, config.num_heads, config.d_ff, config.encoder_layers or config.decoder_layers)


def own_sizes(length: int, d_model: int, num_heads: int, d_ff: int) -> Sizes:
    """Sizes that a reader made up; raises ConfigError where no such attention can be."""
    for name, size in (("length", length), ("d_model", d_model), ("num_heads", num_heads), ("d_ff", d_ff)):
        if not 1 <= size <= LARGEST_SIZE:
            raise ConfigError(f"{name}={size} is outside 1 to {LARGEST_SIZE:,}; choose a number in between")
    config = ModelConfig(
        source_vocab_size=1, target_vocab_size=1, d_model=d_model, num_heads=num_heads, d_ff=d_ff, positions="none",
        encoder_layers=1, decoder_layers=1,
    )  # fmt: skip
    return sizes_of(config, length, length)


@dataclass(frozen=True)
class Operation:
    """One line of a table: its name, the formula, and the axes of what comes out, in the words of model/trace.py."""

    name: str
    formula: str
    axes: str


def dimension_flow(config: ModelConfig, attention: str) -> tuple[Operation, ...]:
    """From x to the output, tensor by tensor, and on through the layer: the Q/K/V dimension flow of one attention.

    B is 0 where a key may be read and -inf where not; R(p) turns a vector by its position. In pre-norm models X is the
    normed stream, while the output is added to the stream U itself.
    """
    memory, pre = "M" if attention == CROSS else "X", config.norm == "pre"
    added = {name: f" + b_{name}" if config.attention_bias else "" for name in "QKVO"}
    bend = "max(0, {})" if config.activation == "relu" else "GELU({})"
    turned = (
        Operation("query_rotated", "R(p) Q", "head query head_dim"),
        Operation("key_rotated", "R(p) K", "head key head_dim"),
    )
    return (
        Operation("x", "X = LN(U)" if pre else "X", "query d_model"),
        *((Operation("memory", "M", "key d_model"),) if attention == CROSS else ()),
        Operation("matrices", "W_Q, W_K, W_V", "d_model d_model"),
        Operation("query", f"Q = X W_Q{added['Q']}", "query d_model"),
        Operation("key", f"K = {memory} W_K{added['K']}", "key d_model"),
        Operation("value", f"V = {memory} W_V{added['V']}", "key d_model"),
        Operation("split_query", "view(L, h, d_k) .transpose(0, 1)", "head query head_dim"),
        Operation("split_key", "view(L, h, d_k) .transpose(0, 1)", "head key head_dim"),
        Operation("split_value", "view(L, h, d_k) .transpose(0, 1)", "head key head_dim"),
        *(turned if config.positions == "rotary" and attention != CROSS else ()),
        Operation("key_transposed", "Kᵀ", "head head_dim key"),
        Operation("scores", "S = Q Kᵀ / √d_k", "head query key"),
        Operation("weights", "A = softmax(S + B)", "head query key"),
        Operation("context", "C = A V", "head query head_dim"),
        Operation("concat", "transpose(0, 1) .flatten(1)", "query d_model"),
        Operation("matrix_output", "W_O", "d_model d_model"),
        Operation("output", f"O = Concat(C) W_O{added['O']}", "query d_model"),
        Operation("residual", "U + O" if pre else "X + O", "query d_model"),
        Operation("hidden", f"F = {bend.format('x W₁ + b₁')}", "query d_ff"),
        Operation("feed_forward", "F W₂ + b₂", "query d_model"),
    )


SCALED_DOT_PRODUCT = (
    Operation("score", "Q Kᵀ", "head query key"),
    Operation("scale", "S = Q Kᵀ / √d_k", "head query key"),
    Operation("mask", "S + B,  B ∈ {0, −∞}", "head query key"),
    Operation("softmax", "A = exp(S + B) / Σ exp(S + B)", "head query key"),
    Operation("weighted_sum", "C = A V", "head query head_dim"),
)
