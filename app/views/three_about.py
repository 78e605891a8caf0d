"""What is said of the three attentions of one model: where Q, K and V come from, their shapes, their mask, their purpose."""

from app import session
from app.text import text
from model.analysis import origins
from model.config import ModelConfig
from model.trace import Trace
from model.translator import Atlas

SHORT = {session.ATTENTIONS[0]: "encoder", session.ATTENTIONS[1]: "decoder", session.ATTENTIONS[2]: "cross"}


def about(atlas: Atlas, trace: Trace) -> dict[str, dict[str, object]]:
    """For each attention what stands above its panel; sizes are those of one head on this sentence."""
    return {attention: _of(atlas.config, trace, attention) for attention in session.ATTENTIONS}


def _of(config: ModelConfig, trace: Trace, attention: str) -> dict[str, object]:
    layers = config.encoder_layers if attention.startswith("encoder") else config.decoder_layers
    weights = trace[f"{attention.replace('.', '.layers.0.')}.weights"]
    queries, keys = weights.size("query"), weights.size("key")
    read, memory = ("Z", "M") if attention.endswith("cross_attention") else ("X", "X")
    rotated = config.positions == "rotary" and memory == "X"
    return {
        "purpose": text(f"three_attentions.purpose_{SHORT[attention]}"),
        "mask": text(f"three_attentions.mask_{SHORT[attention]}"),
        "query": projection("Q", queries, read, config, turned=rotated),
        "key": projection("K", keys, memory, config, turned=rotated),
        "value": projection("V", keys, memory, config, turned=False),
        "origins": [_origin(config, attention, layer, rotated) for layer in range(layers)],
    }


def projection(name: str, rows: int, stream: str, config: ModelConfig, *, turned: bool) -> str:
    """How one head's queries, keys or values are made, with sizes; R turns rows by their positions."""
    made, read, matrix = (rows, config.head_dim), (rows, config.d_model), (config.d_model, config.head_dim)
    product = f"{stream}{sizes(*read)} · W_{name}{sizes(*matrix)}" + (f" + b_{name}" if config.attention_bias else "")
    return f"{name}{sizes(*made)} = " + (f"R({product})" if turned else product)


def sizes(*numbers: int) -> str:
    """A shape as it is printed on this page."""
    return f"[{', '.join(str(number) for number in numbers)}]"


def _origin(config: ModelConfig, attention: str, layer: int, rotated: bool) -> dict[str, dict[str, str]]:
    found = origins.origin(config.norm, attention, layer)
    turned = text("three_attentions.turned") if rotated else ""
    query, memory = _stream(config, attention, layer), _memory(config)
    if not attention.endswith("cross_attention"):
        memory = query
    return {
        "query": {"meaning": query, "path": found.query},
        "memory": {"meaning": f"{memory}{turned}", "path": found.memory},
    }


def _stream(config: ModelConfig, attention: str, layer: int) -> str:
    """What the queries are made of, and in self-attention keys and values as well."""
    pre = config.norm == "pre"
    if attention.endswith("cross_attention"):
        return text("three_attentions.stream_z_pre" if pre else "three_attentions.stream_z", layer=layer + 1)
    normed = text("three_attentions.normed_first") if pre else ""
    encoder = attention.startswith("encoder")
    if layer:
        stack = text("three_attentions.encoder") if encoder else text("three_attentions.decoder")
        return text("three_attentions.stream_layer", stack=stack, before=layer) + normed
    sentence = text("three_attentions.source") if encoder else text("three_attentions.target")
    plain = config.positions != "sinusoidal"
    return (
        text("three_attentions.stream_embedded_plain" if plain else "three_attentions.stream_embedded", sentence=sentence)
        + normed
    )


def _memory(config: ModelConfig) -> str:
    key = "three_attentions.stream_memory_pre" if config.norm == "pre" else "three_attentions.stream_memory"
    return text(key, last=config.encoder_layers)
