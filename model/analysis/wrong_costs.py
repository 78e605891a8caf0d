"""Counts that are often got wrong, and what they would say."""

from collections.abc import Callable

from model import cost
from model.config import ModelConfig


def without_cache(config: ModelConfig, source: int, target: int) -> int:
    """Operations of reading `source` tokens and writing `target`, when every step computes all rows again."""
    return cost.flops_of_writing(config, source, target)[1][-1] if target else cost.flops(config, source, 0)


def with_cache(config: ModelConfig, source: int, target: int) -> int:
    """The same when keys and values are kept."""
    return cost.flops_of_writing(config, source, target)[0][-1] if target else cost.flops(config, source, 0)


def heads_multiply(config: ModelConfig, source: int, target: int) -> int:
    """Parameters, if every head had matrices of the whole width: h times the attention."""
    attentions = config.encoder_layers + config.decoder_layers * (1 if config.family == "decoder-only" else 2)
    return cost.parameters(config) + (config.num_heads - 1) * attentions * cost.of_attention(config)


def multiplications_only(config: ModelConfig, source: int, target: int) -> int:
    """Operations, if a multiplication with its addition were one (MACs, often called FLOPs)."""
    return cost.flops(config, source, target) // 2


def square_only(config: ModelConfig, source: int, target: int) -> int:
    """Operations, if attention were all: Q K^T and weights times V, without a single matrix of parameters."""
    parts = cost.flops_by_part(config, source, target)
    return parts["encoder.attention"] + parts["decoder.attention"]


def untied(config: ModelConfig, source: int, target: int) -> int:
    """Parameters, if a shared matrix were counted wherever it is used."""
    tables = config.target_vocab_size * (2 if config.family == "decoder-only" else 3 if config.tie == "all" else 2)
    tables += config.source_vocab_size if config.family == "encoder-decoder" and config.tie != "all" else 0
    parts = cost.parameters_by_part(config)
    return parts["encoder"] + parts["decoder"] + tables * config.d_model


def right_parameters(config: ModelConfig, source: int, target: int) -> int:
    """Parameters as they are counted here."""
    return cost.parameters(config)


Count = Callable[[ModelConfig, int, int], int]

WRONG: dict[str, tuple[Count, Count]] = {
    "no_cache": (with_cache, without_cache),
    "macs": (cost.flops, multiplications_only),
    "square": (cost.flops, square_only),
    "heads": (right_parameters, heads_multiply),
    "untied": (right_parameters, untied),
}
"""By name: the right count and the wrong one."""

MOST_STEPS = 2_000  # tokens that are written one by one in a sum


def beside(config: ModelConfig, name: str, source: int, target: int) -> tuple[int, int, float]:
    """The right count, the wrong one, and the wrong one as a multiple of the right."""
    right, wrong = (count(config, source, min(target, MOST_STEPS)) for count in WRONG[name])
    return right, wrong, wrong / right if right else 1.0
