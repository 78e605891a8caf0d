"""Their modules under the interface of ours: what decoding, tracing and the pages call."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from model.adapters.hugging_face.attention import Recorder
from model.attention import KEY, QUERY, KeyValueCache
from model.config import ModelConfig
from model.embedding import count_positions
from model.trace import Traced
from model.transformer import DecoderOnly, EncoderDecoder


@dataclass(frozen=True, kw_only=True)
class HuggingFaceConfig(ModelConfig):
    """The shape of a model of theirs. Its choices need not be among ours, so they are told here and not checked.

    `architecture` is their `model_type`; `width` of one head, which need not be d_model / heads; `key_value_heads` fewer than
    `num_heads` where queries share keys. `family` may be "encoder-only", `positions` "learned" or "relative", `activation` any
    name of theirs. Ids of `forbidden` are never written; `first` is written before all else.
    """

    architecture: str
    width: int
    key_value_heads: int
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


@dataclass(frozen=True)
class Place:
    """Where an architecture keeps the parts of one layer, relative to the layer; several names where names differ."""

    attention: Mapping[str, str]
    output: Mapping[str, str]
    contract: str


_BART = Place(
    {"self_attention": "self_attn", "cross_attention": "encoder_attn"},
    {"self_attention": "self_attn.out_proj", "cross_attention": "encoder_attn.out_proj"},
    "fc2",
)
_LLAMA = Place({"self_attention": "self_attn"}, {"self_attention": "self_attn.o_proj"}, "mlp.down_proj")
_BERT = Place({"self_attention": "attention.self"}, {"self_attention": "attention.output.dense"}, "output.dense")
_T5_ENCODER = Place(
    {"self_attention": "layer.0.SelfAttention"}, {"self_attention": "layer.0.SelfAttention.o"}, "layer.1.DenseReluDense.wo"
)
_T5_DECODER = Place(
    {"self_attention": "layer.0.SelfAttention", "cross_attention": "layer.1.EncDecAttention"},
    {"self_attention": "layer.0.SelfAttention.o", "cross_attention": "layer.1.EncDecAttention.o"},
    "layer.2.DenseReluDense.wo",
)
_GPT2 = Place({"self_attention": "attn"}, {"self_attention": "attn.c_proj"}, "mlp.c_proj")

STACKS: Mapping[str, Mapping[str, tuple[str, Place]]] = {
    **{
        name: {"encoder": ("model.encoder.layers", _BART), "decoder": ("model.decoder.layers", _BART)}
        for name in ("marian", "bart", "mbart", "m2m_100")
    },
    **{name: {"encoder": ("encoder.block", _T5_ENCODER), "decoder": ("decoder.block", _T5_DECODER)} for name in ("t5", "mt5")},
    "gpt2": {"decoder": ("transformer.h", _GPT2)},
    **{name: {"decoder": ("model.layers", _LLAMA)} for name in ("llama", "mistral", "qwen2")},
    **{name: {"encoder": ("encoder.layer", _BERT)} for name in ("bert", "roberta", "xlm-roberta")},
}
"""For each architecture, the list of layers of each stack in its module tree, and where a layer keeps its parts."""

ROTARY = frozenset({"llama", "mistral", "qwen2"})
LEFT_PADDING = frozenset({"t5", "mt5", "m2m_100", "roberta", "xlm-roberta"})
"""Encoders whose positions do not count padding on the left."""


class Theirs(Traced):
    """Records under our paths what goes through a module of theirs."""

    def __init__(self, path: str, sentence: str) -> None:
        super().__init__()
        self.path, self.spans = path, {"query": sentence, "key": sentence, "token": sentence}


def listen(theirs: Any, architecture: str) -> None:
    """Put a recorder beside every attention, and record what enters and leaves layers, attentions and feed-forward layers."""
    for stack, (name, place) in STACKS[architecture].items():
        own = "source" if stack == "encoder" else "target"
        layers: Any = theirs.get_submodule(name)
        for number, layer in enumerate(layers):
            base = f"{stack}.layers.{number}"
            _before(layer, Theirs(f"{base}.residual.0", own), "batch token d_model", "input")
            _before(layer.get_submodule(place.contract), Theirs(f"{base}.feed_forward", own), "batch token d_ff", "hidden")
            for attention, where in _present(layer, place.attention):
                key = "source" if attention == "cross_attention" else own
                path = f"{base}.{attention}"
                module = layer.get_submodule(where)
                module.recorder = Recorder(path, own, key, architecture in ROTARY)
                _after(layer.get_submodule(place.output[attention]), Theirs(path, own), "batch query d_model", "output")
                if architecture in ROTARY:
                    _before_rotation(module, Theirs(path, own))

    if "decoder" in STACKS[architecture]:
        _after(theirs.get_decoder(), Theirs("decoder", "target"), "batch token d_model", "output")


def _present(layer: nn.Module, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The attentions that a layer has: that of an encoder has no cross-attention."""
    for attention, where in names.items():
        if hasattr(layer, where.split(".")[0]):
            yield attention, where


def _before(module: nn.Module, recorder: Theirs, axes: str, name: str) -> None:
    def hook(_: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        recorder.record(axes, **{name: given[0] if given else named["hidden_states"]})

    module.register_forward_pre_hook(hook, with_kwargs=True)


def _after(module: nn.Module, recorder: Theirs, axes: str, name: str) -> None:
    def hook(_: nn.Module, given: Any, made: Any) -> None:
        recorder.record(axes, **{name: made if isinstance(made, Tensor) else made.last_hidden_state})

    module.register_forward_hook(hook)


def _before_rotation(module: Any, recorder: Theirs) -> None:
    """Queries may be edited before they are turned; keys are recorded once for each head of queries."""
    groups, width = module.num_key_value_groups, module.head_dim

    def query(_: nn.Module, given: Any, made: Tensor) -> Tensor:
        heads = made.view(*made.shape[:2], -1, width).transpose(1, 2)
        return recorder.tap(QUERY, query=heads).transpose(1, 2).reshape(made.shape)

    def key(_: nn.Module, given: Any, made: Tensor) -> None:
        heads = made.view(*made.shape[:2], -1, width).transpose(1, 2)
        recorder.record(KEY, key=heads.repeat_interleave(groups, dim=1))

    module.q_proj.register_forward_hook(query)
    module.k_proj.register_forward_hook(key)


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
        self.check_length(target, earlier)
        _check_padding(target_mask, self.config)
        cached = _their_cache(cache, self.config.decoder_layers, crosses=True)
        made = self.theirs(
            encoder_outputs=(memory,), attention_mask=_numbers(source_mask), decoder_input_ids=target,
            decoder_attention_mask=_numbers(target_mask), cache=cached, use_cache=cache is not None,
        )  # fmt: skip
        self.logits_side.record("batch token vocab", logits=made.logits)
        _keep(cache, made.cache, target.shape[1], crosses=True)
        return _permitted(made.logits, self.config, earlier)


class HuggingFaceDecoderOnly(DecoderOnly):
    """Their language model."""

    config: HuggingFaceConfig

    def __init__(self, theirs: Any, config: HuggingFaceConfig) -> None:
        nn.Module.__init__(self)
        self.config, self.theirs = config, theirs
        self.logits_side = Theirs("", "target")

    def forward(self, target: Tensor, target_mask: Tensor | None = None, cache: KeyValueCache | None = None) -> Tensor:
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
        logits: Tensor = _permitted(made.logits, self.config, earlier=1)
        return logits


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
