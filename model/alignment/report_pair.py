"""One pair in the HTML report: its words, its links with gold beside them, its scores. All that is not ours is escaped."""

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

from model.alignment.corpus import Aligned
from model.alignment.formats import GoldLinks, Message
from model.alignment.pharaoh import Link, Links
from model.alignment.results import counts_of, links_of, scores_of

Labels = Mapping[str, str]

# How a link stands to the gold, told by a sign as well as by its line below: nobody needs the colour.
MARKS = {"found_sure": "✓", "found_possible": "(✓)", "extra": "+", "missed": "−", "unfound_possible": "○"}
COLOURS = 8


def section(aligned: Aligned, gold: GoldLinks | None, labels: Labels, told: Callable[[Message], str]) -> str:
    """The pair as a section of the page."""
    groups = groups_of(links_of(aligned))
    place = aligned.index + 1
    parts = [
        f'<section class="pair" id="pair-{place}" aria-labelledby="h-{place}"><h3 id="h-{place}">{place}</h3>',
        _side("source", aligned.source_words or (aligned.source,), groups[0], labels),
        _side("target", aligned.target_words or (aligned.target,), groups[1], labels),
    ]
    if aligned.problem is not None:
        parts.append(f"<p><b>{escape(labels['unaligned'])}</b> {typed(told(aligned.problem))}</p>")
    parts.append(_links(aligned, gold, labels))
    if aligned.problem is None:
        parts.append(_scores(aligned, gold, labels))
    return "".join([*parts, "</section>\n"])


def groups_of(links: Links) -> tuple[dict[int, int], dict[int, int]]:
    """The number, from 1, of the linked group that each source word and each target word belongs to.

    Words that are linked, directly or through others, are one group.
    """
    group: dict[tuple[str, int], tuple[str, int]] = {}

    def root(word: tuple[str, int]) -> tuple[str, int]:
        while group.setdefault(word, word) != word:
            word = group[word]
        return word

    for i, j in sorted(links):
        first, second = sorted((root(("source", i)), root(("target", j))))
        group[second] = first
    numbers: dict[tuple[str, int], int] = {}
    for word in sorted(group):
        numbers.setdefault(root(word), len(numbers) + 1)
    sides = ({index: numbers[root((side, index))] for name, index in group if name == side} for side in ("source", "target"))
    return next(sides), next(sides)


def legend(kind: str, labels: Labels) -> str:
    """What a sign means."""
    return f'<li><span class="mark">{MARKS[kind]}</span> <span class="{kind}">{escape(labels[f"mark.{kind}"])}</span></li>'


def typed(value: str) -> str:
    """A text of a user: exactly it, with a direction of its own."""
    return f'<bdi dir="auto">{escape(value)}</bdi>'


def number(value: float, digits: int = 3) -> str:
    """A number with a real minus sign; a dash where it is none."""
    if not math.isfinite(value):
        return "–"
    shown = f"{value:.{digits}f}"
    return (shown if float(shown) else shown.lstrip("-")).replace("-", "−")


def _side(side: str, words: Sequence[str], groups: Mapping[int, int], labels: Labels) -> str:
    made = " ".join(_word(index, word, groups.get(index), labels) for index, word in enumerate(words))
    return f'<p class="side"><span class="role">{escape(labels[side])}</span><span>{made}</span></p>'


def _word(index: int, word: str, group: int | None, labels: Labels) -> str:
    if group is None:
        return f'<span class="word alone" title="{index}: {escape(labels["no_link"])}">{typed(word)}</span>'
    shown = f"{typed(word)}<sup>{group}</sup>"
    return f'<span class="word c{group % COLOURS}" data-group="{group}" title="{index}">{shown}</span>'


def _links(aligned: Aligned, gold: GoldLinks | None, labels: Labels) -> str:
    weights: dict[Link, float] = {(link.source, link.target): link.weight for link in aligned.links}
    everything = sorted(set(weights) | (gold.possible | gold.sure if gold else frozenset()))
    if not everything:
        return f'<p class="quiet">{escape(labels["no_links"])}</p>'
    items = "".join(_link(link, aligned, weights, gold, labels) for link in everything)
    return f'<ul class="links" aria-label="{escape(labels["links"])}">{items}</ul>'


def _link(link: Link, aligned: Aligned, weights: Mapping[Link, float], gold: GoldLinks | None, labels: Labels) -> str:
    i, j = link
    words = f"{_at(aligned.source_words, i)} – {_at(aligned.target_words, j)}"
    weight = weights.get(link, math.nan)
    shown = f" {number(weight)}" if math.isfinite(weight) else ""
    if gold is None:
        return f"<li>{i}-{j} {words}{shown}</li>"
    kind = kind_of(link, link in weights, gold)
    said = escape(labels[f"mark.{kind}"])
    sign = f'<span class="mark" role="img" aria-label="{said}" title="{said}">{MARKS[kind]}</span>'
    return f'<li>{sign} <span class="{kind}">{i}-{j} {words}</span>{shown}</li>'


def kind_of(link: Link, found: bool, gold: GoldLinks) -> str:
    """How a link of the model, or one that it lacks, stands to the gold: a key of MARKS."""
    if link in gold.sure:
        return "found_sure" if found else "missed"
    if link in gold.possible:
        return "found_possible" if found else "unfound_possible"
    return "extra"


def _scores(aligned: Aligned, gold: GoldLinks | None, labels: Labels) -> str:
    values = {key: number(value) for key, value in scores_of(aligned).items() if key != "confidence_percent"}
    if math.isfinite(aligned.scores.confidence_percent):
        values["confidence"] += f" ({number(aligned.scores.confidence_percent, 1)} %)"
    if counts := counts_of(aligned, gold):
        values = {"alignment_error_rate": number(counts.alignment_error_rate), **values}
    made = "".join(f"<div><dt>{escape(labels[f'score.{key}'])}</dt><dd>{value}</dd></div>" for key, value in values.items())
    return f'<dl class="scores">{made}</dl>'


def _at(words: Sequence[str], index: int) -> str:
    return typed(words[index]) if index < len(words) else "?"
