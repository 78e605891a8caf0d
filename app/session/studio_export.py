"""What is taken away from the Alignment studio: the bytes of each file, made when they are asked for.

Nothing here looks at the session: a download is made after the run that offered it, from the study as it then is.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from app.session.studio_study import Study
from model.translator import Translator

if TYPE_CHECKING:
    from model.alignment.corpus import Aligned
    from model.alignment.formats import GoldLinks, Message

LINK_FILES = {"pharaoh": "align", "naacl": "wa", "tsinghua": "tsinghua.align", "tsv": "links.tsv", "json": "links.json"}
WITH_WORDS = ("tsv", "json")  # these formats name the words of a link themselves
PAIR_FILES = {"tsv": "tsv", "csv": "csv", "jsonl": "jsonl", "tmx": "tmx", "xliff": "xlf", "lines": "zip"}
MATRICES = 200  # pairs whose matrices are put into one file

_UNSAFE = re.compile(r"[^\w.-]+")


def export_name(study: Study, ending: str) -> str:
    """A safe name for a file: letters, digits, dots and hyphens of the name of the upload, never a path, never hidden."""
    stem = re.split(r"[/\\]", study.upload.files[0].name if study.upload.files else study.name)[-1]
    stem = _UNSAFE.sub("_", stem.rpartition(".")[0] or stem).strip("._-")[:60]
    source, target = study.languages
    return f"{stem or 'pairs'}.{_UNSAFE.sub('_', source)}-{_UNSAFE.sub('_', target)}.{ending}"


def links_ending(study: Study, format: str) -> str:
    """What the name of a file of links ends in: a zip where the text whose words they count must come along."""
    return "links.zip" if _carries_text(study, format) else LINK_FILES[format]


def links_file(study: Study, format: str, *, gold: bool = False) -> bytes:
    """The links of all results, or what is taken to be right of these pairs, in a format of `write_alignments`.

    Where punctuation was split off, a format without words comes in a zip together with the text as it was split.
    """
    from model.alignment import results
    from model.alignment.formats import write_alignments

    aligned = list(study.results)
    file = io.BytesIO()
    rows = [results.with_links(one, study.gold_of(one.index)) for one in aligned] if gold else aligned
    write_alignments(rows, file, format)
    if not _carries_text(study, format):
        return file.getvalue()
    return _zipped({f"links.{LINK_FILES[format]}": file.getvalue(), **_text(study, aligned)})


def pairs_file(study: Study, format: str, *, words: bool = False) -> bytes:
    """The pairs in a format of `write_pairs`, as they were brought (or written by the model) or as their words were counted.

    "lines" is a zip of two text files whose lines belong together.
    """
    from model.alignment.formats import write_pairs

    rows = _split(study.results) if words else [(entry.source, entry.target) for entry in study.entries]
    if format == "lines":
        return _zipped(_lines(study, rows))
    file = io.BytesIO()
    write_pairs(rows, file, format, study.languages)
    return file.getvalue()


def results_file(study: Study, *, table: bool) -> bytes:
    """All that is known of each pair: a table with a row a pair, or JSON Lines."""
    from model.alignment import results

    aligned = list(study.results)
    lines = (results.table if table else results.json_lines)(aligned, _gold(study, aligned))
    return b"".join(results.encoded(lines))


def matrices_file(study: Study, atlas: Translator, indices: Sequence[int]) -> bytes:
    """The weights of every layer, head and row of these pairs, by the model that aligned them (`Study.made_by`).

    Pairs that could not be aligned are left out.
    """
    from model.alignment import corpus, results

    chosen = [one for one in (study.results[index] for index in indices) if one.problem is None]
    settings = study.made_by[2]
    weighed = ((one, corpus.weights_of(atlas, one.source, one.target, settings)) for one in chosen[:MATRICES])
    file = io.BytesIO()
    results.matrices_npz(weighed, caption_of(study), file)
    return file.getvalue()


def first_matrices(study: Study) -> range:
    """The pairs whose matrices one file takes: all, or as many of the first as are within the limit."""
    return range(min(study.done, MATRICES))


def report_file(study: Study, language: str, told: Callable[[Message], str]) -> bytes:
    """The HTML report of all results."""
    from model.alignment import report

    aligned = list(study.results)
    gold = _gold(study, aligned) if study.has_gold() else None
    page = io.StringIO()
    report.html_report(aligned, gold, caption_of(study), language, page, told)
    return page.getvalue().encode()


def caption_of(study: Study) -> dict[str, str]:
    """How the links were made that are there, as a report says it; settings that wait for new results are no part of it."""
    from model.alignment import report

    model, reverse, settings = study.made_by
    assert settings.choice is not None  # a study begins with the head of the model's card
    files = [file.name for file in (*study.upload.files, *([study.upload.links] if study.upload.links else []))]
    return report.caption_of(model, settings.choice, settings, languages=study.languages, reverse=reverse, files=files)


def _gold(study: Study, aligned: Iterable[Aligned]) -> list[GoldLinks | None]:
    return [study.gold_of(one.index) for one in aligned]


def _carries_text(study: Study, format: str) -> bool:
    return study.words_split and format not in WITH_WORDS


def _split(aligned: Iterable[Aligned]) -> list[tuple[str, str]]:
    """The two sides with a space between all words."""
    return [(" ".join(one.source_words), " ".join(one.target_words)) for one in aligned]


def _text(study: Study, aligned: Iterable[Aligned]) -> dict[str, bytes]:
    return _lines(study, _split(aligned))


def _lines(study: Study, rows: Iterable[tuple[str, str]]) -> dict[str, bytes]:
    """Two files whose lines belong together, named by language as in OPUS."""
    from model.alignment.formats import write_pairs

    files = (io.BytesIO(), io.BytesIO())
    write_pairs(rows, files, "lines")
    source, target = study.languages
    return {f"text.{source}-{target}.{side}": file.getvalue() for side, file in zip((source, target), files, strict=True)}


def _zipped(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()
