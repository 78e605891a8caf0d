"""The loss of rows of a trace against smoothed targets: what is asked for, what is predicted, and the least loss there can be."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.config import END, PADDING
from model.tokenizer import Token
from model.trace import Trace
from model.training.loss import Convention, smoothed_targets, summed_cross_entropy
from model.translator import Atlas

CONVENTIONS: tuple[Convention, ...] = ("uniform", "others", "without_padding")
BEST = 20
CLASSES, ALMOST_NOTHING = 5, 1e-9  # of the published curve of over-confidence
MOST_CERTAIN = 99
PUBLISHED = (1, 2, 5, 10, 20, 27, 50, 99)


def log_probabilities(trace: Trace) -> Float[Tensor, "row vocab"]:
    """The natural logarithms of the model's probabilities, a row for each token that is to be produced, in float64."""
    return trace["logits"].tensor[0].double().log_softmax(dim=-1)


def cross_entropy(target: Float[Tensor, "*rows vocab"], logarithms: Float[Tensor, "*rows vocab"]) -> Float[Tensor, "*rows"]:
    """- sum of target x log p, in nats; a class that is not asked for costs nothing, however unlikely."""
    return -torch.where(target > 0, target * logarithms, 0.0).sum(dim=-1)


def entropy(distribution: Float[Tensor, "*rows vocab"]) -> Float[Tensor, "*rows"]:
    """- sum of p log p, in nats, with 0 log 0 = 0: of a target it is the floor of the loss."""
    found: Tensor = -torch.special.xlogy(distribution, distribution).sum(dim=-1)
    return found


def targets(ids: Tensor, vocab_size: int, smoothing: float, convention: Convention) -> Float[Tensor, "*rows vocab"]:
    """`smoothed_targets` in float64."""
    return smoothed_targets(ids, vocab_size, smoothing, convention, padding=PADDING).double()


def floor(vocab_size: int, smoothing: float, convention: Convention = "uniform") -> float:
    """The least loss that any prediction can have: the entropy of the target, the same whichever the right class."""
    return float(entropy(targets(torch.tensor(PADDING + 1), vocab_size, smoothing, convention)))


@dataclass(frozen=True)
class Shares:
    """What a target gives each class: the `right` one, another `word`, the `end` token and `padding`."""

    right: float
    word: float
    end: float
    padding: float


def shares(size: int, smoothing: float, convention: Convention) -> Shares:
    """The target of a row whose right class is a word, in a vocabulary of this size; both words come after the special tokens."""
    if size <= END + 2:
        raise ValueError(f"size={size} leaves no two words after padding, start and end; give {END + 3} or more")
    target = targets(torch.tensor(size - 1), size, smoothing, convention)
    return Shares(*(float(target[id_]) for id_ in (size - 1, size - 2, END, PADDING)))


@dataclass(frozen=True)
class Losses:
    """The losses of every row of a trace, in nats, and their means.

    `plain` is - log of the probability of the right token; `smoothed` the cross-entropy against the smoothed target, never
    below `floor`. `perplexity` is exp of the mean plain loss; `wrong_perplexity`, which nobody should quote, of the smoothed.
    `trained` is the mean smoothed loss by the function that training calls, which knows the convention "uniform" alone.
    """

    plain: tuple[float, ...]
    smoothed: tuple[float, ...]
    floor: float
    mean_plain: float
    mean_smoothed: float
    perplexity: float
    wrong_perplexity: float
    trained: float | None


def losses(atlas: Atlas, trace: Trace, smoothing: float, convention: Convention) -> Losses:
    """All rows of a trace against their targets."""
    logarithms, ids = log_probabilities(trace), _ids(trace.produced, trace)
    asked = targets(ids, logarithms.shape[-1], smoothing, convention)
    plain = -logarithms.gather(1, ids[:, None])[:, 0]
    smoothed = cross_entropy(asked, logarithms)
    trained = None
    if convention == "uniform":
        logits = trace["logits"].tensor.double()
        trained = float(summed_cross_entropy(logits, ids[None], smoothing, atlas.config.padding)) / len(ids)
    return Losses(
        plain=tuple(plain.tolist()),
        smoothed=tuple(smoothed.tolist()),
        floor=float(entropy(asked[0])),
        mean_plain=float(plain.mean()),
        mean_smoothed=float(smoothed.mean()),
        perplexity=math.exp(plain.mean()),
        wrong_perplexity=math.exp(smoothed.mean()),
        trained=trained,
    )


@dataclass(frozen=True)
class Row:
    """One row of the output: its classes that are shown, and what the others come to.

    `ids` are the likeliest classes, the likeliest first, and the right one after them where it is not among them (`rank` is
    its place among all, from 1). `target` and `predicted` are the shares of these, `rest_target` and `rest_predicted` those of
    the other `others` classes together. `plain`, `smoothed` and `floor` are losses in nats; `from_right` and `from_others` add
    up to `smoothed`: what the right class and all others contribute.
    """

    ids: tuple[int, ...]
    right: int
    rank: int
    target: tuple[float, ...]
    predicted: tuple[float, ...]
    rest_target: float
    rest_predicted: float
    others: int
    plain: float
    smoothed: float
    floor: float
    from_right: float
    from_others: float

    @property
    def above(self) -> float:
        """How far the loss is above its floor: the Kullback-Leibler divergence of the prediction from the target."""
        return self.smoothed - self.floor


def row(atlas: Atlas, trace: Trace, at: int, smoothing: float, convention: Convention, best: int = BEST) -> Row:
    """The row `at` of a trace beside its smoothed target."""
    del atlas
    logarithms, right = log_probabilities(trace)[at], trace.produced[at].id
    asked = targets(torch.tensor(right, device=logarithms.device), len(logarithms), smoothing, convention)
    predicted = logarithms.exp()
    ids = predicted.topk(min(best, len(predicted))).indices.tolist()
    ids += [] if right in ids else [right]
    shown = torch.zeros_like(predicted, dtype=torch.bool)
    shown[ids] = True
    of_right = -float(asked[right] * logarithms[right])
    smoothed = float(cross_entropy(asked, logarithms))
    return Row(
        ids=tuple(ids),
        right=right,
        rank=1 + int((predicted > predicted[right]).sum()),
        target=tuple(asked[ids].tolist()),
        predicted=tuple(predicted[ids].tolist()),
        rest_target=float(asked[~shown].sum()),
        rest_predicted=float(predicted[~shown].sum()),
        others=int((~shown).sum()),
        plain=-float(logarithms[right]),
        smoothed=smoothed,
        floor=float(entropy(asked)),
        from_right=of_right,
        from_others=smoothed - of_right,
    )


def overconfidence(certain: Sequence[float], smoothing: float = 0.1) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """For each x the probability of the right class, and how far the prediction is from the target (Kullback-Leibler, in nats).

    Five classes, padding the first; x / (x + 3) goes to the right one, 1 / (x + 3) to each of three others, and 1e-9 of it to
    padding, which the target ("without_padding") leaves out (after Rush 2018, The Annotated Transformer).
    """
    if not all(x > 0 for x in certain):
        raise ValueError(f"x={min(certain)} is no share of a prediction; give more than 0")
    target, x = targets(torch.tensor(1), CLASSES, smoothing, "without_padding"), torch.tensor(certain, dtype=torch.float64)
    right = x / (x + 3) - ALMOST_NOTHING
    guess = torch.stack((torch.full_like(x, ALMOST_NOTHING), right, *[1 / (x + 3)] * 3), dim=-1)
    divergence = cross_entropy(target.expand_as(guess), guess.log()) - entropy(target)
    return tuple(right.tolist()), tuple(divergence.clamp(min=0).tolist())  # below 0 by the rounding of the target alone


@dataclass(frozen=True)
class Padded:
    """The mean loss of a sentence in a batch with a longer one, in nats a row: its `rows` alone, and with `padding` more rows.

    `left_out`: positions whose target is padding have no say, as in training. `counted`: they have, as if padding were a word.
    `diluted`: their losses are set to 0 but the sum is divided by all positions.
    """

    rows: int
    padding: int
    left_out: float
    counted: float
    diluted: float


@torch.inference_mode()
def padded(atlas: Atlas, trace: Trace, padding: int) -> Padded:
    """One more forced pass over the same sentence, with as many padding tokens behind the target as asked for."""
    config, rows = atlas.config, len(trace.produced)
    read = _ids(trace.target, trace).tolist() + [config.padding] * padding
    wanted = _ids(trace.produced, trace).tolist() + [config.padding] * padding
    target, ids = (torch.tensor([found], device=atlas.device) for found in (read, wanted))
    source = torch.tensor([[token.id for token in trace.source]], device=atlas.device)
    logits = atlas.forced(source, target, None, target != config.padding).double()
    left_out = float(summed_cross_entropy(logits, ids, 0.0, config.padding))
    everything = float(summed_cross_entropy(logits, ids, 0.0, -100))
    return Padded(rows, padding, left_out / rows, everything / (rows + padding), left_out / (rows + padding))


def _ids(tokens: tuple[Token, ...], trace: Trace) -> Tensor:
    return torch.tensor([token.id for token in tokens], device=trace["logits"].tensor.device)
