"""Why several heads: what their number costs, and what one head of the whole width would see instead."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model import cost
from model.analysis import ablation
from model.analysis.head_scores import paths_of, stacked
from model.analysis.what_if import entropy
from model.attention import MultiHeadAttention
from model.config import ModelConfig
from model.trace import Trace
from model.translator import Atlas

COMMON = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Width:
    """One way to share d_model among heads: `parameters` of one attention and of the whole model, FLOPs of a forced pass over
    these lengths, numbers kept as weights by one attention of `target` rows and `source` columns (of `target` columns where
    there is no source).
    """

    heads: int
    head_dim: int
    attention: int
    parameters: int
    flops: int
    weights: int


def widths(config: ModelConfig, source: int, target: int) -> tuple[Width, ...]:
    """This model with one head, with its own number, and with other numbers that divide its width."""
    counts = sorted({count for count in (*COMMON, config.num_heads) if config.d_model % count == 0})
    return tuple(_width(replace(config, num_heads=count, positions="sinusoidal"), source, target) for count in counts)


def _width(config: ModelConfig, source: int, target: int) -> Width:
    return Width(
        config.num_heads,
        config.head_dim,
        cost.of_attention(config),
        cost.parameters(config),
        cost.flops(config, source, target),
        cost.attention_bytes(config, target, source or target, bytes_per_number=1),
    )


def one_head(trace: Trace, path: str) -> Float[Tensor, "query key"]:
    """The weights of one head of the whole width, from this attention's own queries and keys.

    q . k over d_model dimensions is the sum over heads of their products; with 1 / sqrt(d_model) for scale that is the sum of
    the heads' scores over sqrt(h).
    """
    masked = trace[f"{path}.masked"].tensor[0].double()
    weights: Tensor = (masked.sum(dim=0) / masked.shape[0] ** 0.5).softmax(dim=-1)
    return weights


@dataclass(frozen=True)
class Parts:
    """One attention with its heads apart and side by side, as the trace and the module hold them.

    `query` and `concat` are the heads' `queries` and `contexts` in one row again; `output` is concat W_O + b_O.
    """

    queries: Float[Tensor, "head query head_dim"]
    query: Float[Tensor, "query d_model"]
    weights: Float[Tensor, "head query key"]
    hidden: Bool[Tensor, "query key"]
    contexts: Float[Tensor, "head query head_dim"]
    concat: Float[Tensor, "query d_model"]
    to_output: Float[Tensor, "d_model d_model"]
    bias: Float[Tensor, " d_model"] | None
    output: Float[Tensor, "query d_model"]


def parts(atlas: Atlas, trace: Trace, path: str) -> Parts:
    """The attention at `path`, taken apart."""
    module = atlas.model.get_submodule(path)
    assert isinstance(module, MultiHeadAttention)
    query, context = (trace[f"{path}.{name}"].tensor for name in ("query", "context"))
    return Parts(
        query[0],
        module.merge(query)[0],
        trace[f"{path}.weights"].tensor[0],
        torch.isneginf(trace[f"{path}.masked"].tensor[0, 0]),
        context[0],
        module.merge(context)[0],
        module.to_output.weight.mT,
        module.to_output.bias,
        trace[f"{path}.output"].tensor[0],
    )


def moved(atlas: Atlas, path: str, dimension: int) -> tuple[float, ...]:
    """How far each head's query moves when one number of the input grows by 1: the length of that row of its W_Q."""
    module = atlas.model.get_submodule(path)
    assert isinstance(module, MultiHeadAttention)
    row = module.to_query.weight[:, dimension].view(module.num_heads, module.head_dim)
    return tuple(float(length) for length in torch.linalg.vector_norm(row, dim=-1))


@dataclass(frozen=True)
class Sight:
    """What the heads of one attention see, means over layers and rows.

    `places`: how many different keys the heads of a layer look at most in a row, of at most `heads`; `apart` and `one`:
    entropy in bits of single heads and of one head of the whole width; `change`: how much the loss of a token rises if every
    layer reads with that one head (nats).
    """

    heads: int
    places: float
    apart: float
    one: float
    change: float


def sight(atlas: Atlas, trace: Trace, attention: str) -> Sight:
    """Several heads beside one, for one kind of attention."""
    weights, _ = stacked(trace, attention)
    single = torch.stack([one_head(trace, path) for path in paths_of(trace, attention)])
    return Sight(
        weights.shape[1],
        float(distinct(weights.argmax(dim=-1).transpose(1, 2)).double().mean()),
        float(entropy(weights).mean()),
        float(entropy(single).mean()),
        ablation.as_one_head(atlas, trace, attention).change,
    )


def distinct(values: Tensor) -> Tensor:
    """How many different values stand along the last axis."""
    ordered = values.sort(dim=-1).values
    return 1 + (ordered[..., 1:] != ordered[..., :-1]).sum(dim=-1)
