"""A model whose queries and keys are turned otherwise, or not at all, or whose values are turned too; and what that costs.

The weights are shared with the model as it was trained; it is not trained again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.analysis.forced import repeated
from model.analysis.rotary import SHIFT, Scaling, Turn, halves_order, mixed, turn
from model.analysis.what_if import sharing_weights, without_positions
from model.attention import MultiHeadAttention
from model.trace import Trace
from model.translator import Translator


class TurnedOtherwise(MultiHeadAttention):
    """Attention that turns queries and keys by a function of its own, `turn`."""

    turn: Turn

    def rotated(self, x: Tensor, positions: Tensor | None) -> Tensor:
        if positions is None:
            raise ValueError(f"{self.path or 'this attention'} turns queries and keys by their positions; give positions")
        return self.turn(x, positions[:, None])


class ValuesTurnedToo(MultiHeadAttention):
    """Attention that turns the values as well: what is read then depends on where it stands, not on the distance."""

    def keys_and_values(self, memory: Tensor, positions: Tensor | None) -> tuple[Tensor, Tensor]:
        key, value = super().keys_and_values(memory, positions)
        return key, self.rotated(value, positions) if self.rotary else value


def turned_by(atlas: Translator, way: Turn) -> Translator:
    """The model with every rotary attention turned in another way."""
    altered = sharing_weights(atlas)
    for attention in rotary_attentions(altered):
        attention.__class__ = TurnedOtherwise
        attention.turn = way  # type: ignore[assignment]
    return altered


def other_pairing(atlas: Translator) -> Translator:
    """The same weights under pairing "half"."""
    return turned_by(atlas, turn(pairing="half"))


def permuted(atlas: Translator) -> Translator:
    """Pairing "half", and the rows of W_Q and W_K of every head put into the order that it needs: the same model again."""
    altered = other_pairing(atlas)
    order = halves_order(atlas.config.head_dim)
    for attention in rotary_attentions(altered):
        for name in ("to_query", "to_key"):
            setattr(attention, name, _reordered(getattr(attention, name), atlas.config.num_heads, order))
    return altered


def mixed_up(atlas: Translator) -> Translator:
    """The angles of pairing "half" with the turn of pairing "adjacent"."""
    return turned_by(atlas, lambda x, positions: mixed(x, positions))


def values_too(atlas: Translator) -> Translator:
    """Values turned like keys."""
    altered = sharing_weights(atlas)
    for attention in rotary_attentions(altered):
        attention.__class__ = ValuesTurnedToo
    return altered


def nowhere(atlas: Translator, sides: Iterable[str] = ("source", "target")) -> Translator:
    """No positions on these sides, whichever way the model has them: nothing is added and nothing is turned."""
    sides = tuple(sides)
    altered = without_positions(atlas, sides)
    stacks = {"source": altered.model.encoder, "target": altered.model.decoder}
    for attention in (module for side in sides for module in stacks[side].modules() if isinstance(module, MultiHeadAttention)):
        attention.rotary = False
    return altered


def rotary_attentions(atlas: Translator) -> Iterator[MultiHeadAttention]:
    """Every attention of the model that turns its queries and keys."""
    return (module for module in atlas.model.modules() if isinstance(module, MultiHeadAttention) and module.rotary)


VARIANTS: Mapping[str, Callable[[Translator], Translator]] = {
    "right": lambda atlas: atlas,
    "half": other_pairing,
    "permuted": permuted,
    "mixed": mixed_up,
    "values": values_too,
    "nowhere": nowhere,
    "interpolated": lambda atlas: turned_by(atlas, turn(scaling="interpolated", factor=2)),
    "ntk": lambda atlas: turned_by(atlas, turn(scaling="ntk", factor=2)),
}


@dataclass(frozen=True)
class Measured:
    """A variant on one pair of sentences.

    `loss` in nats a token, of the same target; `written`: what it writes greedily; `logits`: the largest difference of a logit
    from the model as it was trained; `moved`: the largest change of the encoder's output when the whole sentence stands `SHIFT`
    positions further on.
    """

    loss: float
    written: str
    logits: float
    moved: float


def measure(atlas: Translator, trace: Trace, variant: str) -> Measured:
    """One of `VARIANTS` on the pair of a trace."""
    if variant not in VARIANTS:
        raise ValueError(f"variant={variant!r} is not known; choose one of {', '.join(VARIANTS)}")
    altered = VARIANTS[variant](atlas)
    forced = repeated(altered, trace, only=frozenset({"logits"}))
    return Measured(
        loss=-sum(forced.log_probabilities) / len(forced.log_probabilities),
        written=altered.translate(trace.source_text).text,
        logits=float((forced["logits"].tensor - trace["logits"].tensor).abs().max()),
        moved=moved(altered, trace),
    )


def moved(atlas: Translator, trace: Trace, start: int = SHIFT) -> float:
    """The largest change of the encoder's output when positions count from `start` instead of 0."""
    here, there = (encoded_from(atlas, trace, first) for first in (0, start))
    return float((there - here).abs().max())


def encoded_from(atlas: Translator, trace: Trace, start: int) -> Tensor:
    """The encoder's output, (batch, token, d_model), for the source of a trace whose first token stands at `start`."""
    ids = torch.tensor([[token.id for token in trace.source]], device=atlas.device)
    positions = torch.arange(start, start + ids.shape[1], device=atlas.device)[None]
    with torch.inference_mode():
        output: Tensor = atlas.model.encoder(atlas.model.source(ids, positions), None, positions)
    return output


def loss_in(atlas: Translator, trace: Trace, base: float, scaling: Scaling, factor: float) -> float:
    """The loss of the same target, in nats a token, with another base or scaling of positions."""
    altered = turned_by(atlas, turn(base, scaling, factor))
    log_probabilities = repeated(altered, trace, only=frozenset()).log_probabilities
    return -sum(log_probabilities) / len(log_probabilities)


def maps_without(atlas: Translator, trace: Trace) -> tuple[Tensor, ...]:
    """Weights of encoder self-attention, (head, query, key) for each layer, with all positions taken away."""
    paths = [f"encoder.layers.{layer}.self_attention.weights" for layer in range(atlas.config.encoder_layers)]
    without = repeated(nowhere(atlas), trace, only=frozenset(paths))
    return tuple(without[path].tensor[0] for path in paths)


def _reordered(linear: nn.Linear, heads: int, order: Tensor) -> nn.Linear:
    """The same projection with the channels of every head in another order."""

    def rows(values: Tensor) -> nn.Parameter:
        return nn.Parameter(values.view(heads, -1, *values.shape[1:])[:, order].flatten(0, 1), requires_grad=False)

    made = nn.Linear(linear.in_features, linear.out_features, bias=False, device="meta")
    made.weight = rows(linear.weight.detach())
    if linear.bias is not None:
        made.bias = rows(linear.bias.detach())
    return made
