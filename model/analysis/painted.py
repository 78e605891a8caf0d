"""A model under a mask that somebody painted: new weights, what becomes of the translation, what would be written instead."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis import masking
from model.analysis.forced import KEPT_FOR_LEAK, freely, leak, repeated
from model.analysis.steps import path_of
from model.analysis.what_if import masked_with
from model.decoding import tokens_allowed
from model.tokenizer import Token
from model.trace import Edit, Trace, tracing
from model.translator import Atlas, Opened, Reader

ATTENTIONS = ("decoder.self_attention", "encoder.self_attention")


@dataclass(frozen=True)
class Maps:
    """The weights of the chosen head under the model's own mask, `before`, and under a painted one, `after`."""

    mask: Bool[Tensor, "query key"]
    before: Float[Tensor, "query key"]
    after: Float[Tensor, "query key"]


@dataclass(frozen=True)
class Read(Maps):
    """An encoder alone under a painted mask. `moved`: how far each vector that leaves it moves, as a share of its length."""

    moved: tuple[float, ...]

    @property
    def mean(self) -> float:
        """How far they move in the mean."""
        return sum(self.moved) / len(self.moved)

    @property
    def farthest(self) -> int:
        """The place of the one that moves most."""
        return max(range(len(self.moved)), key=self.moved.__getitem__)


@dataclass(frozen=True)
class Painted(Maps):
    """One attention under a painted mask, beside itself under the model's own.

    `log_probabilities` are those of the trace's produced tokens under the painted mask, `likeliest` the token that each row now
    finds likeliest and `likeliest_before` the one that it found before.
    The losses are nats a token, the last `</s>` included. `ahead` is the last token of the target that an earlier row of the
    decoder may read (None where nobody sees ahead), and `future` the largest change of a logit of a row before it when it
    becomes the end token; without one, when the last token does.
    """

    log_probabilities: tuple[float, ...]
    likeliest_before: tuple[Token, ...]
    likeliest: tuple[Token, ...]
    loss_before: float
    loss: float
    ahead: int | None
    future: float

    @property
    def changed(self) -> int:
        """How many rows would now write another token."""
        return sum(one.id != other.id for one, other in zip(self.likeliest_before, self.likeliest, strict=True))


@dataclass(frozen=True)
class Damage:
    """What one way to mask every layer of the decoder's self-attention does: the loss of the trace's target in nats a token (NaN
    where a row was 0/0), and how much a later token changes an earlier row's logits.
    """

    loss: float
    future: float


@dataclass(frozen=True)
class Written:
    """A translation that an edited model wrote by itself, and whether it came to an end before the limit."""

    text: str
    ended: bool


def own_mask(attention: str, length: int) -> Bool[Tensor, "query key"]:
    """The model's own mask of a self-attention, without padding: causal in the decoder, everything in the encoder."""
    return masking.preset(own_name(attention), length)


def own_name(attention: str) -> str:
    """What the model's own mask of a self-attention is called among `masking.PRESETS`."""
    return "causal" if attention.startswith("decoder") else "none"


def loss(log_probabilities: Sequence[float]) -> float:
    """Cross-entropy in nats a token."""
    return -sum(log_probabilities) / len(log_probabilities)


def painted(atlas: Atlas, trace: Trace, attention: str, layer: int, head: int, mask: str, scope: str = "all") -> Painted:
    """The forced pass under a mask (see `masking.chosen`) of a self-attention: in "all" layers, this "layer", or this "head"."""
    path = f"{path_of(attention, layer)}.weights"
    length = trace[path].size("key")
    edits = edited(atlas, attention, layer, head, mask, scope, length)
    altered = repeated(atlas, trace, edits, frozenset((path, *KEPT_FOR_LEAK)))
    cells = masking.chosen(mask, own_mask(attention, length))
    ahead = masking.furthest_ahead(cells) if attention.startswith("decoder") else None
    return Painted(
        mask=cells,
        before=trace[path].tensor[0, head],
        after=altered[path].tensor[0, head],
        log_probabilities=altered.log_probabilities,
        likeliest_before=_likeliest(atlas, trace),
        likeliest=_likeliest(atlas, altered),
        loss_before=loss(trace.log_probabilities),
        loss=loss(altered.log_probabilities),
        ahead=ahead,
        future=leak(atlas, altered, edits) if ahead is None else _change(atlas, altered, edits, ahead),
    )


def written(atlas: Atlas, trace: Trace, attention: str, layer: int, head: int, mask: str, scope: str = "all") -> Written:
    """What the model writes by itself under this mask. Each step computes all rows anew: earlier rows may see later ones."""
    return _freely(atlas, trace, edited(atlas, attention, layer, head, mask, scope, _longest(atlas, trace)))


def read(atlas: Reader, trace: Trace, attention: str, layer: int, head: int, mask: str, scope: str = "all") -> Read:
    """The same of an encoder alone, which writes nothing that could be lost."""
    path = f"{path_of(attention, layer)}.weights"
    length = trace[path].size("key")
    altered = atlas.trace(trace.source_text, edits=edited(atlas, attention, layer, head, mask, scope, length))
    before, after = (found["encoder.output"].tensor[0].double() for found in (trace, altered))
    moved = (after - before).norm(dim=-1) / before.norm(dim=-1)
    return Read(
        mask=masking.chosen(mask, own_mask(attention, length)),
        before=trace[path].tensor[0, head],
        after=altered[path].tensor[0, head],
        moved=tuple(moved.tolist()),
    )


def edited(atlas: Opened, attention: str, layer: int, head: int, mask: str, scope: str, length: int) -> Mapping[str, Edit]:
    """The edits that put a mask on; `length` is that of the longest sentence to come."""
    if attention not in ATTENTIONS:
        raise ValueError(f"attention={attention!r} takes no painted mask; choose one of {', '.join(ATTENTIONS)}")
    layers = range(_layers(atlas, attention)) if scope == "all" else (layer,)
    cells = masking.chosen(mask, own_mask(attention, length))
    return masked_with(_paths(attention, layers), cells, head=head if scope == "head" else None)


def damage(atlas: Atlas, trace: Trace, way: str) -> Damage:
    """The causal mask of every decoder layer put on in one of the ways of `masking.MASKINGS`, "off", or "flipped".

    "flipped" is the mask of a program that takes True for hidden: each row reads only what lies ahead of it.
    """
    edits = _ways(atlas, way, len(trace.target))
    altered = repeated(atlas, trace, edits, frozenset(KEPT_FOR_LEAK))
    return Damage(loss(altered.log_probabilities), leak(atlas, altered, edits))


def damaged_text(atlas: Atlas, trace: Trace, way: str) -> Written:
    """What the decoder writes by itself under this way to mask."""
    return _freely(atlas, trace, _ways(atlas, way, _longest(atlas, trace)))


def _change(atlas: Atlas, altered: Trace, edits: Mapping[str, Edit], position: int) -> float:
    """`leak` of another token than the last: the largest change of a logit of a row before `position`."""
    target = torch.tensor([[token.id for token in altered.target]], device=atlas.device)
    target[:, position] = atlas.config.end
    with torch.inference_mode(), tracing(edits, frozenset()):
        logits = atlas.decoded(target, altered)
    return float((logits - altered["logits"].tensor)[0, :position].abs().max())


def _ways(atlas: Atlas, way: str, length: int) -> Mapping[str, Edit]:
    attention = ATTENTIONS[0]
    paths, causal = _paths(attention, range(_layers(atlas, attention))), own_mask(attention, length)
    others = {"off": torch.ones_like(causal), "flipped": ~causal}
    if way in others:
        return masked_with(paths, others[way])
    return masked_with(paths, causal, masking.MASKINGS[way])


def _freely(atlas: Atlas, trace: Trace, edits: Mapping[str, Edit]) -> Written:
    found = freely(atlas, trace, edits, cached=False)
    return Written(atlas.said(trace.source_text, found.ids), found.ended)


def _longest(atlas: Atlas, trace: Trace) -> int:
    given = len(atlas.given(trace))
    before = given if atlas.config.family == "decoder-only" else 1
    return max(tokens_allowed(None, given, atlas.config) + before, given)


def _layers(atlas: Opened, attention: str) -> int:
    return atlas.config.encoder_layers if attention.startswith("encoder") else atlas.config.decoder_layers


def _paths(attention: str, layers: Iterable[int]) -> list[str]:
    return [path_of(attention, layer) for layer in layers]


def _likeliest(atlas: Atlas, trace: Trace) -> tuple[Token, ...]:
    ids = trace["logits"].tensor[0].argmax(dim=-1).tolist()
    return tuple(atlas.tokenizers.target.produced([id_])[0] for id_ in ids)
