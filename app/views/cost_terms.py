"""The terms of every count: letters, and the same with the numbers of a configuration. No text of a user is in them."""

from model import cost
from model.config import ModelConfig


def parameter_terms(config: ModelConfig) -> dict[str, tuple[str, str]]:
    """Of every part of `cost.parameters_by_part`, its formula and the same with numbers."""
    attention, feed, norm = cost.of_attention(config), cost.of_feed_forward(config), cost.of_norm(config)
    source, target, d = config.source_vocab_size, config.target_vocab_size, config.d_model
    alone, final = config.family == "decoder-only", config.norm == "pre"
    one = alone or config.tie == "all"
    end = (" + norm", f" + {norm:,}") if final else ("", "")
    cross = "" if alone else "2 · "
    norms = 2 if alone else 3
    return {
        "embeddings": ("V · d", f"{target:,} · {d:,}")
        if one
        else ("V_s · d + V_t · d", f"{source:,} · {d:,} + {target:,} · {d:,}"),
        "encoder": (
            f"N · (attention + FFN + 2 · norm){end[0]}",
            f"{config.encoder_layers} · ({attention:,} + {feed:,} + 2 · {norm:,}){end[1]}",
        ),
        "decoder": (
            f"N · ({cross}attention + FFN + {norms} · norm){end[0]}",
            f"{config.decoder_layers} · ({cross}{attention:,} + {feed:,} + {norms} · {norm:,}){end[1]}",
        ),
        "output": ("V · d", f"{target:,} · {d:,}") if config.tie == "none" else ("0", "0"),
    }


def flop_terms(config: ModelConfig) -> dict[str, str]:
    """The formula of every part of `cost.flops_by_part`, n source and m target tokens."""
    if config.family == "decoder-only":
        return {
            "decoder.projections": "N · 8 (n + m) d²",
            "decoder.attention": "N · 4 (n + m)² d",
            "decoder.feed_forward": "N · 4 (n + m) d d_ff",
            "output": "2 (n + m) d V",
        }
    return {
        "encoder.projections": "N · 8 n d²",
        "encoder.attention": "N · 4 n² d",
        "encoder.feed_forward": "N · 4 n d d_ff",
        "decoder.projections": "N · (12 m + 4 n) d²",
        "decoder.attention": "N · 4 (m² + m n) d",
        "decoder.feed_forward": "N · 4 m d d_ff",
        "output": "2 m d V",
    }


def memory_terms(config: ModelConfig) -> dict[str, str]:
    """The formula of every part of `cost.memory_by_part`: b bytes a number, B sequences, P parameters."""
    alone = config.family == "decoder-only"
    return {
        "parameters": "P · b",
        "weights": "B · N · h (n + m)² · b" if alone else "B · h (N_enc n² + N_dec m (m + n)) · b",
        "cache": "B · N · 2 d (n + m) · b",
        "logits": f"B · {'(n + m)' if alone else 'm'} · V · b",
        "training": "P · 4 · 4",
    }


# ----- LaTeX


def _printed(value: int) -> str:
    return f"{value:,}".replace(",", "{,}")


def layer_parameters(config: ModelConfig) -> str:
    """The parameters of one layer of self-attention and feed-forward, with numbers."""
    d, ff, bias = config.d_model, config.d_ff, config.attention_bias
    first = rf"4 \cdot {d}^2" + (rf" + 4 \cdot {d}" if bias else "")
    return rf"{first} + (2 \cdot {d} \cdot {ff} + {ff} + {d}) + 2 \cdot 2 \cdot {d} = {_printed(cost.of_layer(config))}"


def layer_operations(config: ModelConfig, length: int) -> tuple[str, str]:
    """The operations of one layer with numbers: those that grow with n, those that grow with its square."""
    linear, square = cost.layer_flops(config, length)
    n, d, ff = length, config.d_model, config.d_ff
    return (
        rf"\text{{linear}} = 8 \cdot {n} \cdot {d}^2 + 4 \cdot {n} \cdot {d} \cdot {ff} = {_printed(linear)}",
        rf"\text{{square}} = 4 \cdot {n}^2 \cdot {d} = {_printed(square)}",
    )


def crossing(config: ModelConfig) -> str:
    """Where both are equal."""
    d, ff, at = config.d_model, config.d_ff, cost.crossing(config)
    return rf"n^* = 2 \cdot {d} + {ff} = {_printed(at)} = {at / d:.3g}\, d"


def cache(config: ModelConfig, source: int, target: int, batch: int, size: int) -> str:
    """The size of the key/value cache with numbers."""
    total = _printed(cost.cache_bytes(config, source, target, batch, size))
    numbers = rf"{batch} \cdot {config.decoder_layers} \cdot 2 \cdot {config.d_model} \cdot ({source} + {target}) \cdot {size}"
    return rf"\text{{bytes}} = {numbers} = {total}"
