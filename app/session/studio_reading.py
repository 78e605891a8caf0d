"""From files to a study: which of them holds links, which model reads the pairs, in which direction, what looks wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from app.session import limits
from app.session.loading import damage, known_words, languages, load, models, reads, writes_on
from app.session.studio_pairs import flags_of, may_be
from app.session.studio_study import File, Reading, Study, Upload
from model.translator import Translator

if TYPE_CHECKING:
    from model.alignment.corpus import Settings
    from model.alignment.formats import Alignments, Entry, GoldLinks, Pairs, Problem

SAMPLE = 200  # pairs from which the languages are guessed
# A file of links holds little else: Pharaoh, TsinghuaAligner, NAACL, or GIZA++ with its comment lines.
_LINKS = re.compile(
    r"(?:\d+[-p?]\d+|\d+:\d+/[\d.]+)(?:[ \t]+(?:\d+[-p?]\d+|\d+:\d+/[\d.]+))*|\d+[ \t]+\d+[ \t]+\d+(?:[ \t]+[SP])?(?:[ \t]+[\d.]+)?"
)
_GIZA = re.compile(r"# Sentence pair \(?\d+")


def holds_links(file: File) -> bool:
    """Whether a file is one of links, from what its first lines hold (whatever it is called)."""
    beginning = file.content[:4000].decode("utf-8", "replace").lstrip("\N{ZERO WIDTH NO-BREAK SPACE}")
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", beginning) if line.strip()]
    if len(file.content) > 4000:
        lines = lines[:-1]
    return bool(lines) and (bool(_GIZA.match(lines[0])) or all(_LINKS.fullmatch(line) for line in lines))


def upload_of(files: Sequence[File], pasted: bool = False) -> Upload:
    """Files in the order in which they were given, told apart by what they hold."""
    links = [file for file in files if holds_links(file)] if len(files) > 1 else []
    texts = [file for file in files if file not in links]
    return Upload(tuple(texts), links[0] if links else None, " + ".join(file.name for file in texts), pasted)


def translators() -> tuple[str, ...]:
    """The models that can align: those that translate and can be loaded."""
    return tuple(name for name in models() if not writes_on(name) and not damage(name) and isinstance(load(name), Translator))


def models_for(source: str, target: str, found: tuple[str, str] = ("", "")) -> tuple[str, ...]:
    """The models that may read these pairs, from the languages that the file names, else from how they are written."""
    if all(found):
        if named := [name for name in translators() if set(languages(name)) == set(found)]:
            return tuple(named)
    return tuple(name for name in translators() if reads(name, source) and may_be(target, languages(name)[1]))


def reverse_of(name: str) -> str | None:
    """The model of the other direction, to symmetrise with; None if there is none."""
    wanted = languages(name)[::-1]
    return next((other for other in translators() if languages(other) == wanted), None)


def read(upload: Upload, reading: Reading, model: str = "", settings: Settings | None = None) -> Study:
    """Read pairs and links; `model` is the visitor's, kept where it fits. Raises FormatError where nothing can be read."""
    pairs, entries = _entries(upload, reading, None)
    chosen = choose_model(entries, pairs.languages, model)
    if set(pairs.languages) == set(languages(chosen)) and pairs.languages != languages(chosen) and reading.columns is None:
        pairs, entries = _entries(upload, reading, languages(chosen))
    if reading.swap:
        entries = [replace(entry, source=entry.target, target=entry.source) for entry in entries]
    links, gold = _gold(upload, reading, entries)
    problems: list[Problem] = [*pairs.problems, *(links.problems if links else ())]
    return Study(
        upload=upload,
        reading=reading,
        pairs=pairs,
        entries=entries,
        problems=problems,
        model=chosen,
        reverse=reverse_of(chosen),
        settings=settings or first_settings(chosen, split_punctuation=not any(gold)),
        languages=languages(chosen)[:2],
        gold=gold,
        links=links,
        flags=flags_of(entries, chosen),
    )


def first_settings(name: str, *, split_punctuation: bool) -> Settings:
    """The head that aligns best as the card has measured it; words as the file has them where links came along."""
    from model.alignment import corpus

    atlas = load(name)
    assert isinstance(atlas, Translator)
    return corpus.Settings(choice=corpus.default_choice(atlas), split_punctuation=split_punctuation)


def choose_model(entries: Sequence[Entry], found: tuple[str, str], wanted: str) -> str:
    """The visitor's own choice where it fits, else the first that does, else what there is."""
    sample = entries[:SAMPLE]
    fitting = models_for(" ".join(entry.source for entry in sample), " ".join(entry.target for entry in sample), found)
    known = translators()
    if wanted in fitting or (wanted in known and not fitting):
        return wanted
    return next((name for name in fitting if not known_words(name)), next(iter((*fitting, *known)), wanted))


def _entries(upload: Upload, reading: Reading, wanted: tuple[str, ...] | None) -> tuple[Pairs, list[Entry]]:
    from model.alignment import formats

    pairs = formats.read_pairs(
        [file.stream() for file in upload.files],
        format=reading.format,
        encoding=reading.encoding,
        columns=reading.columns,
        header=reading.header,
        languages=wanted,
        limits=formats.Limits(limits.MAX_UPLOAD, limits.MAX_PAIRS),
    )
    return pairs, list(islice(pairs.entries, limits.MAX_PAIRS))


def _gold(upload: Upload, reading: Reading, entries: Sequence[Entry]) -> tuple[Alignments | None, list[GoldLinks | None]]:
    """The links that came along: in a file of their own, else in a column of the pairs."""
    from model.alignment import formats

    file = upload.links
    if file is None and any(entry.links for entry in entries):
        file = File(upload.name, "".join(f"{entry.links}\n" for entry in entries).encode())
    if file is None:
        return None, []
    links = formats.read_alignments(
        file.stream(),
        pairs=[(entry.source, entry.target) for entry in entries],
        base=reading.base,
        format=reading.links_format,
        reverse=reading.reverse_links,
    )
    gold: list[GoldLinks | None] = list(islice(links.rows, len(entries)))
    return links, gold + [None] * (len(entries) - len(gold))
