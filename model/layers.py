"""The layers: feed-forward, residual connection with normalisation, encoder layer, decoder layer."""

from collections.abc import Callable

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model.attention import KeyValueCache, MultiHeadAttention
from model.config import ModelConfig
from model.trace import Traced

TOKEN = "batch token d_model"
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}


class FeedForward(Traced):
    """max(0, x W_1 + b_1) W_2 + b_2, applied to each position alone (Vaswani et al. 2017, 3.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.expand = nn.Linear(config.d_model, config.d_ff)  # W_1, b_1
        self.activation = ACTIVATIONS[config.activation]()
        self.contract = nn.Linear(config.d_ff, config.d_model)  # W_2, b_2

    def forward(self, x: Float[Tensor, "batch token d_model"]) -> Float[Tensor, "batch token d_model"]:
        hidden = self.activation(self.expand(x))
        output: Tensor = self.contract(hidden)
        self.record("batch token d_ff", hidden=hidden)
        return output


class Residual(Traced):
    """A sublayer with its way around it: LN(x + Sub(x)) in post-norm, x + Sub(LN(x)) in pre-norm.

    Post-norm is the paper's (Vaswani et al. 2017, 3.1), pre-norm that of Xiong et al. 2020.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.pre_norm = config.norm == "pre"
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x: Float[Tensor, "batch token d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch token d_model"]:
        normed = self.norm(x) if self.pre_norm else x
        changed = sublayer(normed)
        if self.training:
            changed = self.dropout(changed)
        total = x + changed
        if not self.pre_norm:
            normed = self.norm(total)
        self.record(TOKEN, input=x, sublayer=changed, sum=total, normed=normed)
        output: Tensor = total if self.pre_norm else normed
        return output


class EncoderLayer(Traced):
    """Self-attention, then feed-forward, each with its residual.

    Layers of an encoder look at the whole source; under a causal mask the same layer is that of a decoder-only model.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config, rotary=config.positions == "rotary")
        self.feed_forward = FeedForward(config)
        self.residual = nn.ModuleList(Residual(config) for _ in range(2))

    def forward(
        self,
        x: Float[Tensor, "batch token d_model"],
        attention_mask: Bool[Tensor, "#batch #token all_tokens"] | None,
        positions: Int[Tensor, "#batch token"],
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch token d_model"]:
        around_attention, around_feed_forward = self.residual
        x = around_attention(x, lambda x: self.self_attention(x, x, attention_mask, positions, cache))
        output: Tensor = around_feed_forward(x, self.feed_forward)
        return output


class DecoderLayer(Traced):
    """Masked self-attention over the target, cross-attention to the source, then feed-forward, each with its residual."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config, rotary=config.positions == "rotary")
        self.cross_attention = MultiHeadAttention(config)
        self.feed_forward = FeedForward(config)
        self.residual = nn.ModuleList(Residual(config) for _ in range(3))

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        attention_mask: Bool[Tensor, "#batch #target all_targets"] | None,
        source_mask: Bool[Tensor, "#batch #target source"] | None,
        positions: Int[Tensor, "#batch target"],
        cache: KeyValueCache | None,
    ) -> Float[Tensor, "batch target d_model"]:
        around_self_attention, around_cross_attention, around_feed_forward = self.residual
        x = around_self_attention(x, lambda x: self.self_attention(x, x, attention_mask, positions, cache))
        x = around_cross_attention(x, lambda x: self.cross_attention(x, memory, source_mask, cache=cache))
        output: Tensor = around_feed_forward(x, self.feed_forward)
        return output
