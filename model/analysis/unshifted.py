"""What happens without "shifted right": the decoder reads the very token that it is asked for.

With the loaded model: it was trained to say what comes next, so it is off by one. With the small repeater of `cheating`, trained
that way: the loss falls to nothing, since copying what stands there is all that is asked, and nothing was learned to write with.
"""

from dataclasses import dataclass

import torch
from torch.nn import functional

from model.analysis.cheating import BATCH, EXAMINED, HALF, STEPS, Repeater, sequences, write
from model.analysis.decoding_steps import ids_of
from model.attention_mask import causal
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
        logits = atlas.model(ids_of(atlas, trace.source), read)[0]
    else:
        logits = atlas.decoded(read, trace)[0]
    scores = logits.double().log_softmax(dim=-1)
    own = -scores.gather(1, read.mT).mean()
    following = -float(scores[:-1].gather(1, read.mT[1:]).mean()) if read.shape[1] > 1 else None
    return Fed(-sum(trace.log_probabilities) / len(trace.log_probabilities), float(own), following)


@dataclass(frozen=True)
class Trained:
    """A small decoder's losses at each step of its training, and the share of symbols that it then writes rightly by itself."""

    losses: tuple[float, ...]
    right: float


def trained(*, shifted: bool, steps: int = STEPS, seed: int = 1) -> Trained:
    """Train the repeater on what comes after each token, or on the token itself; then let it write the second half."""
    generator = torch.Generator().manual_seed(seed)
    repeater = Repeater(generator)
    optimizer = torch.optim.Adam(repeater.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        whole = sequences(BATCH, generator)
        read, wanted = (whole[:, :-1], whole[:, 1:]) if shifted else (whole, whole)
        loss = functional.cross_entropy(repeater(read, causal(read.shape[1])[None]).mT, wanted)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(float(loss.detach()))
    with torch.inference_mode():
        unseen = sequences(EXAMINED, generator)[:, :HALF]
        right = float((write(repeater, unseen, masked=True) == unseen).float().mean())
    return Trained(tuple(losses), right)


def both(atlas: Atlas) -> tuple[Trained, Trained]:
    """Shifted and unshifted: the same two, whichever model is looked at."""
    del atlas
    return trained(shifted=True), trained(shifted=False)
