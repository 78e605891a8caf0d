"""The pass behind a trace once more, token for token, with edits; and what an edited model writes when left to itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from model.decoding import Hypothesis, greedy
from model.tokenizer import Token
from model.trace import Edit, Trace, tracing
from model.translator import Atlas

KEPT_FOR_LEAK = ("encoder.output", "logits")


def repeated(atlas: Atlas, trace: Trace, edits: Mapping[str, Edit] | None = None, only: frozenset[str] | None = None) -> Trace:
    """The trace of the same source and target tokens with edits (path -> function from tensor to tensor).

    `only` keeps just these paths; `log_probabilities` are computed in any case.
    """
    with torch.inference_mode(), tracing(edits, only) as recording:
        logits = atlas.forced(_ids(atlas, trace.source), _ids(atlas, trace.target))
        scores = logits[0].double().log_softmax(dim=-1).gather(1, _ids(atlas, trace.produced).mT)[:, 0]
    return replace(trace, activations=recording.activations, log_probabilities=tuple(scores.tolist()))


def freely(atlas: Atlas, trace: Trace, edits: Mapping[str, Edit], cached: bool = True) -> Hypothesis:
    """What the edited model writes greedily for the trace's source, or after its prompt.

    With `cached`, decoder edits see one new row at a step. Edits that need all rows so far (a certain row, or several at
    once) must have `cached` False: each step then repeats the earlier ones, row r of a tensor being row r of the decoder.
    """
    with tracing(edits, frozenset()):
        return greedy(atlas.model, _ids(atlas, atlas.given(trace)), cached=cached)[0]


def leak(atlas: Atlas, edited: Trace, edits: Mapping[str, Edit] | None = None) -> float:
    """How much the future changes the past: the largest change of a logit of an earlier row of the decoder when the last
    token that it reads becomes the end token. 0 where attention is causal; 0 also for a target of one row.

    `edited` is the pass with these edits (`repeated`); it kept at least `KEPT_FOR_LEAK`.
    """
    target = _ids(atlas, edited.target)
    if target.shape[1] < 2:
        return 0.0
    target[:, -1] = atlas.config.end
    of_decoder = {path: edit for path, edit in (edits or {}).items() if path.startswith("decoder")}
    with torch.inference_mode(), tracing(of_decoder, frozenset()):
        logits = atlas.decoded(target, edited)
    return float((logits - edited["logits"].tensor)[0, :-1].abs().max())


def _ids(atlas: Atlas, tokens: Sequence[Token]) -> Tensor:
    return torch.tensor([[token.id for token in tokens]], device=atlas.device)
