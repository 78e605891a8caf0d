"""Our weights put into PyTorch's own layers, and into numbers of double precision."""

from copy import deepcopy
from dataclasses import replace

import torch
from torch import Tensor, nn

from model.attention import MultiHeadAttention
from model.config import ModelConfig
from model.layers import DecoderLayer, EncoderLayer
from model.transformer import EncoderDecoder
from model.translator import Translator


@torch.no_grad()
def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    projections = (ours.to_query, ours.to_key, ours.to_value)
    theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in projections]))
    theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in projections]))
    theirs.out_proj.load_state_dict(ours.to_output.state_dict())


def copy_layer(ours: EncoderLayer | DecoderLayer, theirs: nn.Module) -> None:
    copy_attention(ours.self_attention, theirs.self_attn)
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
    theirs.linear1.load_state_dict(ours.feed_forward.expand.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.contract.state_dict())
    for number, residual in enumerate(ours.residual, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())


def their_layer(config: ModelConfig, kind: type[nn.Module]) -> nn.Module:
    return kind(
        config.d_model, config.num_heads, config.d_ff, 0.0, config.activation, config.norm_epsilon,
        batch_first=True, norm_first=config.norm == "pre", dtype=torch.float64,
    ).eval()  # fmt: skip


def their_transformer(ours: EncoderDecoder) -> nn.Transformer:
    """`nn.Transformer` computing what our two stacks compute; it has final norms in pre-norm only."""
    config = ours.config
    encoder = nn.TransformerEncoder(
        their_layer(config, nn.TransformerEncoderLayer), config.encoder_layers, enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(their_layer(config, nn.TransformerDecoderLayer), config.decoder_layers)
    theirs = nn.Transformer(
        config.d_model, config.num_heads, batch_first=True, custom_encoder=encoder, custom_decoder=decoder, dtype=torch.float64
    )
    for stack, copy in ((ours.encoder, encoder), (ours.decoder, decoder)):
        for layer, twin in zip(stack.layers, copy.layers, strict=True):
            copy_layer(layer, twin)
        if config.norm == "pre":
            copy.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon, dtype=torch.float64)
            copy.norm.load_state_dict(stack.norm.state_dict())
    return theirs.eval()


def by_nn_transformer(
    ours: EncoderDecoder, source: Tensor, target: Tensor, source_mask: Tensor | None = None, target_mask: Tensor | None = None
) -> Tensor:
    """Logits, with embeddings and positions done here once more. PyTorch's masks are True where hidden."""
    d_model = ours.config.d_model

    def embedded(table: nn.Embedding, ids: Tensor, mask: Tensor | None) -> Tensor:
        rows = table.weight[ids] * d_model**0.5
        if ours.config.positions == "none":
            return rows
        for sentence in range(len(ids)):
            position = 0
            for place in range(ids.shape[1]):
                if mask is None or mask[sentence, place]:
                    angles = position / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
                    row = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten()
                    rows[sentence, place] += row.float()  # the model keeps its table in float32
                    position += 1
        return rows

    hidden = their_transformer(ours)(
        embedded(ours.source.table, source, source_mask),
        embedded(ours.target.table, target, target_mask),
        tgt_mask=torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1),
        src_key_padding_mask=None if source_mask is None else ~source_mask,
        tgt_key_padding_mask=None if target_mask is None else ~target_mask,
        memory_key_padding_mask=None if source_mask is None else ~source_mask,
    )
    return nn.functional.linear(hidden, ours.to_logits.weight)


def in_double(atlas: Translator) -> Translator:
    """A copy of the model in float64."""
    return replace(atlas, model=deepcopy(atlas.model).double())
