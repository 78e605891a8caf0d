"""Where an architecture keeps its parts, and recorders beside them: what their modules compute, under our paths."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from model.adapters.hugging_face.attention import Recorder
from model.attention import KEY, QUERY
from model.trace import Traced


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
