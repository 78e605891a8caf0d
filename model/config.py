"""Every number and every choice that shapes a model."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

Family = Literal["encoder-decoder", "decoder-only"]
Norm = Literal["post", "pre"]
Activation = Literal["relu", "gelu"]
Positions = Literal["sinusoidal", "rotary", "none"]
Tying = Literal["none", "target", "all"]


PADDING, START, END, UNKNOWN = range(4)  # ids of the tokens that are not text, the same in every vocabulary


class ConfigError(ValueError):
    """A setting that cannot be: the message names it, says what was given and what is possible."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The shape of a Transformer; the letters of the paper stand behind each name.

    `family`: "encoder-decoder" is the paper's; a "decoder-only" model has no encoder and one vocabulary, its `target`.
    `norm`: where LayerNorm stands: "post" is LN(x + Sub(x)) as in the paper, "pre" is x + Sub(LN(x)) with a final norm.
    `positions`: "sinusoidal" is added to the embeddings; "rotary" turns queries and keys of self-attention.
    `tie`: "all" shares one matrix between both embeddings and the output (one vocabulary), "target" shares the decoder's two.
    `attention_bias`: whether W_Q, W_K, W_V and W_O carry a bias (the paper's do not, `torch.nn.Transformer`'s do).
    `max_length`: the longest sequence, in tokens, that the model accepts.
    """

    source_vocab_size: int
    target_vocab_size: int
    family: Family = "encoder-decoder"
    d_model: int = 512  # d_model
    num_heads: int = 8  # h
    d_ff: int = 2048  # d_ff
    encoder_layers: int = 6  # N
    decoder_layers: int = 6  # N
    dropout: float = 0.1  # P_drop
    norm: Norm = "post"
    activation: Activation = "relu"
    positions: Positions = "sinusoidal"
    tie: Tying = "target"
    attention_bias: bool = False
    norm_epsilon: float = 1e-5
    max_length: int = 1024
    padding: int = PADDING
    start: int = START
    end: int = END
    unknown: int = UNKNOWN

    def __post_init__(self) -> None:
        for name in ("source_vocab_size", "target_vocab_size", "d_model", "num_heads", "d_ff", "max_length"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} is too small; give a whole number from 1 up")
        for name in ("encoder_layers", "decoder_layers"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name}={getattr(self, name)} is negative; give 0 or more")
        if self.d_model % self.num_heads:
            raise ConfigError(
                f"d_model={self.d_model} cannot be split evenly into num_heads={self.num_heads}; "
                f"choose a multiple of {self.num_heads}"
            )
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ConfigError(f"d_model={self.d_model} is odd, but each wavelength needs a sine and a cosine; choose an even one")
        if self.positions == "rotary" and self.head_dim % 2:
            raise ConfigError(
                f"head_dim={self.head_dim} (d_model / num_heads) is odd, but rotary positions turn pairs; choose an even one"
            )
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout={self.dropout} is not a probability below 1; choose 0 to 0.99")
        choices = (("family", Family), ("norm", Norm), ("activation", Activation), ("positions", Positions), ("tie", Tying))
        for name, allowed in choices:
            if getattr(self, name) not in get_args(allowed):
                raise ConfigError(f"{name}={getattr(self, name)!r} is not known; choose one of {', '.join(get_args(allowed))}")
        if self.tie == "all" and self.source_vocab_size != self.target_vocab_size:
            raise ConfigError(
                f"tie='all' needs one vocabulary, but source_vocab_size={self.source_vocab_size} and "
                f"target_vocab_size={self.target_vocab_size}; share the tokenizer or choose tie='target'"
            )

        if self.family == "decoder-only":
            self._check_decoder_only()

    def _check_decoder_only(self) -> None:
        if self.encoder_layers:
            raise ConfigError(f"encoder_layers={self.encoder_layers}, but a decoder-only model has no encoder; give 0")
        if self.tie == "all" or self.source_vocab_size != self.target_vocab_size:
            raise ConfigError(
                f"tie={self.tie!r}, source_vocab_size={self.source_vocab_size}, target_vocab_size={self.target_vocab_size}, "
                "but a decoder-only model has one embedding of one vocabulary; give its size twice and tie='target' or 'none'"
            )

    @property
    def head_dim(self) -> int:
        """d_k = d_v: the width of one head."""
        return self.d_model // self.num_heads

    def heads_of(self, attention: str) -> int:
        """How many heads an attention has, "decoder.cross_attention": as many everywhere."""
        return self.num_heads

    def key_heads_of(self, attention: str) -> int:
        """How many heads of keys and values it has: one for each head of queries."""
        return self.heads_of(attention)

    def may_begin(self, ids: Sequence[int]) -> bool:
        """Whether an output may begin with these tokens, by the rules of its makers: our models have none."""
        return True

    def head_dim_of(self, attention: str) -> int:
        """The width of one head of an attention."""
        return self.head_dim

    @property
    def pads_left(self) -> bool:
        """Whether padding before a text changes nothing: positions are counted from its first real token."""
        return True

    def to_dict(self) -> dict[str, Any]:
        """All settings by name, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> "ModelConfig":
        """The configuration that `to_dict` wrote; an unknown setting is an error that names it."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(settings) - known):
            raise ConfigError(f"unknown setting {', '.join(unknown)}; known are {', '.join(sorted(known))}")
        return cls(**settings)


def paper_base(vocab_size: int = 37_000) -> ModelConfig:
    """The base model of Vaswani et al. 2017, Table 3."""
    return ModelConfig(source_vocab_size=vocab_size, target_vocab_size=vocab_size, tie="all")


def paper_big(vocab_size: int = 37_000) -> ModelConfig:
    """The big model of Vaswani et al. 2017, Table 3."""
    return ModelConfig(
        source_vocab_size=vocab_size,
        target_vocab_size=vocab_size,
        tie="all",
        d_model=1024,
        num_heads=16,
        d_ff=4096,
        dropout=0.3,
    )
