"""Layer normalisation of one token by hand, and against batch normalisation on a batch with padding."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.analysis.residual import Station
from model.config import ModelConfig
from model.layers import Residual
from model.trace import Trace, tracing
from model.transformer import EncoderDecoder
from model.translator import Atlas


@dataclass(frozen=True)
class ByHand:
    """LayerNorm of one token, every number on the way (Ba et al. 2016).

    `variance` is biased: the mean of the squared distances from the mean, divided by d_model and not by d_model - 1.
    `root` is sqrt(variance + epsilon); `standard` is (x - mean) / root; `output` is standard * gain + bias.
    """

    x: Float[Tensor, " d_model"]
    mean: float
    variance: float
    epsilon: float
    root: float
    standard: Float[Tensor, " d_model"]
    gain: Float[Tensor, " d_model"]
    bias: Float[Tensor, " d_model"]
    output: Float[Tensor, " d_model"]

    @property
    def standard_mean(self) -> float:
        """0, whatever came in."""
        return float(self.standard.mean())

    @property
    def standard_variance(self) -> float:
        """Just below 1: variance / (variance + epsilon)."""
        return float(self.standard.var(unbiased=False))


def by_hand(x: Float[Tensor, " d_model"], norm: nn.LayerNorm) -> ByHand:
    """The same result as `norm(x)`, step by step, in double precision."""
    x, gain, bias = x.double(), norm.weight.double(), norm.bias.double()
    mean = x.mean()
    variance = ((x - mean) ** 2).mean()
    root = (variance + norm.eps).sqrt()
    standard = (x - mean) / root
    return ByHand(x, float(mean), float(variance), norm.eps, float(root), standard, gain, bias, standard * gain + bias)


def norm_at(model: nn.Module, path: str) -> nn.LayerNorm:
    """The LayerNorm of the residual connection at this path, "encoder.layers.0.residual.1"."""
    residual = model.get_submodule(path)
    if not isinstance(residual, Residual):
        raise ValueError(f"{path} is no residual connection; a path looks like encoder.layers.0.residual.1")
    return residual.norm


def read_by_norm(config: ModelConfig) -> str:
    """What LayerNorm is given: "sum" in post-norm, "input" in pre-norm."""
    return "input" if config.norm == "pre" else "sum"


@torch.inference_mode()
def agreement(atlas: Atlas, trace: Trace, station: Station, token: int) -> float:
    """The largest difference between LayerNorm by hand and what the model recorded, over all features of one token."""
    given = trace[f"{station.path}.{read_by_norm(atlas.config)}"].tensor[0, token]
    recorded = trace[f"{station.path}.normed"].tensor[0, token]
    return float((by_hand(given, norm_at(atlas.model, station.path)).output - recorded).abs().max())


# ----- against batch normalisation


@dataclass(frozen=True)
class Change:
    """The largest difference, over all features of this sentence's own tokens, from what it was alone.

    `inputs` is how much the numbers that are normalised changed themselves, which is rounding at most.
    """

    inputs: float
    layer_norm: float
    batch_norm_training: float
    batch_norm_evaluation: float


@dataclass(frozen=True)
class Comparison:
    """LayerNorm and BatchNorm on the same numbers, when the batch changes and this sentence does not.

    `modes` is the largest difference of BatchNorm's output between training and evaluation mode, on this sentence alone.
    `tokens` counts those of this sentence, `padding` the padding added, `others` the sentences added.
    """

    with_padding: Change
    with_others: Change
    modes: float
    tokens: int
    padding: int
    others: int


@torch.inference_mode()
def compare(atlas: Atlas, trace: Trace, others: Sequence[str], path: str, padding: int = 6) -> Comparison:
    """What the LayerNorm at `path` is given, normalised by it and by BatchNorm with the same gain and bias.

    `path` is one of the encoder, or of the one stack of a language model.

    BatchNorm's statistics are over all positions of the batch, padding included, as `nn.BatchNorm1d` does it. Its running
    statistics, used in evaluation mode, are the average over the batches of each of `others` alone.
    """
    norm = norm_at(atlas.model, path)
    own = [token.id for token in trace.source or trace.target]
    rows = [[token.id for token in atlas.source_tokens(other)] for other in others]
    alone = _given(atlas, path, [own])
    padded = _given(atlas, path, [own], len(own) + padding)
    together = _given(atlas, path, [own, *rows])
    length = len(own)

    batch_norm = nn.BatchNorm1d(norm.weight.numel(), eps=norm.eps, momentum=None).to(alone.device)
    batch_norm.weight.copy_(norm.weight)
    batch_norm.bias.copy_(norm.bias)
    for row in rows:  # momentum None: a plain average of what each batch had
        batch_norm.train()(_flat(_given(atlas, path, [row])))

    def outputs(x: Tensor) -> dict[str, Tensor]:
        return {
            "inputs": x[0, :length],
            "layer_norm": norm(x)[0, :length],
            "batch_norm_training": in_training(norm, _flat(x)).view_as(x)[0, :length],
            "batch_norm_evaluation": batch_norm.eval()(_flat(x)).view_as(x)[0, :length],
        }

    before = outputs(alone)

    def change(x: Tensor) -> Change:
        return Change(**{name: float((value - before[name]).abs().max()) for name, value in outputs(x).items()})

    modes = float((before["batch_norm_training"] - before["batch_norm_evaluation"]).abs().max())
    return Comparison(change(padded), change(together), modes, length, padding, len(rows))


def in_training(norm: nn.LayerNorm, x: Float[Tensor, "positions d_model"]) -> Float[Tensor, "positions d_model"]:
    """BatchNorm in training mode with the gain, bias and epsilon of `norm`: statistics of each feature over all positions."""
    return nn.functional.batch_norm(x, None, None, norm.weight, norm.bias, training=True, eps=norm.eps)


def _given(atlas: Atlas, path: str, rows: Sequence[Sequence[int]], length: int = 0) -> Float[Tensor, "batch token d_model"]:
    """What the LayerNorm at `path` is given for this batch, its shorter sentences padded on the right."""
    longest = max(length, *(len(row) for row in rows))
    ids = torch.full((len(rows), longest), atlas.config.padding, device=atlas.device)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = torch.tensor(row, device=atlas.device)
    wanted = f"{path}.{read_by_norm(atlas.config)}"
    with tracing(only=frozenset({wanted})) as recording:
        model, mask = atlas.model, ids != atlas.config.padding
        if isinstance(model, EncoderDecoder):
            model.encode(ids, mask)
        else:
            model(ids, mask)
    return recording[wanted].tensor


def _flat(x: Tensor) -> Tensor:
    return x.flatten(0, 1)
