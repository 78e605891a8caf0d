"""What schedules, and a shift left out, do to a training: a tiny decoder taught to repeat what it reads, on the spot.

The task is that of `cheating`: six random symbols, the same again, the end. The decoder has one layer, with the norm after each
sum as in the paper, and always its causal mask.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from model.analysis.cheating import BATCH, EXAMINED, HALF, SYMBOLS, halves, sequences
from model.analysis.schedules import Setting, by_epoch, without_warmup
from model.attention_mask import causal
from model.config import ModelConfig
from model.embedding import InputEmbedding
from model.layers import EncoderLayer
from model.training.schedule import constant, cosine
from model.translator import Atlas

STEPS, SEED = 160, 1
SETTING = Setting(d_model=32, warmup=40)
UPDATES = 40  # in an epoch of this training
RATES: dict[str, Callable[[int], float]] = {
    "noam": SETTING.rate,
    "constant": lambda step: constant(step, SETTING.peak, SETTING.warmup),
    "cosine": lambda step: cosine(step, SETTING.peak, SETTING.warmup, STEPS),
    "by_epoch": lambda step: by_epoch(step, SETTING, UPDATES),
    "without_warmup": lambda step: without_warmup(step, SETTING),
}


class Learner(nn.Module):
    """Embedding, one layer, logits. A decoder layer without cross-attention is an encoder layer under the causal mask."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        size = SYMBOLS + 1
        config = ModelConfig(
            source_vocab_size=size, target_vocab_size=size, d_model=SETTING.d_model, num_heads=2, d_ff=64, dropout=0.0,
            positions="rotary",
        )  # fmt: skip
        self.embedding = InputEmbedding(config, size)
        self.layer = EncoderLayer(config)
        self.to_logits = nn.Linear(config.d_model, size)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                nn.init.xavier_uniform_(parameter, generator=generator)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, ids: Int[Tensor, "batch token"]) -> Float[Tensor, "batch token symbol"]:
        positions = torch.arange(ids.shape[1])[None]
        logits: Tensor = self.to_logits(self.layer(self.embedding(ids, positions), causal(ids.shape[1])[None], positions))
        return logits


@dataclass(frozen=True)
class Trial:
    """One training: the rate and the loss of every step, in nats a row; then, on sequences never seen, of those rows that can
    be foretold, the `loss`, and `right`, the share of symbols that the decoder writes rightly by itself.
    """

    rates: tuple[float, ...]
    losses: tuple[float, ...]
    loss: float
    right: float
    given: tuple[int, ...]
    written: tuple[int, ...]


def trained(rate: Callable[[int], float], *, shift: int = 1, steps: int = STEPS, seed: int = SEED) -> Trial:
    """Train a `Learner` at these rates, with the paper's Adam.

    With `shift` 1 row r reads symbol r and is to foretell symbol r + 1; with 0, the mistake, it is asked for what it reads.
    """
    generator = torch.Generator().manual_seed(seed)
    learner = Learner(generator)
    optimizer = torch.optim.Adam(learner.parameters(), betas=(0.9, 0.98), eps=1e-9)
    rates, losses = [], []
    for step in range(1, steps + 1):
        rates.append(rate(step))
        for group in optimizer.param_groups:
            group["lr"] = rates[-1]
        loss = _losses(learner, sequences(BATCH, generator), shift).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
    with torch.inference_mode():
        unseen = sequences(EXAMINED, generator)
        _, foretold = halves(_losses(learner, unseen, shift))
        written = write(learner, unseen[:, :HALF])
    return Trial(
        rates=tuple(rates),
        losses=tuple(losses),
        loss=foretold,
        right=float((written == unseen[:, :HALF]).float().mean()),
        given=tuple(unseen[0, :HALF].tolist()),
        written=tuple(written[0].tolist()),
    )


def schedules(atlas: Atlas) -> dict[str, Trial]:
    """The same training at each of `RATES`, whichever model is looked at."""
    del atlas
    return {name: trained(rate) for name, rate in RATES.items()}


def shifts(atlas: Atlas) -> tuple[Trial, Trial]:
    """Shifted by one as it should be, and not shifted, whichever model is looked at."""
    del atlas
    return trained(RATES["noam"]), trained(RATES["noam"], shift=0)


def write(learner: Learner, given: Int[Tensor, "sequence half"]) -> Int[Tensor, "sequence half"]:
    """The likeliest symbol after what stands, again and again."""
    read = given
    for _ in range(HALF):
        read = torch.cat((read, learner(read)[:, -1:].argmax(dim=-1)), dim=1)
    return read[:, HALF:]


def _losses(learner: Learner, whole: Tensor, shift: int) -> Tensor:
    read = whole[:, :-1]
    wanted = whole[:, shift : shift + read.shape[1]]
    logits = learner(read)
    return functional.cross_entropy(logits.mT, wanted, reduction="none").mean(dim=0)
