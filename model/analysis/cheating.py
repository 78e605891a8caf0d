"""What a decoder learns that may look ahead: a tiny one trained on the spot, with the causal mask and without.

The task: repeat what you read. A sequence is `HALF` random symbols, the same again, and the end. The first half cannot be
foretold, so that its loss cannot fall below log(`SYMBOLS`) for a decoder that does not see the answer; the second half can.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from model.attention_mask import causal
from model.config import ModelConfig, Norm
from model.embedding import InputEmbedding
from model.layers import EncoderLayer
from model.translator import Translator

SYMBOLS, HALF, BATCH, STEPS, EXAMINED = 16, 6, 32, 120, 256
END = SYMBOLS
WIDTH = 32  # d_model
CHANCE, BY_CHANCE = math.log(SYMBOLS), 1 / SYMBOLS


class Repeater(nn.Module):
    """Embedding, one layer, logits. A decoder layer without cross-attention is an encoder layer under the causal mask."""

    def __init__(self, generator: torch.Generator, norm: Norm = "pre") -> None:
        super().__init__()
        config = ModelConfig(
            source_vocab_size=SYMBOLS + 1,
            target_vocab_size=SYMBOLS + 1,
            d_model=WIDTH,
            num_heads=2,
            d_ff=64,
            dropout=0.0,
            norm=norm,
            positions="rotary",
        )
        self.embedding = InputEmbedding(config, SYMBOLS + 1)
        self.layer = EncoderLayer(config)
        self.to_logits = nn.Linear(config.d_model, SYMBOLS + 1)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                nn.init.xavier_uniform_(parameter, generator=generator)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(
        self, ids: Int[Tensor, "batch token"], mask: Bool[Tensor, "1 token token"] | None
    ) -> Float[Tensor, "batch token symbol"]:
        positions = torch.arange(ids.shape[1])[None]
        logits: Tensor = self.to_logits(self.layer(self.embedding(ids, positions), mask, positions))
        return logits


@dataclass(frozen=True)
class Learned:
    """What came of one training, in nats a token: the losses of both halves after each step, then on sequences never seen.

    `written` is the second half that the trained decoder wrote by itself after reading `given`, and `right` the share of
    symbols that it wrote rightly, over `EXAMINED` sequences; by chance 1 / `SYMBOLS` are right.
    """

    first_losses: tuple[float, ...]
    second_losses: tuple[float, ...]
    first: float
    second: float
    right: float
    given: tuple[int, ...]
    written: tuple[int, ...]


def learned(masked: bool, steps: int = STEPS, seed: int = 1) -> Learned:
    """Train a `Repeater` from random weights, with the causal mask or without any, and examine it."""
    generator = torch.Generator().manual_seed(seed)
    repeater = Repeater(generator)
    optimizer = torch.optim.Adam(repeater.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        loss = _losses(repeater, sequences(BATCH, generator), masked)
        optimizer.zero_grad()
        loss.mean().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(halves(loss.detach()))
    with torch.inference_mode():
        unseen = sequences(EXAMINED, generator)
        first, second = halves(_losses(repeater, unseen, masked))
        written = write(repeater, unseen[:, :HALF], masked)
    return Learned(
        first_losses=tuple(loss for loss, _ in losses),
        second_losses=tuple(loss for _, loss in losses),
        first=first,
        second=second,
        right=float((written == unseen[:, :HALF]).float().mean()),
        given=tuple(unseen[0, :HALF].tolist()),
        written=tuple(written[0].tolist()),
    )


def beside(atlas: Translator) -> tuple[Learned, Learned]:
    """The masked one and the one that may look ahead: the same two, whichever model is looked at."""
    del atlas
    return learned(masked=True), learned(masked=False)


def sequences(count: int, generator: torch.Generator) -> Int[Tensor, "sequence token"]:
    """Random symbols, the same again, the end."""
    half = torch.randint(SYMBOLS, (count, HALF), generator=generator)
    return torch.cat((half, half, torch.full((count, 1), END)), dim=1)


def write(repeater: Repeater, given: Int[Tensor, "sequence half"], masked: bool) -> Int[Tensor, "sequence half"]:
    """The likeliest symbol after what stands, again and again: nothing to look ahead at is there any more."""
    read = given
    for _ in range(HALF):
        chosen = repeater(read, _mask(read.shape[1], masked))[:, -1].argmax(dim=-1)
        read = torch.cat((read, chosen[:, None]), dim=1)
    return read[:, HALF:]


def halves(losses: Float[Tensor, " row"]) -> tuple[float, float]:
    """The mean loss of the rows that predict the rest of the first half, and of those that predict the second."""
    return float(losses[: HALF - 1].mean()), float(losses[HALF - 1 : 2 * HALF - 1].mean())


def _losses(repeater: Repeater, whole: Tensor, masked: bool) -> Float[Tensor, " row"]:
    read, wanted = whole[:, :-1], whole[:, 1:]
    logits = repeater(read, _mask(read.shape[1], masked))
    return functional.cross_entropy(logits.mT, wanted, reduction="none").mean(dim=0)


def _mask(length: int, masked: bool) -> Bool[Tensor, "1 token token"] | None:
    return causal(length)[None] if masked else None
