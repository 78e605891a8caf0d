"""Gradients through freshly initialised stacks of our own layers: why there is a residual connection, and where the norm stands.

Nothing here is trained. The stack reads the tokens of a sentence through a fresh embedding and has to name each of them again;
the gradient of that loss is measured at the input of every layer and at every layer's parameters (Xiong et al. 2020).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from model.analysis.what_if import without_residual
from model.config import ModelConfig, Norm
from model.embedding import count_positions
from model.transformer import EncoderDecoder
from model.translator import Atlas

WIDTH, HEADS, INSIDE = 64, 4, 256  # d_model, h, d_ff


@dataclass(frozen=True)
class Gradients:
    """Norms of the gradient of the loss, one for each layer, the lowest first.

    `inputs`: with respect to what the layer takes in; `parameters`: with respect to all its parameters together.
    `alike` is the mean cosine between different positions at the top: 1 where the stack has made all tokens the same.
    """

    inputs: tuple[float, ...]
    parameters: tuple[float, ...]
    loss: float
    alike: float


ARRANGEMENTS: tuple[tuple[Norm, bool], ...] = (("post", True), ("pre", True), ("post", False), ("pre", False))
"""Where the norm stands, and whether there is a residual connection."""


def arrangements(atlas: Atlas, ids: tuple[int, ...], depth: int, seed: int = 0) -> dict[tuple[Norm, bool], Gradients]:
    """All `ARRANGEMENTS` of a stack of `depth` encoder layers, on the tokens `ids` of the source vocabulary."""
    if depth < 1 or not ids:
        raise ValueError(f"a stack of {depth} layers over {len(ids)} tokens has no gradient; give 1 or more of both")
    found = {}
    with torch.inference_mode(False), torch.enable_grad():
        read = torch.tensor([ids])
        norms: tuple[Norm, ...] = ("post", "pre")
        for norm in norms:
            model = fresh(stack_config(depth, norm, atlas.config.source_vocab_size, len(ids)), seed)
            found[norm, True] = measured(model, read)
            found[norm, False] = measured(without_residual(model, in_place=True), read)  # the same weights, and ours alone
    return found


def stack_config(depth: int, norm: Norm, vocab_size: int, length: int) -> ModelConfig:
    """An encoder of `depth` layers of width 64 and no decoder: its output matrix then reads the encoder."""
    return ModelConfig(
        source_vocab_size=vocab_size,
        target_vocab_size=vocab_size,
        d_model=WIDTH,
        num_heads=HEADS,
        d_ff=INSIDE,
        encoder_layers=depth,
        decoder_layers=0,
        dropout=0.0,
        norm=norm,
        tie="all",
        max_length=length,
    )


def fresh(config: ModelConfig, seed: int) -> EncoderDecoder:
    """An untrained model, its weights drawn by the rules of our own models, from a generator of its own."""
    model = EncoderDecoder(config)
    generator = torch.Generator().manual_seed(seed)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight, generator=generator)
            if module.bias is not None:
                nn.init.uniform_(module.bias, -(module.in_features**-0.5), module.in_features**-0.5, generator=generator)
    for module in model.modules():  # last, since the output matrix is this table
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=config.d_model**-0.5, generator=generator)
    return model


def measured(model: EncoderDecoder, ids: Int[Tensor, "1 token"]) -> Gradients:
    """The gradients of the mean cross-entropy of naming every token again, at every layer of the encoder."""
    positions = count_positions(ids, None)
    x = model.source(ids, positions)
    inputs = []
    for layer in model.encoder.layers:
        inputs.append(x)
        x = layer(x, None, positions)
    loss = nn.functional.cross_entropy(model.to_logits(model.encoder.norm(x))[0], ids[0])
    parameters = [list(layer.parameters()) for layer in model.encoder.layers]
    found = torch.autograd.grad(loss, [*inputs, *(parameter for layer in parameters for parameter in layer)])
    rest = iter(found[len(inputs) :])
    by_layer = [[next(rest) for _ in layer] for layer in parameters]
    return Gradients(
        inputs=_norms([[gradient] for gradient in found[: len(inputs)]]),
        parameters=_norms(by_layer),
        loss=float(loss.detach()),
        alike=alike(x[0].detach()),
    )


def alike(x: Float[Tensor, "token d_model"]) -> float:
    """The mean cosine between different positions; 1 for a single one, which has no other to differ from."""
    unit = nn.functional.normalize(x, dim=-1)
    count = len(unit)
    return float(((unit @ unit.mT).sum() - count) / (count * (count - 1))) if count > 1 else 1.0


def _norms(groups: Sequence[Sequence[Tensor]]) -> tuple[float, ...]:
    """The Euclidean norm of each group of tensors, taken as one long vector."""
    return tuple(float(torch.stack([tensor.norm() for tensor in group]).norm()) for group in groups)
