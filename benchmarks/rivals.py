"""The rivals, of the same size as our shipped models: `torch.nn.Transformer` with our weights, and Hugging Face's Marian."""

from typing import Any

import torch
from torch import Tensor, nn

from model.attention import MultiHeadAttention
from model.attention_mask import causal
from model.config import ModelConfig
from model.embedding import count_positions
from model.layers import DecoderLayer, EncoderLayer, Residual
from model.transformer import EncoderDecoder

# The size of the shipped models; biases in attention, as both rivals have them.
SIZE: dict[str, Any] = {
    "source_vocab_size": 5000,
    "target_vocab_size": 5000,
    "d_model": 256,
    "num_heads": 4,
    "d_ff": 1024,
    "encoder_layers": 3,
    "decoder_layers": 3,
    "tie": "all",
    "attention_bias": True,
}
ADVICE = "transformers is missing: run `make benchmarks`, or .venv/bin/python -m pip install -r requirements-bench.txt"


def ours(**size: int) -> EncoderDecoder:
    """Our model of that size (or another), random weights."""
    torch.manual_seed(1)
    return EncoderDecoder(ModelConfig(**SIZE | size))


class TorchTransformer(nn.Module):
    """Our embeddings and output matrix around `torch.nn.Transformer`: called as our model is, to the same logits."""

    def __init__(self, model: EncoderDecoder) -> None:
        super().__init__()
        config = model.config
        self.source, self.target, self.to_logits = model.source, model.target, model.to_logits
        self.body = nn.Transformer(
            d_model=config.d_model,
            nhead=config.num_heads,
            num_encoder_layers=config.encoder_layers,
            num_decoder_layers=config.decoder_layers,
            dim_feedforward=config.d_ff,
            dropout=config.dropout,
            activation=config.activation,
            layer_norm_eps=config.norm_epsilon,
            batch_first=True,
        )
        self.body.encoder.norm = self.body.decoder.norm = None  # a post-norm model has no final norm
        with torch.no_grad():
            for theirs, layer in zip(self.body.encoder.layers, model.encoder.layers, strict=True):
                copy_encoder_layer(theirs, layer)
            for theirs, layer in zip(self.body.decoder.layers, model.decoder.layers, strict=True):
                copy_decoder_layer(theirs, layer)

    def forward(
        self, source: Tensor, target: Tensor, source_mask: Tensor | None = None, target_mask: Tensor | None = None
    ) -> Tensor:
        blocked = None if source_mask is None else ~source_mask  # here True = may *not* attend
        output = self.body(
            self.source(source, count_positions(source, source_mask)),
            self.target(target, count_positions(target, target_mask)),
            tgt_mask=~causal(target.shape[1]),
            src_key_padding_mask=blocked,
            memory_key_padding_mask=blocked,
            tgt_key_padding_mask=None if target_mask is None else ~target_mask,
            tgt_is_causal=True,
        )
        logits: Tensor = self.to_logits(output)
        return logits


def copy_encoder_layer(theirs: Any, ours: EncoderLayer) -> None:
    copy_attention(theirs.self_attn, ours.self_attention)
    copy_rest(theirs, ours, (theirs.norm1, theirs.norm2))


def copy_decoder_layer(theirs: Any, ours: DecoderLayer) -> None:
    copy_attention(theirs.self_attn, ours.self_attention)
    copy_attention(theirs.multihead_attn, ours.cross_attention)
    copy_rest(theirs, ours, (theirs.norm1, theirs.norm2, theirs.norm3))


def copy_attention(theirs: Any, ours: MultiHeadAttention) -> None:
    inputs = (ours.to_query, ours.to_key, ours.to_value)
    theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in inputs]))
    theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in inputs]))
    theirs.out_proj.load_state_dict(ours.to_output.state_dict())


def copy_rest(theirs: Any, ours: EncoderLayer | DecoderLayer, norms: tuple[Any, ...]) -> None:
    theirs.linear1.load_state_dict(ours.feed_forward.expand.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.contract.state_dict())
    for norm, residual in zip(norms, ours.residual, strict=True):
        assert isinstance(residual, Residual)
        norm.load_state_dict(residual.norm.state_dict())


def marian(**size: int) -> Any:
    """Hugging Face's Marian of the same size, random weights; attention "eager", the one that can be returned."""
    try:
        from transformers import MarianConfig, MarianMTModel
    except ImportError:
        raise SystemExit(ADVICE) from None
    config = ModelConfig(**SIZE | size)
    settings = MarianConfig(
        vocab_size=config.target_vocab_size,
        d_model=config.d_model,
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        encoder_attention_heads=config.num_heads,
        decoder_attention_heads=config.num_heads,
        encoder_ffn_dim=config.d_ff,
        decoder_ffn_dim=config.d_ff,
        activation_function=config.activation,
        max_position_embeddings=config.max_length,
        scale_embedding=True,
        pad_token_id=config.padding,
        decoder_start_token_id=config.start,
        bos_token_id=config.start,
        eos_token_id=config.end,
        forced_eos_token_id=None,
        attn_implementation="eager",
    )
    torch.manual_seed(1)
    return MarianMTModel(settings).eval()
