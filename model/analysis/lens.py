"""The logit lens: what the decoder would say if it had to stop at some depth.

The stream after any sublayer is read as if it were the last: through the final norm, if the model has one, and the output
matrix (nostalgebraist 2020). The last depth gives the model's own logits; the others were never trained to be read.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.residual import stream
from model.trace import Trace
from model.transformer import Transformer
from model.translator import Atlas


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
