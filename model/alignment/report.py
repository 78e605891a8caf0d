"""An alignment as one HTML file that anybody can open: no network, no other file, nothing that runs unasked.

What was aligned stands there as text, words of one colour and number being linked, gold links beside those of the model. The
file is written pair by pair, so it may hold thousands. A small script lights linked words; without it nothing is lost.
"""

import base64
import hashlib
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date as calendar
from functools import cache
from html import escape
from importlib import resources
from itertools import chain, repeat
from typing import Any, TextIO

from model.alignment import joint
from model.alignment import report_pair as pair_of
from model.alignment.baseline import diagonal
from model.alignment.corpus import JOINT, Aligned, Settings
from model.alignment.extract import Choice
from model.alignment.formats import GoldLinks, Message
from model.alignment.metrics import Counts
from model.alignment.report_pair import Labels, number, typed
from model.alignment.results import counts_of

LANGUAGES = ("en", "zh")
TRANSLATED = ("head", "row", "measure", "links", "symmetrization", "words")  # captions whose values may be names of ours
BLOCK = 1 << 16  # characters that are copied at once

NO_COUNTS = Counts(0, 0, 0, 0)


@dataclass
class Summary:
    """What is known when all pairs have gone by."""

    pairs: int = 0
    unaligned: int = 0
    links: int = 0
    scored: int = 0
    counts: Counts = NO_COUNTS
    diagonal: Counts = NO_COUNTS
    confidence: float = 0.0
    sized: int = field(default=0, repr=False)

    def take(self, aligned: Aligned, gold: GoldLinks | None) -> None:
        """Count one more pair."""
        self.pairs += 1
        self.links += len(aligned.links)
        if aligned.problem is not None:
            self.unaligned += 1
            return
        if aligned.scores.confidence == aligned.scores.confidence:  # a number
            self.confidence += aligned.scores.confidence
            self.sized += 1
        if gold is not None and (counts := counts_of(aligned, gold)):
            self.scored += 1
            self.counts = _sum(self.counts, counts)
            guessed = diagonal(len(aligned.source_words), len(aligned.target_words))
            self.diagonal = _sum(self.diagonal, Counts.of(guessed, gold.sure, gold.possible))


def html_report(
    results: Iterable[Aligned],
    gold: Iterable[GoldLinks | None] | None,
    caption: Mapping[str, str],
    language: str,
    file: TextIO,
    told: Callable[[Message], str] = str,
) -> Summary:
    """Write the report of pairs and of their gold links, which are in step with them (None: no gold of that pair).

    `caption` says how it was made (`caption_of`); values are text. `told` says in the report's language why a pair could not be
    aligned. Raises ValueError for a language that it does not speak.
    """
    labels = labels_of(language)
    summary = Summary()
    with_gold = gold is not None
    with tempfile.TemporaryFile("w+", encoding="utf-8") as body:  # the summary stands before the pairs, and is known after
        for aligned, right in zip(results, chain(gold or (), repeat(None)), strict=False):
            summary.take(aligned, right)
            body.write(pair_of.section(aligned, right, labels, told))
        body.seek(0)
        file.write(_head(labels, language))
        file.write(_settings(caption, labels))
        file.write(_summary(summary, labels))
        file.write(_idea(labels, with_gold and summary.scored > 0))
        while block := body.read(BLOCK):
            file.write(block)
    file.write(f"</main><script>{_asset('report.js')}</script></body></html>\n")
    return summary


def caption_of(
    model: str,
    choice: Choice,
    settings: Settings,
    *,
    languages: Sequence[str] = (),
    reverse: str = "",
    files: Sequence[str] = (),
    date: str = "",
) -> dict[str, str]:
    """How links were made, in the words of `html_report`. `files` are names, told as text; `date` is today if it is empty."""
    links = "argmax" if settings.threshold is None else f"> {settings.threshold}"
    if settings.symmetrize == JOINT:
        links = f"(weight + reverse weight) / 2 > {joint.ABOVE}, or > {joint.MUTUAL} and the largest of both words"
    joined = settings.symmetrize or "none"
    place = "mean" if choice.head is None else choice.head
    found = {
        "model": model,
        "languages": " → ".join(languages),
        "layer": str(choice.layer + 1),
        "head": "mean" if choice.head is None else str(choice.head + 1),
        "row": choice.row,
        "path": f"decoder.layers.{choice.layer}.cross_attention, head {place}",
        "measure": settings.measure,
        "links": links,
        "symmetrization": f"{joined} ({reverse})" if settings.symmetrize and reverse else joined,
        "words": "split" if settings.split_punctuation else "whole",
        "files": ", ".join(files),
        "date": date or calendar.today().isoformat(),
    }
    return {key: value for key, value in found.items() if value}


@cache
def labels_of(language: str) -> Labels:
    """Everything that the report says in a language, by dotted key."""
    if language not in LANGUAGES:
        raise ValueError(f"language={language!r} is unknown; choose one of {', '.join(LANGUAGES)}")
    found: dict[str, str] = {}
    entries: Mapping[str, Any] = tomllib.loads(_asset("report_labels.toml"))[language]
    for key, value in entries.items():
        found |= {f"{key}.{inner}": label for inner, label in value.items()} if isinstance(value, dict) else {key: value}
    return found


@cache
def _asset(name: str) -> str:
    return resources.files("model.alignment").joinpath(name).read_text("utf-8")


def _head(labels: Labels, language: str) -> str:
    """The beginning of the file. Its policy lets in its own style and script, and nothing from anywhere else."""
    style, script = (_digest(_asset(name)) for name in ("report.css", "report.js"))
    policy = f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"
    title = escape(labels["title"])
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">'
        f"<title>{title}</title><style>{_asset('report.css')}</style></head>\n<body><main><h1>{title}</h1>\n"
    )


def _settings(caption: Mapping[str, str], labels: Labels) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(labels.get(f"caption.{key}", key))}</th><td>{_value(key, value, labels)}</td></tr>'
        for key, value in caption.items()
    )
    return f'<h2>{escape(labels["settings"])}</h2><table id="settings"><tbody>{rows}</tbody></table>\n' if rows else ""


def _value(key: str, value: str, labels: Labels) -> str:
    known = key in TRANSLATED and f"value.{value}" in labels
    return escape(labels[f"value.{value}"]) if known else typed(value)


def _summary(summary: Summary, labels: Labels) -> str:
    """The numbers of all pairs, and with gold the measures, those of the diagonal beside them."""
    facts = {"pairs": str(summary.pairs), "unaligned": str(summary.unaligned), "links": str(summary.links)}
    if summary.sized:
        facts["confidence"] = number(summary.confidence / summary.sized)
    if summary.scored:
        facts["scored"] = str(summary.scored)
    rows = "".join(
        f'<tr><th scope="row">{escape(labels[f"sum.{key}"])}</th><td class="number">{value}</td></tr>'
        for key, value in facts.items()
    )
    made = f'<h2>{escape(labels["summary"])}</h2><table id="facts"><tbody>{rows}</tbody></table>\n'
    if not summary.scored:
        return made
    head = "".join(f'<th scope="col">{escape(labels[f"sum.{key}"])}</th>' for key in ("measure", "here", "diagonal"))
    body = "".join(
        f'<tr><th scope="row">{escape(labels[f"sum.{key}"])}</th>'
        + "".join(f'<td class="number">{number(getattr(counts, key))}</td>' for counts in (summary.counts, summary.diagonal))
        + "</tr>"
        for key in ("alignment_error_rate", "precision", "recall")
    )
    return f'{made}<table id="measures"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>\n'


def _idea(labels: Labels, with_gold: bool) -> str:
    said = [f"<p>{escape(labels['idea'])}</p>"]
    if with_gold:
        legend = "".join(pair_of.legend(kind, labels) for kind in pair_of.MARKS)
        said.append(f'<p>{escape(labels["idea_gold"])}</p><ul class="links legend">{legend}</ul>')
    said.append(f'<p class="quiet">{escape(labels["weak"])} {escape(labels["edited"])}</p>')
    return f"<h2>{escape(labels['pairs'])}</h2>{''.join(said)}\n"


def _digest(content: str) -> str:
    """How a policy names a style or a script that it lets in."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _sum(one: Counts, other: Counts) -> Counts:
    return Counts(
        one.links + other.links,
        one.sure + other.sure,
        one.links_in_sure + other.links_in_sure,
        one.links_in_possible + other.links_in_possible,
    )
