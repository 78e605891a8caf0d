"""What each of the three attentions is for, measured: silence one, and see what the model writes and loses.

A silenced attention has weights 0 in every layer and head: its queries read nothing and its context is 0, while the rest
of the model runs as ever. Two judges look at what is written then, both the unaltered model: one that has the source, and
one that is blind (its cross-attention is silenced), so that it knows nothing but what was written before.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from model.analysis.what_if import read_nothing, weight_paths
from model.trace import Edit, Trace, tracing
from model.translator import Translation, Translator

ENCODER, DECODER, CROSS = "encoder.self_attention", "decoder.self_attention", "decoder.cross_attention"

VARIANTS: Mapping[str, tuple[str, ...]] = {
    "whole": (),
    "cross": (CROSS,),
    "decoder": (DECODER,),
    "encoder": (ENCODER,),
    "all": (ENCODER, DECODER, CROSS),
}
"""The attentions that each variant silences."""

TOLERANCE = 0.25
"""Nats per token by which a fluent output may be less likely to the blind judge than the whole model's."""

MORE_PAIRS = 0.05
"""The share of pairs of tokens by which it may repeat itself more."""


@dataclass(frozen=True)
class Outcome:
    """What one variant does with one sentence, or its average over several. Log-probabilities are natural, per token.

    `text` is what it writes freely, `stopped` whether that ended by itself ("end") or at the limit; `loss` is the negative
    log-probability that the variant gives the reference. The rest judges what it wrote: `fluency`, its log-probability under
    the blind judge; `faithfulness`, that under the judge who has the source; `repetition`, the share of its pairs of
    neighbouring tokens that stood before; `overlap`, the tokens it shares with the whole model's output (F1 of two bags).
    `distinct` counts the different texts of an average over `sentences`.
    """

    variant: str
    text: str
    stopped: str
    loss: float
    fluency: float
    faithfulness: float
    repetition: float
    overlap: float
    sentences: int = 1
    distinct: int = 1

    @property
    def gain(self) -> float:
        """What knowing the source adds to the log-probability of a token: above 0 the text has to do with the source."""
        return self.faithfulness - self.fluency

    @property
    def faithful(self) -> bool:
        """Whether the source speaks for what was written rather than against it."""
        return self.gain > 0


def fluent(outcome: Outcome, whole: Outcome) -> bool:
    """Whether the blind judge finds the text as likely as the whole one, and it stutters no more."""
    return outcome.fluency >= whole.fluency - TOLERANCE and outcome.repetition <= whole.repetition + MORE_PAIRS


def outcomes(atlas: Translator, trace: Trace) -> tuple[Outcome, ...]:
    """Every variant on one sentence; the reference of the loss is the target of the trace."""
    reference = Translation(trace.target_text, trace.source, trace.produced, trace.log_probabilities, "end")
    own = atlas.translate(trace.source_text)
    return tuple(outcome(atlas, trace.source_text, reference, own, variant) for variant in VARIANTS)


def outcomes_of(atlas: Translator, source: str) -> tuple[Outcome, ...]:
    """Every variant on one sentence; the reference is what the whole model writes."""
    own = atlas.translate(source)
    return tuple(outcome(atlas, source, own, own, variant) for variant in VARIANTS)


def outcome(atlas: Translator, source: str, reference: Translation, own: Translation, variant: str) -> Outcome:
    """One variant on one sentence; `own` is what the whole model writes."""
    edits = silenced(atlas, VARIANTS[variant])
    with tracing(edits, only=frozenset()):
        written = atlas.translate(source)
    return Outcome(
        variant,
        written.text,
        written.stopped,
        loss=-mean_log_probability(atlas, source, reference, edits),
        fluency=mean_log_probability(atlas, source, written, silenced(atlas, (CROSS,))),
        faithfulness=mean_log_probability(atlas, source, written, {}),
        repetition=repeated([token.id for token in written.produced]),
        overlap=shared([token.id for token in written.produced], [token.id for token in own.produced]),
    )


def average(measured: Sequence[Sequence[Outcome]]) -> tuple[Outcome, ...]:
    """The mean of every measure over sentences (each given as all its variants in order), each sentence counted once."""
    if not measured:
        raise ValueError("there is no sentence to average over; give the outcomes of at least one")
    means = []
    for of_variant in zip(*measured, strict=True):
        names = ("loss", "fluency", "faithfulness", "repetition", "overlap")
        values = {name: sum(getattr(each, name) for each in of_variant) / len(of_variant) for name in names}
        texts = Counter(each.text for each in of_variant)
        stopped = "limit" if any(each.stopped == "limit" for each in of_variant) else "end"
        means.append(Outcome(of_variant[0].variant, texts.most_common(1)[0][0], stopped, **values,
                             sentences=len(of_variant), distinct=len(texts)))  # fmt: skip
    return tuple(means)


def worst(measured: Sequence[Sequence[Outcome]], variant: str) -> int:
    """The sentence whose text suffers most from a variant: its mark by the judge who has the source falls deepest below that
    of what the whole model writes. (`measured`: for each sentence all its variants in order.)"""
    whole, index = (list(VARIANTS).index(name) for name in ("whole", variant))
    return min(range(len(measured)), key=lambda at: measured[at][index].faithfulness - measured[at][whole].faithfulness)


def silenced(atlas: Translator, attentions: Sequence[str]) -> dict[str, Edit]:
    """The edits that switch these attentions off in every layer."""
    layers = {"encoder": atlas.config.encoder_layers, "decoder": atlas.config.decoder_layers}
    return {
        path: edit
        for attention in attentions
        for path, edit in read_nothing(weight_paths(attention, layers[attention.partition(".")[0]])).items()
    }


def mean_log_probability(atlas: Translator, source: str, written: Translation, edits: Mapping[str, Edit]) -> float:
    """Log-probability per token of an output under a model; the end token counts if it was written."""
    values = atlas.trace(source, written, edits).log_probabilities[: len(written.produced)]
    return sum(values) / len(values)


def repeated(ids: Sequence[int]) -> float:
    """The share of pairs of neighbouring tokens that stood before in the same text; 0 for fewer than two pairs."""
    pairs = list(pairwise(ids))
    return 1 - len(set(pairs)) / len(pairs) if pairs else 0.0


def shared(ids: Sequence[int], others: Sequence[int]) -> float:
    """How far two texts hold the same tokens, in whatever order: 2 |A and B| / (|A| + |B|) of the two bags."""
    common = sum((Counter(ids) & Counter(others)).values())
    return 2 * common / (len(ids) + len(others)) if ids or others else 1.0
