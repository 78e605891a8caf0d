"""The logit lens: what the decoder would say if it had to stop at some depth.

The stream after any sublayer is read as if it were the last: through the final norm, if the model has one, and the output
matrix (nostalgebraist 2020). The last depth gives the model's own logits; the others were never trained to be read.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.residual import stream, sublayers
from model.decoding import greedy
from model.trace import Trace
from model.transformer import Transformer
from model.translator import Atlas, Translator


@dataclass(frozen=True)
class Reading:
    """The likeliest words at one depth, as (id, word, probability), and the place of the produced token among all (from 1)."""

    top: tuple[tuple[int, str, float], ...]
    rank: int
    probability: float


def logits(model: Transformer, values: Float[Tensor, "*depths d_model"]) -> Float[Tensor, "*depths vocab"]:
    """What the output matrix reads in the decoder's stream, at any depth."""
    read: Tensor = model.to_logits(model.decoder.norm(values))
    return read


@torch.inference_mode()
def readings(atlas: Atlas, trace: Trace, row: int, top: int = 5) -> tuple[Reading, ...]:
    """The lens at every depth of one row of the decoder."""
    values = stream(trace, "decoder", pre_norm=atlas.config.norm == "pre")[:, row]
    probabilities = logits(atlas.model, values).double().softmax(dim=-1)
    produced = trace.produced[row].id
    found = []
    for at_depth in probabilities:
        best = at_depth.topk(min(top, len(at_depth)))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        found.append(
            Reading(
                tuple((id_, word(atlas, id_), value) for id_, value in pairs),
                1 + int((at_depth > at_depth[produced]).sum()),
                float(at_depth[produced]),
            )
        )
    return tuple(found)


@torch.inference_mode()
def first_words(atlas: Atlas, trace: Trace) -> tuple[tuple[tuple[str, float], ...], ...]:
    """The likeliest word at every depth (rows) and position (columns), with its probability."""
    values = stream(trace, "decoder", pre_norm=atlas.config.norm == "pre")
    rows = []
    for at_depth in values:  # one depth at a time: all of them at once would be depth x L x V numbers
        best = logits(atlas.model, at_depth).double().softmax(dim=-1).max(dim=-1)
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        rows.append(tuple((word(atlas, id_), value) for id_, value in pairs))
    return tuple(rows)


def word(atlas: Atlas, id_: int) -> str:
    """The printable form of an entry of the target vocabulary."""
    return atlas.tokenizers.target.produced([id_])[0].label


@dataclass(frozen=True)
class LayerReading:
    """What the decoder would have written after a layer (0: what enters the first): at every row the likeliest word with its
    probability, whether it is the produced token, and the mean loss of the produced tokens in nats.
    """

    layer: int
    words: tuple[tuple[str, float, bool], ...]
    loss: float


@torch.inference_mode()
def after_layers(atlas: Atlas, trace: Trace) -> tuple[LayerReading, ...]:
    """The lens after each decoder layer; the last is what the model itself says."""
    values = stream(trace, "decoder", pre_norm=atlas.config.norm == "pre")
    produced = torch.tensor([token.id for token in trace.produced], device=values.device)
    found = []
    for layer, at_depth in enumerate(values[:: len(sublayers(trace, "decoder"))]):
        scores = logits(atlas.model, at_depth).double().log_softmax(dim=-1)
        best = scores.max(dim=-1)
        words = zip(best.indices.tolist(), best.values.exp().tolist(), produced.tolist(), strict=True)
        found.append(
            LayerReading(
                layer,
                tuple((word(atlas, id_), value, id_ == wanted) for id_, value, wanted in words),
                -float(scores.gather(1, produced[:, None]).mean()),
            )
        )
    return tuple(found)


@dataclass(frozen=True)
class Heard:
    """What the decoder makes of the source as it stands after an encoder layer (0: the embeddings).

    `loss` is the mean of the target's in nats, `text` what it writes greedily.
    """

    layer: int
    loss: float
    text: str


@torch.inference_mode()
def from_encoder_layers(atlas: Translator, trace: Trace) -> tuple[Heard, ...]:
    """Every encoder layer's output in place of the last one's, through the final norm if the model has one."""
    values = stream(trace, "encoder", pre_norm=atlas.config.norm == "pre")
    read, source, produced = (
        torch.tensor([[token.id for token in tokens]], device=values.device)
        for tokens in (trace.target, trace.source, trace.produced)
    )
    found = []
    for layer, at_depth in enumerate(values[:: len(sublayers(trace, "encoder"))]):
        memory = atlas.model.encoder.norm(at_depth)[None]
        scores = atlas.model.decode(read, memory)[0].double().log_softmax(dim=-1)
        written = greedy(atlas.model, source, memory=memory)[0]
        loss = -float(scores.gather(1, produced.mT).mean())
        found.append(Heard(layer, loss, atlas.tokenizers.target.decode(written.ids)))
    return tuple(found)
