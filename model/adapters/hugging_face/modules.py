"""Their modules under the interface of ours: what decoding, tracing and the pages call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from model.adapters.hugging_face.listening import Theirs
from model.attention import KeyValueCache
from model.config import ModelConfig
from model.embedding import count_positions
from model.trace import Traced
from model.transformer import DecoderOnly, EncoderDecoder

LEFT_PADDING = frozenset({"t5", "mt5", "m2m_100", "roberta", "xlm-roberta"})
"""Encoders whose positions do not count padding on the left."""


@dataclass(frozen=True, kw_only=True)
class HuggingFaceConfig(ModelConfig):
    """The shape of a model of theirs. Its choices need not be among ours, so they are told here and not checked.

    `architecture` is their `model_type`; `width` of one head, which need not be d_model / heads; `key_value_heads` fewer than
    `num_heads` where queries share keys; `decoder_heads` need not be as many as `num_heads`, those of the encoder. `family` may
    be "encoder-only", `positions` "learned" or "relative", `activation` any name of theirs. Ids of `forbidden` are never
    written; `first` is written before all else.
    """

    architecture: str
    width: int
    key_value_heads: int
    decoder_heads: int
    family: Any = "encoder-decoder"
    positions: Any = "none"
    activation: Any = "relu"
    forbidden: tuple[int, ...] = ()
    first: int | None = None

    def __post_init__(self) -> None:
        """Nothing is checked: their own configuration has built the model."""

    @property
    def head_dim(self) -> int:
        return self.width

    @property
    def pads_left(self) -> bool:
        return self.architecture in LEFT_PADDING or self.family == "decoder-only"

    def heads_of(self, attention: str) -> int:
        return self.decoder_heads if attention.startswith("decoder") else self.num_heads

    def may_begin(self, ids: Sequence[int]) -> bool:
        return not set(ids) & set(self.forbidden) and (self.first is None or not ids or ids[0] == self.first)

    def head_dim_of(self, attention: str) -> int:
        heads = self.heads_of(attention)
        return self.width if heads == self.num_heads else self.d_model // heads

    def key_heads_of(self, attention: str) -> int:
        return self.key_value_heads if self.key_value_heads != self.num_heads else self.heads_of(attention)


def _permitted(logits: Tensor, config: HuggingFaceConfig, earlier: int) -> Tensor:
    """What may be written: never what their rules for writing forbid, and first of all what they ask for (a language)."""
    if config.forbidden:
        logits = logits.index_fill(-1, torch.tensor(config.forbidden, device=logits.device), -torch.inf)
    if config.first is not None and not earlier:
        forced = torch.full_like(logits[:, 0], -torch.inf)
        forced[:, config.first] = 0.0
        logits = torch.cat((forced[:, None], logits[:, 1:]), dim=1)
    return logits


class HuggingFaceEncoderDecoder(EncoderDecoder):
    """Their encoder-decoder. `decode` gives logits in which what may not be written is -inf; recorded are those of the model."""

    config: HuggingFaceConfig

    def __init__(self, theirs: Any, config: HuggingFaceConfig) -> None:
        nn.Module.__init__(self)
        self.config, self.theirs = config, theirs
        self.source_side, self.logits_side = Theirs("encoder", "source"), Theirs("", "target")

    def encode(self, source: Tensor, source_mask: Tensor | None = None) -> Tensor:
        self.check_length(source)
        _check_padding(source_mask, self.config)
        output: Tensor = self.theirs.get_encoder()(input_ids=source, attention_mask=_numbers(source_mask)).last_hidden_state
        self.source_side.record("batch token d_model", output=output)
        return output

    def decode(
        self,
        target: Tensor,
        memory: Tensor,
        source_mask: Tensor | None = None,
        target_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        earlier = cache.length if cache else 0
        return _permitted(self.logits(target, memory, source_mask, target_mask, cache), self.config, earlier)

    def logits(
        self,
        target: Tensor,
        memory: Tensor,
        source_mask: Tensor | None = None,
        target_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """The model's own logits, also of what may not be written."""
        earlier = cache.length if cache else 0
        self.check_length(target, earlier)
        _check_padding(target_mask, self.config)
        cached = _their_cache(cache, self.config.decoder_layers, crosses=True)
        made = self.theirs(
            encoder_outputs=(memory,), attention_mask=_numbers(source_mask), decoder_input_ids=target,
            decoder_attention_mask=_numbers(target_mask), cache=cached, use_cache=cache is not None,
        )  # fmt: skip
        self.logits_side.record("batch token vocab", logits=made.logits)
        _keep(cache, made.cache, target.shape[1], crosses=True)
        found: Tensor = made.logits
        return found


class HuggingFaceDecoderOnly(DecoderOnly):
    """Their language model."""

    config: HuggingFaceConfig

    def __init__(self, theirs: Any, config: HuggingFaceConfig) -> None:
        nn.Module.__init__(self)
        self.config, self.theirs = config, theirs
        self.logits_side = Theirs("", "target")

    def forward(self, target: Tensor, target_mask: Tensor | None = None, cache: KeyValueCache | None = None) -> Tensor:
        return _permitted(self.logits(target, target_mask, cache), self.config, earlier=1)

    def logits(self, target: Tensor, target_mask: Tensor | None = None, cache: KeyValueCache | None = None) -> Tensor:
        """The model's own logits, also of what may not be written."""
        if cache is not None and target_mask is not None:
            raise ValueError("a cache keeps no padding of earlier steps; decode with cache or with target_mask, not with both")
        earlier = cache.length if cache else 0
        self.check_length(target, earlier)
        made = self.theirs(
            input_ids=target, attention_mask=_numbers(target_mask), position_ids=count_positions(target, target_mask, earlier),
            cache=_their_cache(cache, self.config.decoder_layers, crosses=False), use_cache=cache is not None,
        )  # fmt: skip
        self.logits_side.record("batch token vocab", logits=made.logits)
        _keep(cache, made.cache, target.shape[1], crosses=False)
        found: Tensor = made.logits
        return found


class HuggingFaceEncoderOnly(Traced):
    """Their encoder alone: it reads a text, and writes nothing."""

    def __init__(self, theirs: Any, config: HuggingFaceConfig) -> None:
        super().__init__()
        self.config, self.theirs = config, theirs
        self.source_side = Theirs("encoder", "source")

    def forward(self, source: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """What the encoder makes of each token, (batch, token, d_model)."""
        _check_padding(source_mask, self.config)
        output: Tensor = self.theirs(input_ids=source, attention_mask=_numbers(source_mask)).last_hidden_state
        self.source_side.record("batch token d_model", output=output)
        return output


def _check_padding(mask: Tensor | None, config: HuggingFaceConfig) -> None:
    if mask is not None and config.architecture not in LEFT_PADDING and not bool(mask[:, 0].all()):
        raise ValueError(f"{config.architecture} counts positions from the left, padding too; pad on the right")


def _numbers(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else mask.long()


def _their_cache(cache: KeyValueCache | None, layers: int, crosses: bool) -> Any:
    """The keys and values that ours holds, as theirs: empty at the first step."""
    if cache is None:
        return None
    transformers: Any = import_module("transformers")

    def filled(name: str) -> Any:
        kept = [cache.kept[_path(layer, name)] for layer in range(layers) if _path(layer, name) in cache.kept]
        return transformers.DynamicCache(kept or None)

    own = filled("self_attention")
    return transformers.EncoderDecoderCache(own, filled("cross_attention")) if crosses else own


def _keep(cache: KeyValueCache | None, theirs: Any, read: int, crosses: bool) -> None:
    if cache is None:
        return
    sides: Mapping[str, Any] = (
        {"self_attention": theirs.self_attention_cache, "cross_attention": theirs.cross_attention_cache}
        if crosses
        else {"self_attention": theirs}
    )
    for name, side in sides.items():
        for layer, kept in enumerate(side.layers):
            cache.kept[_path(layer, name)] = kept.keys, kept.values
    cache.length += read


def _path(layer: int, name: str) -> str:
    return f"decoder.layers.{layer}.{name}"
