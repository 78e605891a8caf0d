"""Inside the feed-forward network: which units wake, what they are for, and what is left without the non-linearity."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.analysis.lens import word
from model.analysis.residual import sublayers
from model.config import ModelConfig
from model.layers import ACTIVATIONS, FeedForward
from model.tokenizer import START, Token, special
from model.trace import Trace, tracing
from model.transformer import Transformer
from model.translator import Atlas, Generation


def at(model: Transformer, stack: str, layer: int) -> FeedForward:
    """The feed-forward network of a layer of "encoder" or "decoder"."""
    found = model.get_submodule(f"{stack}.layers.{layer}.feed_forward")
    if not isinstance(found, FeedForward):
        raise ValueError(f"{stack}.layers.{layer} has no feed-forward network")
    return found


def given(trace: Trace, config: ModelConfig, stack: str, layer: int) -> Float[Tensor, "token d_model"]:
    """What the network of this layer reads: the stream in post-norm, the normed stream in pre-norm."""
    last = len(sublayers(trace, stack)) - 1
    return trace[f"{stack}.layers.{layer}.residual.{last}.{'normed' if config.norm == 'pre' else 'input'}"].tensor[0]


def hidden(trace: Trace, stack: str, layer: int) -> Float[Tensor, "token d_ff"]:
    """The activations of all units, after the non-linearity."""
    return trace[f"{stack}.layers.{layer}.feed_forward.hidden"].tensor[0]


def active(values: Float[Tensor, "*positions d_ff"]) -> Float[Tensor, "*positions"]:
    """The share of units above 0. (GELU lets a little of the negative ones through; they do not count here.)"""
    return (values > 0).double().mean(dim=-1)


def shares(trace: Trace, stack: str, layers: int) -> Float[Tensor, "layer token"]:
    """The share of active units in every layer, for every token."""
    return torch.stack([active(hidden(trace, stack, layer)) for layer in range(layers)])


def ranked(values: Float[Tensor, " d_ff"]) -> list[tuple[int, float]]:
    """Units with their activations, the strongest first."""
    order = values.sort(descending=True, stable=True)
    return list(zip(order.indices.tolist(), order.values.tolist(), strict=True))


# ----- the non-linearity


@dataclass(frozen=True)
class Curve:
    """An activation function: its values on a grid, and what it makes of the real pre-activations of one token."""

    name: str
    values: tuple[float, ...]
    kept: float  # mean of the outputs over the units of the token
    passed: float  # share of the units whose output is not 0


@torch.inference_mode()
def curves(pre_activation: Float[Tensor, " d_ff"], grid: Sequence[float]) -> tuple[Curve, ...]:
    """ReLU and GELU by the modules that the model uses."""
    x = torch.tensor(grid, dtype=torch.float64)
    found = []
    for name, make in ACTIVATIONS.items():
        function = make()
        real = function(pre_activation.double())
        found.append(Curve(name, tuple(function(x).tolist()), float(real.mean()), float((real != 0).double().mean())))
    return tuple(found)


@torch.inference_mode()
def pre_activation(network: FeedForward, x: Float[Tensor, "*positions d_model"]) -> Float[Tensor, "*positions d_ff"]:
    """x W_1 + b_1: what the non-linearity is given."""
    expanded: Tensor = network.expand(x)
    return expanded


@dataclass(frozen=True)
class UnitSum:
    """What one hidden unit is given, x · w + b, in double precision.

    `largest` holds the terms that weigh most, as (dimension, x_i, w_i); `rest` is the sum of the `others` that are left.
    """

    largest: tuple[tuple[int, float, float], ...]
    rest: float
    others: int
    bias: float
    total: float


@torch.inference_mode()
def unit_sum(network: FeedForward, x: Float[Tensor, " d_model"], unit: int, shown: int = 4) -> UnitSum:
    """The pre-activation of one unit taken apart: the terms with the largest amounts, the sum of all others, the bias."""
    weight, bias = network.expand.weight[unit].double(), network.expand.bias[unit].double()
    terms = x.double() * weight
    order = terms.abs().sort(descending=True, stable=True).indices[:shown].tolist()
    rest = terms.sum() - terms[order].sum()
    return UnitSum(
        largest=tuple((at, float(x[at]), float(weight[at])) for at in order),
        rest=float(rest),
        others=len(terms) - len(order),
        bias=float(bias),
        total=float(terms.sum() + bias),
    )


@dataclass(frozen=True)
class Collapse:
    """Without the non-linearity both layers are one: (x W_1 + b_1) W_2 + b_2 = x W + b, in double precision.

    `error` is the largest difference between both ways over the given positions, `linear` the length of what the two linear
    layers make of them on average, `real` that of what the network with its non-linearity makes; `parameters` are counted.
    """

    error: float
    linear: float
    real: float
    apart: float
    parameters: int
    parameters_as_one: int


@torch.inference_mode()
def collapse(network: FeedForward, x: Float[Tensor, "token d_model"]) -> Collapse:
    """The two linear layers of a network as one matrix, tried on real inputs. `apart`: mean cosine of linear and real output."""
    x = x.double()
    weight, bias = as_one(network)
    first, second = _double(network.expand), _double(network.contract)
    two = nn.functional.linear(nn.functional.linear(x, *first), *second)
    one = nn.functional.linear(x, weight, bias)
    real = nn.functional.linear(network.activation(nn.functional.linear(x, *first)), *second)
    return Collapse(
        error=float((two - one).abs().max()),
        linear=float(two.norm(dim=-1).mean()),
        real=float(real.norm(dim=-1).mean()),
        apart=float(nn.functional.cosine_similarity(two, real, dim=-1).mean()),
        parameters=sum(parameter.numel() for parameter in network.parameters()),
        parameters_as_one=weight.numel() + bias.numel(),
    )


def collapsed(atlas: Atlas, trace: Trace, stack: str, layer: int) -> Collapse:
    """`collapse` of the network of a layer, tried on what it read in this trace."""
    return collapse(at(atlas.model, stack, layer), given(trace, atlas.config, stack, layer))


def as_one(network: FeedForward) -> tuple[Float[Tensor, "d_model d_model"], Float[Tensor, " d_model"]]:
    """W = W_2 W_1 and b = W_2 b_1 + b_2, as `nn.Linear` keeps them (rows are outputs)."""
    (first, first_bias), (second, second_bias) = _double(network.expand), _double(network.contract)
    return second @ first, second @ first_bias + second_bias


def _double(layer: nn.Linear) -> tuple[Tensor, Tensor]:
    return layer.weight.double(), layer.bias.double()


# ----- the memory view


@dataclass(frozen=True)
class Corpus:
    """The activations of every layer of a stack over several sentences.

    `hidden[layer][i]` belongs to the token `tokens[i]`, at position `positions[i]` of the sentence `texts[sentences[i]]`.
    """

    texts: tuple[str, ...]
    tokens: tuple[str, ...]
    sentences: tuple[int, ...]
    positions: tuple[int, ...]
    hidden: tuple[Float[Tensor, "tokens d_ff"], ...]


@torch.inference_mode()
def corpora(atlas: Atlas, texts: tuple[str, ...]) -> dict[str, Corpus]:
    """Run the model over sentences and its own greedy translations of them: "encoder" over the former, "decoder" the latter.

    A language model has "decoder" alone, over prompts with their continuations.
    """
    layers = {"encoder": atlas.config.encoder_layers, "decoder": atlas.config.decoder_layers}
    paths = {stack: [f"{stack}.layers.{layer}.feed_forward.hidden" for layer in range(count)] for stack, count in layers.items()}
    parts: dict[str, list[Tensor]] = {path: [] for stack in paths.values() for path in stack}
    read: dict[str, list[tuple[str, tuple[Token, ...]]]] = {"encoder": [], "decoder": []}
    for text in texts:
        written = atlas.write(text)
        before = written.source if isinstance(written, Generation) else (special(START),)
        target = (*before, *(token for token in written.produced if not token.special))
        with tracing(only=frozenset(parts)) as recording:
            atlas.forced(
                *(torch.tensor([[token.id for token in side]], device=atlas.device) for side in (written.source, target))
            )
        for path, tensors in parts.items():
            tensors.append(recording[path].tensor[0])
        read["encoder"].append((text, written.source))
        read["decoder"].append((atlas.said(text, [token.id for token in written.produced]), target))
    return {
        stack: _corpus(read[stack], [torch.cat(parts[path]) for path in paths[stack]]) for stack, count in layers.items() if count
    }


def _corpus(read: Sequence[tuple[str, Sequence[Token]]], layers: Sequence[Tensor]) -> Corpus:
    rows = [(token.label, number, at) for number, (_, tokens) in enumerate(read) for at, token in enumerate(tokens)]
    labels, sentences, positions = zip(*rows, strict=True)
    return Corpus(tuple(text for text, _ in read), labels, sentences, positions, tuple(layers))


@dataclass(frozen=True)
class Unit:
    """One hidden unit as a memory (Geva et al. 2021): what wakes it, and what it then adds.

    `woken` are the tokens that activate it most, above 0: place in the corpus, activation. `promotes` are the entries of
    the target vocabulary whose logits its output vector raises most, with how much one unit of activation adds (for the
    decoder; empty otherwise). `awake` is the share of the corpus's tokens above 0.
    """

    number: int
    woken: tuple[tuple[int, float], ...]
    promotes: tuple[tuple[str, float], ...]
    awake: float


@torch.inference_mode()
def unit(atlas: Atlas, seen: Corpus, stack: str, layer: int, number: int, top: int = 8) -> Unit:
    """The tokens that wake a unit, and the words that its column of W_2 promotes through the output matrix.

    What a unit adds still passes a normalisation, and later layers, before it is read: this is its direct share alone.
    """
    values = seen.hidden[layer][:, number]
    strongest = values.topk(min(top, len(values)))
    promotes: tuple[tuple[str, float], ...] = ()
    if stack == "decoder":
        raised = promoted(atlas.model, layer, number)
        best = raised.topk(min(top, len(raised)))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        promotes = tuple((word(atlas, id_), value) for id_, value in pairs)
    found = zip(strongest.indices.tolist(), strongest.values.tolist(), strict=True)
    woken = tuple((place, value) for place, value in found if value > 0)
    return Unit(number, woken, promotes, float((values > 0).double().mean()))


def promoted(model: Transformer, layer: int, number: int) -> Float[Tensor, " vocab"]:
    """What one unit of activation adds to every logit if nothing stood in between: the column of W_2 times the output matrix."""
    raised: Tensor = model.to_logits(at(model, "decoder", layer).contract.weight[:, number])
    return raised


def any_unit(d_ff: int, seed: int, other_than: int) -> int:
    """A unit chosen by lot, the same for the same seed, and never `other_than`."""
    drawn = int(torch.randint(d_ff - 1, (1,), generator=torch.Generator().manual_seed(seed))) if d_ff > 1 else 0
    return drawn + (drawn >= other_than) if d_ff > 1 else 0
