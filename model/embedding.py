"""From token ids to the vectors that enter the first layer."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from model.config import ModelConfig
from model.position import sinusoidal
from model.trace import Traced

TOKEN = "batch token d_model"


class InputEmbedding(Traced):
    """The row of each token, times sqrt(d_model), plus its position (Vaswani et al. 2017, 3.4 and 3.5).

    The factor stands here and not in the table, because the table may also be the output matrix, which takes none.
    """

    def __init__(self, config: ModelConfig, vocab_size: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocab_size, config.d_model)
        nn.init.normal_(self.table.weight, std=config.d_model**-0.5)
        self.scale = math.sqrt(config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.positions: Tensor | None
        table = sinusoidal(config.max_length, config.d_model) if config.positions == "sinusoidal" else None
        self.register_buffer("positions", table, persistent=False)

    def forward(
        self, ids: Int[Tensor, "batch token"], positions: Int[Tensor, "#batch token"]
    ) -> Float[Tensor, "batch token d_model"]:
        """`positions` count from 0 at the first token that is not padding."""
        embedding = self.table(ids) * self.scale
        self.record(TOKEN, embedding=embedding)
        if self.positions is None:
            summed = embedding
        else:
            position = functional.embedding(positions, self.positions)
            self.record(TOKEN, position=position.expand_as(embedding))
            summed = embedding + position
        output: Tensor = self.dropout(summed) if self.training else summed
        return output


def count_positions(ids: Int[Tensor, "batch token"], mask: Tensor | None, start: int = 0) -> Int[Tensor, "#batch token"]:
    """Positions of tokens from 0; with padding (mask False) on either side, from the first real token of each sentence."""
    if mask is None:
        return torch.arange(start, start + ids.shape[1], device=ids.device)[None]
    return (mask.cumsum(dim=-1) - 1).clamp(min=0)
