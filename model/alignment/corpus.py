"""Alignment of many sentence pairs: in order, in batches, in constant memory; and of the one pair that is opened."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int16

from model.alignment import joint
from model.alignment.choices import default_choice
from model.alignment.confidence import NO_SCORES, Scores, scores
from model.alignment.extract import ROWS, Choice, WordWeights, of_map
from model.alignment.forced import MEASURES, Measure, Prepared, batches, forced, measures_of, prepare
from model.alignment.formats.problem import Message
from model.alignment.missing import translate_missing as translate_missing
from model.alignment.symmetrize import METHODS, symmetrize
from model.alignment.words import words
from model.translator import Atlas, TextError, Translator

BATCH_TOKENS = 256  # a forced pass of about 40 ms on one core: so often can somebody stop the work, or another visitor be served
WINDOW, FIRST_WINDOW = 512, 8
CROSS = "decoder.cross_attention"
JOINT = "joint"
WAYS = (*METHODS, JOINT)
"""How the links of two directions may be joined."""


@dataclass(frozen=True)
class Settings:
    """Where links come from.

    `choice` None is the head of the model's card (`default_choice`). `threshold` None links each target word to the source word
    with the largest weight; a number, to all with weight above it. `symmetrize` joins the links with those of a reverse model;
    "joint" takes links from the mean weights of both (`joint.links`) and knows no threshold.
    Raises ValueError where a value is unknown.
    """

    choice: Choice | None = None
    measure: Measure = "weights"
    threshold: float | None = None
    symmetrize: str | None = None
    split_punctuation: bool = False

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise ValueError(f"measure={self.measure!r} is unknown; choose one of {', '.join(MEASURES)}")
        if self.threshold is not None and not 0.0 <= self.threshold < 1.0:
            raise ValueError(f"threshold={self.threshold} is no share of a row's weight; give 0 or more, below 1, or None")
        if self.symmetrize is not None and self.symmetrize not in WAYS:
            raise ValueError(f"symmetrize={self.symmetrize!r} is unknown; choose one of {', '.join(WAYS)}")
        if self.symmetrize == JOINT and self.threshold is not None:
            raise ValueError(f"symmetrize={JOINT!r} has a threshold of its own; leave out threshold={self.threshold}")


class WeightedLink(NamedTuple):
    """A source word and a target word, from 0, with the weight on the link: of symmetrised links the mean of both directions."""

    source: int
    target: int
    weight: float


@dataclass(frozen=True)
class Aligned:
    """One pair with its links.

    `log_probability` is the mean over the tokens of the target (natural logarithm). `best` is the source word that each target
    word would be linked to by every layer, head (the mean last) and row (produced, read), -1 for none. `problem` says why a pair
    could not be aligned: there are then no links, and the scores are NaN.
    """

    index: int
    source: str
    target: str
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    links: tuple[WeightedLink, ...]
    scores: Scores
    log_probability: float
    best: Int16[np.ndarray, "layer one_more row target"]
    problem: Message | None = None


@dataclass(frozen=True)
class Found:
    """What one model's pass gave for one pair; `map_` is of the chosen head, with special tokens in columns after `sources`."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    map_: Float[np.ndarray, "target column"]
    sources: int
    log_probability: float
    best: Int16[np.ndarray, "layer one_more row target"]


Outcome = Found | Message


def align(
    atlas: Translator,
    pairs: Iterable[tuple[str, str]],
    settings: Settings = Settings(),
    reverse: Translator | None = None,
    batch_tokens: int = BATCH_TOKENS,
    window: int = WINDOW,
    between: Callable[[], None] = lambda: None,
    first_window: int = FIRST_WINDOW,
) -> Iterator[Aligned]:
    """The pairs in their order with their links; nothing is kept of what was yielded.

    Pairs are read `window` at a time (at first `first_window`, so that results show at once) and computed in batches of
    at most `batch_tokens` tokens of similar length. `between` is called after every batch; what it raises ends the work.
    Raises ValueError for a choice that the model does not have, for a method without `reverse`, and for a language model.
    """
    choice = checked_choice(atlas, settings.choice)
    for side in (atlas, reverse):
        if side is not None and settings.measure not in measures_of(side):
            raise ValueError(f"{side.name} gives no measure={settings.measure!r}: its W_O is not read; choose 'weights'")
    if (reverse is None) != (settings.symmetrize is None):
        raise ValueError("links are symmetrised with a reverse model: give both `reverse` and settings.symmetrize, or neither")
    back = None if reverse is None else checked_choice(reverse, None)
    rows = iter(pairs)
    index, size = 0, min(first_window, window)
    while block := list(itertools.islice(rows, size)):
        forward = _pass(atlas, block, settings, choice, batch_tokens, between)
        backward: Sequence[Outcome | None] = [None] * len(block)
        if reverse is not None and back is not None:
            flipped = [(target, source) for source, target in block]
            backward = _pass(reverse, flipped, settings, back, batch_tokens, between, ("target", "source"))
        for place, pair, one, other in zip(itertools.count(index), block, forward, backward):
            if isinstance(one, Message):
                yield _unaligned(atlas, place, pair, one, settings)
            elif isinstance(other, Message):
                yield _unaligned(atlas, place, pair, other, settings)
            else:
                yield _aligned(place, pair, one, other, settings)
        index, size = index + len(block), min(2 * size, window)


def weights_of(atlas: Translator, source: str, target: str, settings: Settings = Settings()) -> WordWeights:
    """All layers, heads and rows of one pair, measured as the settings say; raises TextError where `align` gives a problem."""
    checked_choice(atlas, settings.choice)
    ready = prepare(atlas, source, target, settings.split_punctuation)
    if isinstance(ready, Message):
        raise TextError(ready)
    return forced(atlas, [ready], settings.measure)[0].each()[0]


def checked_choice(atlas: Atlas, choice: Choice | None) -> Choice:
    """The choice, or the model's default; raises ValueError where the model has no such head."""
    if not isinstance(atlas, Translator):
        raise ValueError(f"{atlas.name} is a language model: it has no cross-attention to take links from; choose a translator")
    if choice is None:
        return default_choice(atlas)
    layers, heads = atlas.config.decoder_layers, atlas.config.heads_of(CROSS)
    if not (0 <= choice.layer < layers and (choice.head is None or 0 <= choice.head < heads) and choice.row in ROWS):
        raise ValueError(
            f"{atlas.name} has no layer {choice.layer}, head {'mean' if choice.head is None else choice.head}, row {choice.row}: "
            f"counted from 0, it has layers 0 to {layers - 1}, heads 0 to {heads - 1} and their mean, rows {' and '.join(ROWS)}"
        )
    return choice


def _pass(
    atlas: Translator,
    block: Sequence[tuple[str, str]],
    settings: Settings,
    choice: Choice,
    batch_tokens: int,
    between: Callable[[], None],
    sides: tuple[str, str] = ("source", "target"),
) -> list[Outcome]:
    """What one model finds in every pair of a window."""
    outcomes: dict[int, Outcome] = {}
    places: list[int] = []
    fine: list[Prepared] = []
    choices = joint.guided(atlas.card, choice) if settings.symmetrize == JOINT else (choice,)
    for index, (source, target) in enumerate(block):
        ready = prepare(atlas, source, target, settings.split_punctuation, sides)
        if isinstance(ready, Prepared):
            places.append(index)
            fine.append(ready)
        else:
            outcomes[index] = ready
    for batch in batches(fine, batch_tokens):
        members = [fine[index] for index in batch]
        for index, found in zip(batch, _found(atlas, members, settings.measure, choices), strict=True):
            outcomes[places[index]] = found
        between()
    return [outcomes[index] for index in range(len(block))]


def _found(atlas: Translator, pairs: Sequence[Prepared], measure: Measure, choices: Sequence[Choice]) -> Iterator[Found]:
    """Of several choices the mean of their maps."""
    weights, log_probabilities = forced(atlas, pairs, measure)
    best = weights.best()
    last = weights.maps.shape[4] - 1
    chosen = [weights.maps[:, ROWS.index(one.row), :, one.layer, last if one.head is None else one.head] for one in choices]
    maps = (sum(chosen[1:], chosen[0]) / len(chosen)).cpu().numpy()
    for index, pair in enumerate(pairs):
        sources, targets = pair.labels.sources, pair.labels.targets
        of_pair = best[index, :, :targets].transpose(2, 3, 0, 1)
        # Copies: views would keep the whole batch alive.
        yield Found(
            pair.source_words,
            pair.target_words,
            maps[index, :targets].copy(),
            sources,
            log_probabilities[index],
            np.ascontiguousarray(of_pair),
        )


def _unaligned(atlas: Translator, index: int, pair: tuple[str, str], problem: Message, settings: Settings) -> Aligned:
    source_words, target_words = (words(text, settings.split_punctuation) for text in pair)
    none = np.full(
        (atlas.config.decoder_layers, atlas.config.heads_of(CROSS) + 1, len(ROWS), len(target_words)), -1, dtype=np.int16
    )
    return Aligned(index, *pair, source_words, target_words, (), NO_SCORES, math.nan, none, problem)


def _aligned(index: int, pair: tuple[str, str], found: Found, back: Found | None, settings: Settings) -> Aligned:
    """One pair's links and scores."""
    between_words = found.map_[:, : found.sources]
    links = of_map(found.map_, found.sources, settings.threshold)
    if back is None or settings.symmetrize is None:
        weighted = [WeightedLink(i, j, float(between_words[j, i])) for i, j in links]
    else:
        backward = {(i, j) for j, i in of_map(back.map_, back.sources, settings.threshold)}
        means = joint.mean(between_words, back.map_[:, : back.sources])
        chosen = joint.links(means) if settings.symmetrize == JOINT else symmetrize(links, backward, settings.symmetrize)
        weighted = [WeightedLink(i, j, float(means[j, i])) for i, j in chosen]
    return Aligned(
        index,
        *pair,
        found.source_words,
        found.target_words,
        tuple(sorted(weighted)),
        scores(between_words),
        found.log_probability,
        found.best,
    )
