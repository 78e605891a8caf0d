"""`read_pairs`: what is in this file, and how is it read?"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from model.alignment.formats import archive, detection, encodings, jsonfiles, lines, markup, parallel, tables
from model.alignment.formats import languages as names
from model.alignment.formats.columns import Column
from model.alignment.formats.encodings import Encoding
from model.alignment.formats.files import File, Given, files_of
from model.alignment.formats.link_detection import holds_links
from model.alignment.formats.pairs import PAIR_FORMATS, Entry, Limits, Pairs
from model.alignment.formats.problem import FormatError, Problem, Problems, add
from model.alignment.formats.subtitles import read_srt
from model.alignment.formats.xml import read_tmx, read_xliff

Two = tuple[str, str]

_SINGLE = ("tmx", "xliff", "json", "jsonl", "anki", "bars")  # both sides in one file
_TMX_LANGUAGE = re.compile(r"<tuv\b[^<>]*?\blang\s*=\s*[\"']([^\"'<>]{1,40})", re.IGNORECASE)
_TMX_SOURCE = re.compile(r"<(?:header|tu)\b[^<>]*?\bsrclang\s*=\s*[\"']([^\"'<>]{1,40})", re.IGNORECASE)
_XLIFF_LANGUAGE = re.compile(r"\b(?:source-language|target-language|srcLang|trgLang)\s*=\s*[\"']([^\"'<>]{1,40})")


@dataclass(frozen=True)
class Request:
    """What was asked for, beside the files."""

    encoding: str | None
    columns: tuple[Column, Column] | None
    header: bool | None
    languages: Two | None
    match: Literal["time", "number"]
    limits: Limits
    delimiter: str | None

    def encoding_of(self, file: File) -> Encoding:
        """The encoding that was asked for, with the plausible ones; else the one detected."""
        if self.encoding is None:
            return encodings.detect(file)
        name = encodings.canonical(self.encoding, file.name)
        try:
            plausible = encodings.detect(file).plausible
        except FormatError:  # no text to a detector, but somebody knows better
            plausible = ()
        return Encoding(tuple(dict.fromkeys([name, *plausible])), sure=True)


def read_pairs(
    files: Given | Sequence[Given],
    format: str | None = None,
    encoding: str | None = None,
    columns: tuple[Column, Column] | None = None,
    header: bool | None = None,
    *,
    languages: Two | None = None,
    match: Literal["time", "number"] = "time",
    limits: Limits | None = None,
    delimiter: str | None = None,
) -> Pairs:
    """Sentence pairs from a path or an open binary stream, or from two whose lines belong together.

    What is not said is detected. `columns` names source and target by index from 0, header or language; `languages` is the
    direction wanted, by which columns, keys and files are put in order where they name their languages; `match` is for
    subtitles. Raises FormatError for what cannot be read at all; the rest is in `.problems`, with file and line.
    """
    if format is not None and format not in PAIR_FORMATS:
        raise FormatError.of("unknown_format", given=format, choices=", ".join(PAIR_FORMATS))
    request = Request(encoding, columns, header, languages, match, limits or Limits(), delimiter)
    opened = files_of(files, request.limits)
    problems = Problems()
    if len(opened) == 1:
        pairs = _one(opened[0], format, request, problems)
    else:
        pairs = _two((opened[0], opened[1]), format, request, problems)
    wanted = _codes(languages) if languages else ("", "")
    own_words = pairs.format in ("tmx", "xliff")  # where each unit names its languages, so do their problems
    if languages and all(pairs.languages) and set(pairs.languages) != set(wanted) and not own_words:
        add(problems, "other_languages", file=opened[0].name, found=_and(pairs.languages), needed=_and(wanted))
    pairs = replace(pairs, limits=request.limits, problems=problems)
    if next(iter(replace(pairs, problems=Problems()).entries), None) is None:
        add(problems, "no_pairs", file=opened[0].name, format=pairs.format)
    return pairs


def _one(file: File, format: str | None, request: Request, problems: Problems) -> Pairs:
    if detection.is_zip(file.start) or format == "zip":
        two = archive.pair_of_files(file, request.languages, request.limits, problems)
        found = request.encoding_of(two[0]), request.encoding_of(two[1])
        return replace(_lines(two, found, request, problems), format="zip", files=(file.name,))
    written = request.encoding_of(file)
    detected, sure = (format, True) if format else detection.format_of(file, lines.sample(file, written.name))
    if detected in ("tmx", "xliff"):
        return _xml(file, detected, request)
    if detected == "srt":
        raise FormatError.of("one_of_two", file=file.name, format="srt")
    if format is None and detected not in ("json", "jsonl") and holds_links(file):
        raise FormatError.of("links_alone", file=file.name)
    open_one = {"lines": _alone, "bars": _bars, "json": _json, "jsonl": _json}.get(detected, _table)
    pairs = open_one(file, detected, written, request)
    return replace(
        pairs,
        format=detected,
        encoding=written.name,
        encodings=written.plausible,
        files=(file.name,),
        sure=pairs.sure and sure and written.sure,
    )


def _two(files: tuple[File, File], format: str | None, request: Request, problems: Problems) -> Pairs:
    if any(detection.is_zip(file.start) for file in files):
        raise FormatError.of("two_of_one", file=files[0].name, format="zip", given=2)
    found = request.encoding_of(files[0]), request.encoding_of(files[1])
    if format is None and (links := next(filter(holds_links, files), None)):
        raise FormatError.of("links_alone", file=links.name)
    samples = [lines.sample(file, one.name) for file, one in zip(files, found, strict=True)]
    each = [detection.format_of(file, first)[0] for file, first in zip(files, samples, strict=True)]
    kinds = set(each)
    for file, kind, first in zip(files, each, samples, strict=True):
        found_both = kind in _SINGLE or (kind == "tsv" and _has_tabs(first))
        if found_both if format is None else format not in ("lines", "srt"):
            raise FormatError.of("two_of_one", file=file.name, format=format or kind, given=2)
    if format is None and "srt" in kinds and kinds != {"srt"}:
        raise FormatError.of("one_of_two", file=files[each.index("srt")].name, format="srt")
    if format == "srt" or (format is None and kinds == {"srt"}):
        return _subtitles(files, found, request)
    return _lines(files, found, request, problems)


def _has_tabs(first: Sequence[str]) -> bool:
    """Whether most lines are rows of a table; a file of one column may be called .tsv as well."""
    filled = [line for line in first if line.strip()]
    return 2 * sum("\t" in line for line in filled) > len(filled)


def _lines(files: tuple[File, File], found: tuple[Encoding, Encoding], request: Request, problems: Problems) -> Pairs:
    files, found, spoken = _in_order(files, found, request.languages)
    both = found[0].name, found[1].name
    parallel.check_counts(files, both, problems)
    pairs = Pairs(partial(parallel.two_files, files, both), "lines", languages=spoken)
    return _of_two(pairs, files, found)


def _subtitles(files: tuple[File, File], found: tuple[Encoding, Encoding], request: Request) -> Pairs:
    files, found, spoken = _in_order(files, found, request.languages)
    both, called = (found[0].name, found[1].name), (files[0].name, files[1].name)

    def read(problems: list[Problem]) -> Iterator[Entry]:
        with files[0].open() as source, files[1].open() as target:
            yield from read_srt(source, target, request.match, problems, encodings=both, names=called)

    return _of_two(Pairs(read, "srt", languages=spoken), files, found)


def _in_order(
    files: tuple[File, File], found: tuple[Encoding, Encoding], wanted: Two | None
) -> tuple[tuple[File, File], tuple[Encoding, Encoding], Two]:
    """Two files turned round if their names say that they are in the other direction; and their languages."""
    spoken = _languages_of_names(files[0].name, files[1].name)
    if wanted and all(spoken) and spoken == _codes(wanted)[::-1]:
        return (files[1], files[0]), (found[1], found[0]), (spoken[1], spoken[0])
    return files, found, spoken


def _of_two(pairs: Pairs, files: tuple[File, File], found: Sequence[Encoding]) -> Pairs:
    """What is known of two files; of their encodings those of the one that is in doubt."""
    doubtful = found[1] if found[0].sure and not found[1].sure else found[0]
    return replace(
        pairs,
        files=(files[0].name, files[1].name),
        encoding=doubtful.name,
        encodings=doubtful.plausible,
        sure=found[0].sure and found[1].sure,
    )


def _alone(file: File, format: str, found: Encoding, request: Request) -> Pairs:
    return Pairs(partial(parallel.alone, file, found.name), format, languages=(names.language(file.suffix), ""), alone=True)


def _bars(file: File, format: str, found: Encoding, request: Request) -> Pairs:
    return Pairs(partial(parallel.bars, file, found.name), format)


def _json(file: File, format: str, found: Encoding, request: Request) -> Pairs:
    opened = jsonfiles.open_records(file, found.name, format == "jsonl", request.languages, request.columns)
    keys = opened.keys
    return Pairs(opened.entries, format, names=keys.named, languages=keys.languages, sure=keys.sure, alone=keys.target is None)


def _table(file: File, format: str, found: Encoding, request: Request) -> Pairs:
    kind: Literal["tsv", "csv", "anki"] = "anki" if format == "anki" else "csv" if format == "csv" else "tsv"
    table = tables.open_table(file, found.name, kind, request.columns, request.header, request.languages, request.delimiter)
    layout = table.layout
    return Pairs(
        table.entries,
        format,
        delimiter=table.dialect.delimiter,
        header=layout.header,
        columns=layout.columns,
        names=layout.names,
        languages=(layout.languages[0], "") if layout.alone and table.keys is None else layout.languages,
        sure=layout.sure,
        alone=layout.alone and table.keys is None,
    )


def _xml(file: File, format: str, request: Request) -> Pairs:
    start = file.start
    declared = markup.declared_encoding(start) if request.encoding is None else encodings.canonical(request.encoding, file.name)
    text = start.decode(declared, "replace")
    if format == "tmx":
        named = _all_codes(_TMX_SOURCE.findall(text)[:1] + _TMX_LANGUAGE.findall(text))
    else:
        named = _all_codes(_XLIFF_LANGUAGE.findall(text))
    spoken = (named[0], named[1]) if len(named) > 1 else ("", "")
    if request.languages and set(_codes(request.languages)) <= set(named):
        spoken = _codes(request.languages)

    encoding = None if request.encoding is None else declared

    def read(problems: list[Problem], alone: bool = False) -> Iterator[Entry]:
        with file.open() as stream:
            if format == "tmx":
                yield from read_tmx(stream, request.languages, problems, encoding)
            else:
                yield from read_xliff(stream, request.languages, problems, encoding, alone=alone)

    def has_entries(alone: bool) -> bool:
        return next(read(Problems().again(), alone), None) is not None

    alone = format == "xliff" and not has_entries(alone=False) and has_entries(alone=True)  # still to be translated
    shown = encodings.ALIASES.get(declared, encodings.BY_CODEC.get(declared, declared))
    plausible = tuple(dict.fromkeys([shown, *encodings.ENCODINGS[:5]]))
    return Pairs(partial(read, alone=alone), format, shown, (file.name,), languages=spoken, encodings=plausible, alone=alone)


def _languages_of_names(first: str, second: str) -> Two:
    """The languages of two files by the parts in which their names differ (`news.en`, `news.fr`; `en.txt`, `fr.txt`)."""
    parts = [re.split(r"[._ -]", name) for name in (first, second)]
    if len(parts[0]) == len(parts[1]):
        for left, right in zip(*parts, strict=True):
            if left != right and names.language(left) and names.language(right):
                return names.language(left), names.language(right)
    return names.language(parts[0][-1]), names.language(parts[1][-1])


def _codes(languages: Two) -> Two:
    source, target = (names.language(code) or code for code in languages)
    return source, target


def _all_codes(tags: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names.language(tag) or tag.lower() for tag in tags if tag != "*all*"))


def _and(languages: Two) -> str:
    return " and ".join(languages)
