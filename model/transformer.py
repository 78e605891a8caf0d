"""The whole model: token ids in, logits out."""

from collections.abc import Iterable

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model import attention_mask
from model.attention import KeyValueCache
from model.config import ModelConfig
from model.embedding import InputEmbedding, count_positions
from model.layers import DecoderLayer, EncoderLayer
from model.trace import Traced, name_modules


class Stack(Traced):
    """Layers one after the other; pre-norm models normalise once more at the end, their residual stream being never normed."""

    def __init__(self, config: ModelConfig, layers: Iterable[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon) if config.norm == "pre" else nn.Identity()

    def forward(self, x: Float[Tensor, "batch token d_model"], *context: object) -> Float[Tensor, "batch token d_model"]:
        for layer in self.layers:
            x = layer(x, *context)
        output: Tensor = self.norm(x)
        self.record("batch token d_model", output=output)
        return output


class Transformer(Traced):
    """What both families share: a decoder that cannot look ahead, and logits over the target's vocabulary.

    Stateless: many threads may call one model, in eval mode and inference mode, at the same time.
    """

    config: ModelConfig
    target: InputEmbedding
    decoder: Stack
    to_logits: nn.Linear

    def make_output(self) -> None:
        """The matrix that turns the decoder's output into logits, tied as the configuration says; every weight initialised."""
        config = self.config
        self.to_logits = nn.Linear(config.d_model, config.target_vocab_size, bias=False)
        for name, weight in self.named_parameters():
            if weight.ndim == 2 and "table" not in name:
                nn.init.xavier_uniform_(weight)
        if config.tie == "none":
            nn.init.normal_(self.to_logits.weight, std=config.d_model**-0.5)
        else:
            self.to_logits.weight = self.target.table.weight
        name_modules(self, sentences_along)

    def read_target(
        self, target: Int[Tensor, "batch target"], target_mask: Tensor | None, cache: KeyValueCache | None
    ) -> tuple[Tensor, Tensor | None, Tensor]:
        """The embeddings of the target, who may attend to whom, and positions: after the tokens that the cache has seen."""
        if cache is not None and target_mask is not None:
            raise ValueError("a cache keeps no padding of earlier steps; decode with cache or with target_mask, not with both")
        earlier = cache.length if cache else 0
        self.check_length(target, earlier)
        length = target.shape[1]
        mask = None if length == 1 else attention_mask.causal(length, earlier + length, device=target.device)[None]
        if target_mask is not None:
            mask = target_mask[:, None, :] if mask is None else mask & target_mask[:, None, :]
        positions = count_positions(target, target_mask, start=earlier)
        return self.target(target, positions), mask, positions

    def predict(
        self, x: Float[Tensor, "batch target d_model"], cache: KeyValueCache | None
    ) -> Float[Tensor, "batch target vocab"]:
        """Logits for the token after each row; the cache has seen these rows now."""
        logits: Tensor = self.to_logits(x)
        self.record("batch token vocab", logits=logits)
        if cache is not None:
            cache.length += x.shape[1]
        return logits

    def check_length(self, ids: Tensor, earlier: int = 0) -> None:
        length = earlier + ids.shape[1]
        if length > self.config.max_length:
            raise ValueError(
                f"a sequence of {length} tokens is longer than max_length={self.config.max_length}; shorten the text"
            )


class EncoderDecoder(Transformer):
    """The Transformer of Vaswani et al. 2017: an encoder reads the source, a decoder writes the target one token at a time."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.source = InputEmbedding(config, config.source_vocab_size)
        self.target = InputEmbedding(config, config.target_vocab_size)
        self.encoder = Stack(config, (EncoderLayer(config) for _ in range(config.encoder_layers)))
        self.decoder = Stack(config, (DecoderLayer(config) for _ in range(config.decoder_layers)))
        self.make_output()
        if config.tie == "all":
            self.source.table.weight = self.target.table.weight

    def forward(
        self,
        source: Int[Tensor, "batch source"],
        target: Int[Tensor, "batch target"],
        source_mask: Bool[Tensor, "batch source"] | None = None,
        target_mask: Bool[Tensor, "batch target"] | None = None,
    ) -> Float[Tensor, "batch target vocab"]:
        """One forced pass: row r reads target[r] and predicts what comes after it.

        The masks are False at padding; None says that there is none. Logits of padding rows mean nothing.
        """
        return self.decode(target, self.encode(source, source_mask), source_mask, target_mask)

    def encode(
        self, source: Int[Tensor, "batch source"], source_mask: Bool[Tensor, "batch source"] | None = None
    ) -> Float[Tensor, "batch source d_model"]:
        """What the encoder makes of the source: the memory that cross-attention reads."""
        self.check_length(source)
        positions = count_positions(source, source_mask)
        keys = None if source_mask is None else source_mask[:, None, :]
        memory: Tensor = self.encoder(self.source(source, positions), keys, positions)
        return memory

    def decode(
        self,
        target: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"],
        source_mask: Bool[Tensor, "batch source"] | None = None,
        target_mask: Bool[Tensor, "batch target"] | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch target vocab"]:
        """Logits for the token after each of `target`; with a cache, `target` holds only the tokens not seen before."""
        x, mask, positions = self.read_target(target, target_mask, cache)
        keys = None if source_mask is None else source_mask[:, None, :]
        return self.predict(self.decoder(x, memory, mask, keys, positions, cache), cache)


class DecoderOnly(Transformer):
    """A language model: one stack of self-attention under a causal mask, no encoder, no cross-attention (Radford et al. 2018).

    Whatever it should go by (a prompt, a source sentence) stands at the beginning of the same sequence.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.target = InputEmbedding(config, config.target_vocab_size)
        self.decoder = Stack(config, (EncoderLayer(config) for _ in range(config.decoder_layers)))
        self.make_output()

    def forward(
        self,
        target: Int[Tensor, "batch target"],
        target_mask: Bool[Tensor, "batch target"] | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch target vocab"]:
        """Row r reads target[r] and predicts what follows it; with a cache, `target` holds only the tokens not seen before."""
        x, mask, positions = self.read_target(target, target_mask, cache)
        return self.predict(self.decoder(x, mask, positions, cache), cache)


def build(config: ModelConfig) -> EncoderDecoder | DecoderOnly:
    """The untrained model of a configuration."""
    return DecoderOnly(config) if config.family == "decoder-only" else EncoderDecoder(config)


def sentences_along(path: str) -> dict[str, str]:
    """Which sentence the axes query, key and token of the module at `path` run along."""
    own = "source" if path.startswith(("source", "encoder")) else "target"
    return {"query": own, "key": "source" if path.endswith("cross_attention") else own, "token": own}
