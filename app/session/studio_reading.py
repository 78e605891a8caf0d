"""From files to a study: which of them holds links, which model reads the pairs, in which direction, what looks wrong."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, zip_longest

import streamlit as st

from app.session import limits
from app.session.common_words import may_be
from app.session.listed_file import UNKNOWN
from app.session.loading import known_words, languages, load, loaded, models, reads
from app.session.speaking import is_foreign
from app.session.studio_pairs import flags_of
from app.session.studio_study import File, Reading, Study, Upload
from model.alignment import corpus, forced, formats
from model.alignment.choices import Reason, default_with_reason, threshold_of
from model.alignment.corpus import Settings
from model.alignment.extract import Choice
from model.alignment.formats import (
    Alignments,
    Entry,
    FormatError,
    GoldLinks,
    Pairs,
    Problem,
    files,
    link_detection,
    read_alignments,
)
from model.alignment.formats.problem import Message
from model.translator import Translator

WITHOUT_LINES = ("tmx", "xliff", "srt", "json")  # formats in which a pair is no line
_HEADS = "atlas_kept_heads"
PASTED = 1024**2  # bytes of a text that is pasted where no file may be brought
SAMPLE = 200  # pairs from which the languages are guessed


def holds_links(file: File) -> bool:
    """Whether a file is one of links, from what its first lines hold (whatever it is called)."""
    return link_detection.holds_links(files.File(file.stream()))


def upload_of(given: Sequence[File], before: Upload | None = None, *, pasted: bool = False) -> Upload:
    """Files in the order in which they were given, told apart by what they hold.

    A file of links alone belongs to the pairs that were brought `before`.
    """
    links = [file for file in given if holds_links(file)]
    texts = [file for file in given if file not in links]
    spare = tuple(file.name for file in links[1:])
    if links and not texts:
        if before is not None:
            return before._replace(links=links[0], spare=spare)
        links, texts = [], links
    return Upload(tuple(texts), links[0] if links else None, " + ".join(file.name for file in texts), pasted, spare)


def translators() -> tuple[str, ...]:
    """The models that can align: those that translate and can be loaded."""
    return tuple(name for name, atlas in loaded(models()).items() if isinstance(atlas, Translator))


def models_for(source: str, target: str, found: tuple[str, str] = ("", "")) -> tuple[str, ...]:
    """The models that may read these pairs, from the languages that the file names, else from how they are written."""
    named = tuple(name for name in translators() if set(languages(name)) == set(found))
    if all(found) and named:
        return named
    return tuple(name for name in translators() if reads(name, source) and may_be(target, languages(name)[1]))


def reverse_of(name: str) -> str | None:
    """The model of the other direction, to symmetrise with; None if there is none."""
    wanted = languages(name)[::-1]
    others = [other for other in translators() if other != name and is_foreign(other) == is_foreign(name)]
    return None if UNKNOWN in wanted else next((other for other in others if languages(other) == wanted), None)


def read(upload: Upload, reading: Reading, model: str = "", settings: Settings | None = None) -> Study:
    """Read pairs and links; `model` is the visitor's, kept where it fits. Raises FormatError where nothing can be read."""
    pairs, entries = _entries(upload, reading, None)
    as_found = reading.swap or reading.columns is not None  # the visitor says which side is which
    if not as_found and all(pairs.languages):  # a file may hold more languages than the two it names first
        pairs, entries = _in_languages(upload, reading, reading.model or model) or (pairs, entries)
    chosen = reading.model or choose_model(entries, pairs.languages, model)
    wanted = (languages(chosen)[0], languages(chosen)[1])
    if not as_found and pairs.languages != wanted and set(pairs.languages) == set(wanted):
        pairs, entries = _entries(upload, reading, wanted)
    problems: list[Problem] = [*pairs.problems]
    if all(pairs.languages) and set(pairs.languages) != set(wanted):
        found, needed = (", ".join(both) for both in (pairs.languages, wanted))
        problems.append(Problem(None, Message.of("other_languages", file=upload.files[0].name, found=found, needed=needed)))
    if upload.links and upload.spare:
        left = ", ".join(upload.spare)
        problems.append(
            Problem(None, Message.of("several_links", file=upload.links.name, given=1 + len(upload.spare), left=left))
        )
    links: Alignments | None = None
    gold: list[GoldLinks | None] = []
    try:
        links, gold = _gold(upload, reading, pairs, entries)
    except FormatError as error:  # the pairs can be read without them
        problems.append(error.problem)
    problems += links.problems if links else ()
    return Study(
        upload=upload,
        reading=reading,
        pairs=pairs,
        entries=entries,
        problems=problems,
        model=chosen,
        reverse=reverse_of(chosen),
        settings=_settings(chosen, settings, gold),
        languages=wanted,
        gold=gold,
        links=links,
        flags=flags_of(entries, chosen, alone=pairs.alone),
    )


def first_settings(name: str, *, split_punctuation: bool) -> Settings:
    """The head that the visitor kept for this model, else the one that aligns best as the card has measured it."""
    return usual(name, Settings(choice=kept_head(name) or default_head(name)[0], split_punctuation=split_punctuation))


def usual(name: str, settings: Settings) -> Settings:
    """These settings with the threshold that belongs to their head by the card of the model; argmax where it names none."""
    choice = settings.choice or default_head(name)[0]
    return replace(settings, threshold=threshold_of(load(name).card, choice, settings.measure, settings.symmetrize))


def keep_head(name: str, choice: Choice) -> None:
    """What the visitor wants to align with whenever this model is taken."""
    st.session_state.setdefault(_HEADS, {})[name] = choice


def kept_head(name: str) -> Choice | None:
    """The head that the visitor kept for a model, if one was."""
    found: Choice | None = st.session_state.get(_HEADS, {}).get(name)
    return found


def default_head(name: str) -> tuple[Choice, Reason]:
    """Where a model's links are taken from unless somebody chooses, and why there."""
    atlas = load(name)
    assert isinstance(atlas, Translator)
    return default_with_reason(atlas)


def measures_of(name: str) -> tuple[str, ...]:
    """What a model's links may be measured by."""
    atlas = load(name)
    assert isinstance(atlas, Translator)
    return forced.measures_of(atlas)


def shape_of(name: str) -> tuple[int, int]:
    """How many decoder layers and heads there are to choose from."""
    config = load(name).config
    return config.decoder_layers, config.heads_of(corpus.CROSS)


def _settings(name: str, before: Settings | None, gold: Sequence[GoldLinks | None]) -> Settings:
    """Words are those of the file where links came along, which count them; else punctuation is split off."""
    if any(links is not None for links in gold):
        return first_settings(name, split_punctuation=False)
    return first_settings(name, split_punctuation=before.split_punctuation if before else True)


def choose_model(entries: Sequence[Entry], found: tuple[str, str], wanted: str) -> str:
    """The visitor's own choice where it fits, else the first that does, else what there is."""
    sample = entries[:SAMPLE]
    fitting = models_for(" ".join(entry.source for entry in sample), " ".join(entry.target for entry in sample), found)
    known = translators()
    if wanted in fitting or (wanted in known and not fitting):
        return wanted
    return next((name for name in fitting if not known_words(name)), next(iter((*fitting, *known)), wanted))


def _entries(
    upload: Upload, reading: Reading, wanted: tuple[str, str] | None, most: int | None = None
) -> tuple[Pairs, list[Entry]]:
    """The files read in one way, and their pairs: all within the limit, or the first so many."""
    pairs = formats.read_pairs(
        [file.stream() for file in upload.files],
        format=reading.format,
        encoding=reading.encoding or ("utf-8" if upload.pasted else None),
        columns=reading.columns,
        header=reading.header,
        languages=wanted,
        match=reading.match,
        limits=formats.Limits(most_bytes(), limits.MAX_PAIRS),
    )
    entries = list(islice(pairs.entries, limits.MAX_PAIRS if most is None else most))
    if reading.swap:
        entries = [replace(entry, source=entry.target, target=entry.source) for entry in entries]
    return pairs, entries


def _in_languages(upload: Upload, reading: Reading, name: str) -> tuple[Pairs, list[Entry]] | None:
    """The pairs in the languages of a model, in its direction; None where there is none or the file holds others."""
    if name not in translators():
        return None
    wanted = (languages(name)[0], languages(name)[1])
    pairs, entries = _entries(upload, reading, wanted)
    return (pairs, entries) if entries and pairs.languages == wanted else None


def under_encodings(study: Study, most: int) -> list[tuple[str, str, str]]:
    """The first pair with a letter beyond ASCII under each plausible encoding, to compare: encoding, source, target."""
    at = next((index for index, entry in enumerate(study.entries) if not (entry.source + entry.target).isascii()), 0)
    found = []
    for encoding in study.pairs.encodings[:most]:
        with suppress(FormatError):
            _, entries = _entries(study.upload, replace(study.reading, encoding=encoding), None, at + 1)
            if len(entries) > at:
                found.append((encoding, entries[at].source, entries[at].target))
    return found


def check_size(file: File) -> None:
    """Raises FormatError for a file of links that is over the limit."""
    if len(file.content) > most_bytes():
        raise FormatError.of("too_large", file=file.name, given=len(file.content), limit=most_bytes())


def most_bytes() -> int:
    """The size of a file that is read; where none may be brought, of a pasted text and of a sample."""
    return limits.MAX_UPLOAD or PASTED


def _gold(
    upload: Upload, reading: Reading, pairs: Pairs, entries: Sequence[Entry]
) -> tuple[Alignments | None, list[GoldLinks | None]]:
    """The links that came along: in a file of their own, else in a column of the pairs."""
    file = upload.links
    places: list[int | None] = list(range(len(entries)))
    if file is not None:
        check_size(file)
        places = _places(pairs, entries, file)
    elif any(entry.links for entry in entries):
        file = File(upload.name, "".join(f"{entry.links}\n" for entry in entries).encode())
    if file is None:
        return None, []
    rows = [(entries[place].source, entries[place].target) if place is not None else ("", "") for place in places]
    links = read_alignments(
        file.stream(), pairs=rows, base=reading.base, format=reading.links_format, reverse=reading.reverse_links
    )
    gold: list[GoldLinks | None] = [None] * len(entries)
    for place, row in zip_longest(places, links.rows):  # to the end of the links: what is too much there is told at their end
        if place is not None and row is not None:
            gold[place] = row
    return links, gold


def _places(pairs: Pairs, entries: Sequence[Entry], file: File) -> list[int | None]:
    """The pair of each row of a file of links: they are in step with the pairs, or else with the lines of their file."""
    by_line: list[int | None] = []
    for index, entry in enumerate(entries):
        by_line += [None] * (entry.line - 1 - pairs.header - len(by_line))
        by_line.append(index)
    if len(by_line) == len(entries) or pairs.format in WITHOUT_LINES:
        return list(range(len(entries)))
    most = 2 * max(len(by_line), len(entries))  # numbers of sentences may leap: what is farther off decides nothing
    given = sum(1 for _ in islice(read_alignments(file.stream()).rows, most))
    return by_line if abs(given - len(by_line)) < abs(given - len(entries)) else list(range(len(entries)))
