"""The one pair of a study that is opened: the maps of every layer and head, and what the reverse model says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import streamlit as st
import torch

from app.session.loading import load
from app.session.rates import computing
from app.session.remark import Remark
from app.session.studio_study import Study
from model.alignment import corpus, extract, forced, joint, words
from model.alignment.choices import default_choice
from model.alignment.extract import Choice, Labels
from model.tokenizer import Token
from model.translator import TextError, Translator

MAX_TOKENS = 512  # of one side: a picture of more cannot be read
_OPENED = "atlas_studio_opened"
Maps = Mapping[str, npt.NDArray[np.float32]]  # by measure


@dataclass(frozen=True)
class Text:
    """One side of the pair as it was brought: its words, and what stands around them (one more than words)."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]


@dataclass(frozen=True)
class Reverse:
    """The reverse model's own choice for this pair: maps [source word, target column] for each measure."""

    model: str
    choice: Choice
    maps: Maps


@dataclass(frozen=True)
class Joint:
    """What both directions say together, between words (see model/alignment/joint.py).

    `heads` are those whose mean stands for this direction wherever one of them is looked at; `forward` is that mean, [target
    word, source word], and `backward` the reverse model's, [source word, target word], for each measure.
    """

    heads: tuple[Choice, ...]
    forward: Maps
    backward: Maps


@dataclass(frozen=True)
class OpenedPair:
    """A pair with all its maps between pieces, [layer, head (all together last), query, key]."""

    index: int
    source: Text
    target: Text
    tokens: Mapping[str, Sequence[Token]]  # of "source", "produced" and "read"
    labels: Labels
    weights: Maps
    choice: Choice
    reverse: Reverse | None
    joint: Joint | None


def opened_pair(study: Study, index: int) -> OpenedPair | Remark:
    """The pair, computed when it is opened and kept while it is; or why it cannot be shown."""
    aligned = study.results[index]
    name = (study.token, study.model, study.reverse, study.words_split, index, aligned.target)
    kept: tuple[object, OpenedPair | Remark] | None = st.session_state.get(_OPENED)
    if kept is None or kept[0] != name or (isinstance(kept[1], OpenedPair) and kept[1].choice != _choice(study)):
        same = kept[1] if kept is not None and kept[0] == name else None
        found = _chosen(study, same) if isinstance(same, OpenedPair) else _opened(study, index, aligned.source, aligned.target)
        kept = st.session_state[_OPENED] = (name, found)
    return kept[1]


def _choice(study: Study) -> Choice:
    if study.settings.choice is not None:
        return study.settings.choice
    atlas = load(study.model)
    assert isinstance(atlas, Translator)
    return default_choice(atlas)


def _chosen(study: Study, pair: OpenedPair) -> OpenedPair:
    """The same pair with another head: its maps are there."""
    backward = pair.joint.backward if pair.joint else None
    return replace(pair, choice=_choice(study), joint=_joint(study, pair.weights, pair.labels, backward))


def _joint(study: Study, weights: Maps, labels: Labels, backward: Maps | None) -> Joint | None:
    if backward is None:
        return None
    heads = joint.heads_of(load(study.model).card) or (_choice(study),)
    return Joint(heads, _together(weights, labels, heads), backward)


def _opened(study: Study, index: int, source: str, target: str) -> OpenedPair | Remark:
    atlas = load(study.model)
    assert isinstance(atlas, Translator)
    if refusal := _refused(atlas, source, target):
        return refusal
    split = study.words_split
    computing("what_if")
    trace = atlas.trace(source, target)
    labels = extract.label(trace, split)
    weights: Maps = {
        measure: np.asarray(forced.measured(atlas, trace, measure)[:, 0].detach().cpu().numpy(), dtype=np.float32)
        for measure in forced.measures_of(atlas)
    }
    said = _reverse(study.reverse, source, target, split_punctuation=split)
    return OpenedPair(
        index,
        _text(trace.source_text, split_punctuation=split),
        _text(trace.target_text, split_punctuation=split),
        {"source": trace.source, "produced": trace.produced, "read": trace.target},
        labels,
        weights,
        _choice(study),
        said[0] if said else None,
        _joint(study, weights, labels, said[1] if said else None),
    )


def _together(weights: Maps, labels: Labels, heads: Sequence[Choice]) -> Maps:
    """The mean of some heads between words, [target word, source word]."""
    found = {}
    for measure, maps in weights.items():
        chosen = [
            extract.join_pieces(
                torch.from_numpy(maps[one.layer, -1 if one.head is None else one.head]),
                labels.produced if one.row == "produced" else labels.read,
                labels.source,
                labels.targets,
                labels.sources,
            )
            for one in heads
        ]
        found[measure] = np.asarray((sum(chosen[1:], chosen[0]) / len(chosen)).numpy(), dtype=np.float32)
    return found


def _refused(atlas: Translator, source: str, target: str) -> Remark | None:
    for side, text in (("source", source), ("target", target)):
        tokens = len(getattr(atlas.tokenizers, side).encode(text))
        if not tokens or not words.split(text, split_punctuation=False):
            return Remark("studio_pair.nothing", {})
        if tokens > (limit := min(MAX_TOKENS, atlas.config.max_length - 1)):
            return Remark("studio_pair.too_long", {"side": side, "given": tokens, "limit": limit})
    return None


def _text(text: str, *, split_punctuation: bool) -> Text:
    spans = words.split(text, split_punctuation)
    starts, ends = [start for start, _ in spans] + [len(text)], [0] + [end for _, end in spans]
    return Text(
        tuple(text[start:end] for start, end in spans), tuple(text[end:start] for end, start in zip(ends, starts, strict=True))
    )


def _reverse(name: str | None, source: str, target: str, *, split_punctuation: bool) -> tuple[Reverse, Maps] | None:
    """What the model of the other direction says by its own choice, and by all heads that "joint" averages.

    None where there is no such model, or where it cannot take the pair.
    """
    atlas = load(name) if name else None
    if not isinstance(atlas, Translator) or name is None:
        return None
    choice = default_choice(atlas)
    maps: dict[str, npt.NDArray[np.float32]] = {}
    together: dict[str, npt.NDArray[np.float32]] = {}
    try:
        for measure in forced.measures_of(atlas):
            settings = corpus.Settings(choice, measure, split_punctuation=split_punctuation)
            found = corpus.weights_of(atlas, target, source, settings)
            chosen = [found.at(one) for one in joint.guided(atlas.card, choice)]
            mean = (sum(chosen[1:], chosen[0]) / len(chosen))[:, : found.sources]
            maps[measure] = np.asarray(found.at(choice).cpu().numpy(), dtype=np.float32)
            together[measure] = np.asarray(mean.cpu().numpy(), dtype=np.float32)
    except TextError:
        return None
    return Reverse(name, choice, maps), together
