"""How well a model has learned a task whose answers and alignment are known: loss, exact match, alignment of every head."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.alignment.extract import ROWS, Choice
from model.decoding import greedy
from model.tokenizer import END, PADDING
from model.trace import tracing
from model.training.data import Example, collate, pad
from model.training.loss import summed_cross_entropy
from model.transformer import EncoderDecoder


@dataclass(frozen=True)
class Measures:
    """What was found on held-out pairs.

    `loss` is the unsmoothed cross-entropy per target token in nats; `exact` the share of pairs whose greedy output is the
    target, token for token; `alignment` the share of linked target tokens whose row has its largest weight on a linked source
    token, for every layer, head and row (those of `ROWS`: produced, read).
    """

    loss: float
    exact: float
    alignment: Float[Tensor, "layer head row"]

    @property
    def best(self) -> Choice:
        """The layer, head and row that align best, the first of equals."""
        return best(self.alignment.tolist())

    def aligned(self, choice: Choice) -> float:
        """The accuracy of one layer, head and row."""
        assert choice.head is not None
        return float(self.alignment[choice.layer, choice.head, ROWS.index(choice.row)])


def best(alignment: Sequence[Sequence[Sequence[float]]]) -> Choice:
    """The layer, head and row of the largest accuracy, the first of equals."""
    places = [
        (accuracy, Choice(layer, head, ROWS[row]))
        for layer, heads in enumerate(alignment)
        for head, rows in enumerate(heads)
        for row, accuracy in enumerate(rows)
    ]
    return max(places, key=lambda place: place[0])[1]


def measure(model: EncoderDecoder, examples: Sequence[Example]) -> Measures:
    """All three on the same pairs; losses and weights are those of one forced pass over the true target."""
    loss, alignment = forced(model, examples)
    return Measures(loss, exact_match(model, examples), alignment)


@torch.inference_mode()
def forced(model: EncoderDecoder, examples: Sequence[Example]) -> tuple[float, Float[Tensor, "layer head row"]]:
    """Loss per target token, and how well each head aligns, in forced passes over `examples`, which carry links."""
    model.eval()
    paths = tuple(f"decoder.layers.{layer}.cross_attention.weights" for layer in range(model.config.decoder_layers))
    total, tokens, right, linked = 0.0, 0, torch.zeros(()), 0
    for part in _parts(examples):
        batch = collate(part, guided=True)
        with tracing(only=frozenset(paths)) as recording:
            logits = batch.logits(model)
        total += float(summed_cross_entropy(logits, batch.produced, 0.0, PADDING))
        tokens += int((batch.produced != PADDING).sum())
        weights = torch.stack([recording[path].tensor for path in paths])
        counts = [hits(weights, batch.links_of(row)) for row in ROWS]
        right = right + torch.stack(counts, dim=-1)
        linked += int(batch.links_of("produced").any(dim=-1).sum())
    return total / tokens, right / max(1, linked)


def hits(
    weights: Float[Tensor, "layer batch head query key"], links: Bool[Tensor, "batch query key"]
) -> Int[Tensor, "layer head"]:
    """In how many rows that have links the largest weight lies on one of them."""
    largest = weights.argmax(dim=-1, keepdim=True)
    found = links[None, :, None].expand_as(weights).gather(-1, largest)[..., 0]
    return found.sum(dim=(1, 3))


def exact_match(model: EncoderDecoder, examples: Sequence[Example]) -> float:
    """The share of examples whose greedy output is the target and then the end."""
    model.eval()
    found = 0
    for part in _parts(examples):
        source = pad([(*one.source, END) for one in part if one.source is not None])
        limit = max(len(one.target) for one in part) + 2  # what is longer is wrong already
        for one, hypothesis in zip(part, greedy(model, source, source != PADDING, limit), strict=True):
            found += hypothesis.ids == (*one.target, END)
    return found / len(examples)


def loss_by_length(model: EncoderDecoder, examples: Sequence[Example]) -> dict[int, float]:
    """Loss per target token, by the number of source tokens without the end token."""
    lengths: dict[int, list[Example]] = {}
    for one in examples:
        lengths.setdefault(len(one.source or ()), []).append(one)
    return {length: forced(model, lengths[length])[0] for length in sorted(lengths)}


def _parts(examples: Sequence[Example], size: int = 100) -> list[list[Example]]:
    """Of similar length together."""
    ordered = sorted(examples, key=lambda one: (len(one.target), len(one.source or ())))
    return [ordered[at : at + size] for at in range(0, len(ordered), size)]
