"""Without "shifted right": the decoder reads the very token that it is asked for.

The loaded model was trained to say what comes next, so it is off by one. `schedules_tried.shifts` shows what comes of training
that way.
"""

from dataclasses import dataclass

import torch

from model.analysis.decoding_steps import ids_of
from model.trace import Trace
from model.translator import Atlas, Translator


@dataclass(frozen=True)
class Fed:
    """Mean losses in nats a token of the loaded model: fed as it should be; fed unshifted and asked for the token that it reads;
    fed unshifted and asked for the one after that.
    """

    shifted: float
    unshifted: float
    following: float | None


@torch.inference_mode()
def fed(atlas: Atlas, trace: Trace) -> Fed:
    """The same pair in its right place, and with the decoder's input moved one to the left."""
    read = ids_of(atlas, trace.produced)
    if trace.source and isinstance(atlas, Translator):
        logits = atlas.forced(ids_of(atlas, trace.source), read)[0]
    else:
        logits = atlas.decoded(read, trace)[0]
    scores = logits.double().log_softmax(dim=-1)
    own = -scores.gather(1, read.mT).mean()
    following = -float(scores[:-1].gather(1, read.mT[1:]).mean()) if read.shape[1] > 1 else None
    return Fed(-sum(trace.log_probabilities) / len(trace.log_probabilities), float(own), following)
