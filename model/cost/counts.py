"""Parameters, operations and bytes of a whole model: formulas written out, and tested against counts.

The letters are the paper's: d = d_model, V a vocabulary size, N a number of layers, n and m the source and the target
length in tokens.
"""

from itertools import accumulate
from typing import NamedTuple

from model.config import ModelConfig


def parameters(config: ModelConfig) -> int:
    """How many numbers training adjusts; a shared matrix counts once, the sinusoidal table not at all."""
    return parameters_by_part(config)["total"]


def parameters_by_part(config: ModelConfig) -> dict[str, int]:
    """The same count for `embeddings`, `encoder`, `decoder` and `output`, and their `total`."""
    d, attention, feed_forward, norm = config.d_model, of_attention(config), of_feed_forward(config), of_norm(config)
    final = norm if config.norm == "pre" else 0
    if config.family == "decoder-only":
        table = config.target_vocab_size * d
        decoder = config.decoder_layers * of_layer(config) + final
        return _with_total(
            {"embeddings": table, "encoder": 0, "decoder": decoder, "output": table if config.tie == "none" else 0}
        )
    source, target = config.source_vocab_size * d, config.target_vocab_size * d
    parts = {
        "embeddings": target if config.tie == "all" else source + target,
        "encoder": config.encoder_layers * of_layer(config) + final,
        "decoder": config.decoder_layers * (2 * attention + feed_forward + 3 * norm) + final,
        "output": target if config.tie == "none" else 0,
    }
    return _with_total(parts)


def of_attention(config: ModelConfig) -> int:
    """W_Q, W_K, W_V and W_O, d x d each for all heads together (so their number changes nothing), and their biases if any."""
    return 4 * config.d_model**2 + (4 * config.d_model if config.attention_bias else 0)


def of_feed_forward(config: ModelConfig) -> int:
    """W_1 and W_2 with their biases: d x d_ff + d_ff + d_ff x d + d."""
    return 2 * config.d_model * config.d_ff + config.d_ff + config.d_model


def of_layer(config: ModelConfig) -> int:
    """One layer of self-attention and feed-forward network, with their two norms."""
    return of_attention(config) + of_feed_forward(config) + 2 * of_norm(config)


def of_norm(config: ModelConfig) -> int:
    """The gain and the bias of one LayerNorm: d each."""
    return 2 * config.d_model


def flops(config: ModelConfig, source: int, target: int) -> int:
    """Floating-point operations of one forced pass over a pair of these lengths in tokens (start and end counted).

    A multiplication with its addition counts as 2. Matrix products only: norms, softmax, activations and sums are left
    out, far below one percent of it at the paper's size. The masked half of causal attention is computed too, so it counts.
    A decoder-only model has one sequence: the source stands in it as a prefix, source + target tokens in all.
    """
    return flops_by_part(config, source, target)["total"]


def flops_by_part(config: ModelConfig, source: int, target: int) -> dict[str, int]:
    """The same count by part, and its `total`.

    `projections` (W_Q, W_K, W_V, W_O) and `feed_forward` grow with the length n; `attention` (Q K^T and weights times V)
    with its square. With d_ff = 4 d one encoder layer takes 24 n d^2 + 4 n^2 d: the square overtakes only at n = 6 d.
    """
    if source < 0 or target < 0:
        raise ValueError(f"source={source} and target={target} are lengths in tokens; give 0 or more")
    d, n, m = config.d_model, source, target
    one_matrix, one_feed_forward = 2 * d**2, 2 * 2 * d * config.d_ff  # for one token
    if config.family == "decoder-only":
        m += n
        projections, attention = 4 * m * one_matrix, 2 * 2 * m**2 * d
    else:
        projections, attention = (6 * m + 2 * n) * one_matrix, 2 * 2 * (m**2 + m * n) * d  # cross-attention: K, V of the source
    return _with_total(
        {
            "encoder.projections": config.encoder_layers * 4 * n * one_matrix,
            "encoder.attention": config.encoder_layers * 2 * 2 * n**2 * d,
            "encoder.feed_forward": config.encoder_layers * n * one_feed_forward,
            "decoder.projections": config.decoder_layers * projections,
            "decoder.attention": config.decoder_layers * attention,
            "decoder.feed_forward": config.decoder_layers * m * one_feed_forward,
            "output": 2 * m * d * config.target_vocab_size,
        }
    )


def attention_bytes(config: ModelConfig, queries: int, keys: int, batch: int = 1, bytes_per_number: int = 4) -> int:
    """The memory that the stored weights of one attention of one layer take: one number a head, query and key."""
    return batch * config.num_heads * queries * keys * bytes_per_number


def cache_bytes(config: ModelConfig, source: int, target: int, batch: int = 1, bytes_per_number: int = 4) -> int:
    """What decoding has kept once `target` tokens are read behind a source: keys and values, 2 d numbers a token and layer
    (fewer where queries share keys).

    An encoder-decoder keeps those of the source in each cross-attention and those of the target in each self-attention; a
    decoder-only model keeps all of them in its one self-attention. The count is the same for the same d and decoder layers.
    """
    return batch * config.decoder_layers * 2 * kept_width(config) * (source + target) * bytes_per_number


def kept_width(config: ModelConfig) -> int:
    """How many numbers the keys of one token are in one layer: d, or fewer where queries share keys."""
    attention = "decoder.self_attention"
    return config.key_heads_of(attention) * config.head_dim_of(attention)


def memory_by_part(
    config: ModelConfig, source: int, target: int, batch: int = 1, bytes_per_number: int = 4, train_bytes: int = 4
) -> dict[str, int]:
    """Bytes of what is held: not a sum, since not all of it is there at once.

    `parameters`; `weights`, those of all attentions of one forced pass if they are stored, as they are here; `cache`, keys and
    values of both sides while writing; `logits` of one forced pass; `training`, what Adam needs beside the activations:
    parameters, gradients and two moments, four numbers of `train_bytes` a parameter.
    """
    if config.family == "decoder-only":
        rows = source + target
        stored = config.decoder_layers * attention_bytes(config, rows, rows, batch, bytes_per_number)
    else:
        rows = target
        stored = config.encoder_layers * attention_bytes(config, source, source, batch, bytes_per_number)
        stored += config.decoder_layers * attention_bytes(config, target, target + source, batch, bytes_per_number)
    return {
        "parameters": parameters(config) * bytes_per_number,
        "weights": stored,
        "cache": cache_bytes(config, source, target, batch, bytes_per_number),
        "logits": batch * rows * config.target_vocab_size * bytes_per_number,
        "training": 4 * parameters(config) * train_bytes,
    }


class Learned(NamedTuple):
    """Numbers in a table of learned positions `alone`, and in the whole model with it."""

    alone: int
    total: int


def learned_positions(config: ModelConfig, positions: int) -> Learned:
    """What a table with a row for each of so many positions holds; no model of this code has one."""
    return Learned(positions * config.d_model, positions * config.d_model + parameters(config))


def flops_of_source(config: ModelConfig, source: int) -> int:
    """Floating-point operations that a source costs once, before anything is written; counted as in `flops`.

    In an encoder-decoder: the encoder, and the source's keys and values of each cross-attention. In a decoder-only model: the
    source's own rows in the one stack, up to their logits; the last of them foretells the first token already.
    """
    return flops(config, source, 0)


def flops_of_token(config: ModelConfig, source: int, target: int) -> int:
    """Floating-point operations of one step with a key/value cache: the last of `target` tokens is read behind the source."""
    d, layers = config.d_model, config.decoder_layers
    one_matrix, one_feed_forward = 2 * d**2, 2 * 2 * d * config.d_ff
    matrices = 4 if config.family == "decoder-only" else 6  # W_Q and W_O of cross-attention too; its K and V are kept
    attention = 2 * 2 * (source + target) * d
    return layers * (matrices * one_matrix + attention + one_feed_forward) + 2 * d * config.target_vocab_size


def flops_of_writing(config: ModelConfig, source: int, steps: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Floating-point operations so far after each step of writing: with a key/value cache, and without, where every step computes
    all rows of the decoder again; an encoder reads the source once in both.

    The first step of a decoder-only model is the pass over its prompt, `source` tokens.
    """
    alone = config.family == "decoder-only"
    parts = flops_by_part(config, source, 0)
    encoded = sum(value for name, value in parts.items() if name.startswith("encoder"))
    new = [0 if alone and not step else flops_of_token(config, source, step + (not alone)) for step in range(steps)]
    again = [flops(config, source, step + (not alone)) - encoded for step in range(steps)]
    return tuple(accumulate(new, initial=parts["total"]))[1:], tuple(accumulate(again, initial=encoded))[1:]


def _with_total(parts: dict[str, int]) -> dict[str, int]:
    return {**parts, "total": sum(parts.values())}
