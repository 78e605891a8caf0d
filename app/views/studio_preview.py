"""What was understood of the files, before any work: format, encoding, columns, direction, counts, first rows, problems by line.

Everything can be corrected; the same bytes are then read again.
"""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from app import session
from app.text import has, text
from app.views import html, linked
from app.views.studio_input import problem_html
from model.alignment.formats import LINK_FORMATS, PAIR_FORMATS
from model.alignment.formats.encodings import ENCODINGS
from model.alignment.words import words

FOUND = "found"  # the choice "as found"
ROWS, LISTED, COMPARED = 5, 12, 4  # first rows, problems and encodings that are shown at once
LONGEST = 500  # characters of a sentence that are shown here; a line may have millions
TABLES = ("tsv", "csv", "anki")


def show(study: session.Study) -> None:
    """Draw it: as a card while nothing was begun, folded away afterwards."""
    if study.state == "ready":
        with st.container(border=True, key="studio_preview"):
            html.heading("studio.preview")
            _content(study)
    else:
        with st.expander(text("studio.preview_again"), key="studio_preview_again", on_change="rerun") as folded:
            if folded.open:
                with st.container(key="studio_reading"):
                    _content(study)


def _content(study: session.Study) -> None:
    html.bullets(facts(study))
    for sample in session.study_samples():
        if sample.upload == study.upload:
            html.prose("studio.look", kind="quiet", look=html.Ours(sample.looks[session.current().language]))
    _warnings(study)
    _first_rows(study)
    if not study.pairs.sure and not study.upload.pasted:
        _encodings(study)
    _problems(study)
    html.prose("studio.correct", kind="quiet")
    _correct(study)


def facts(study: session.Study) -> list[str]:
    """What was understood, a sentence each."""
    pairs = study.pairs
    source, target = (html.Ours(_language(name)) for name in study.languages)
    said = [html.sentence("studio.fact_files", files=study.name, format=format_name(pairs.format))]
    if pairs.encoding and not study.upload.pasted:
        said.append(html.sentence("studio.fact_encoding", encoding=html.Ours(pairs.encoding.upper())))
    if pairs.format in TABLES:
        said.append(_fact_columns(study))
    key = "studio.fact_alone" if study.alone else "studio.fact_pairs"
    said.append(html.sentence(key, count=f"{study.total:,}", source=source, target=target, model=html.Ours(study.model)))
    if any(study.pairs.languages):
        found = text("studio.comma").join(_language(name) if name else "?" for name in study.pairs.languages)
        said.append(html.sentence("studio.fact_languages", found=html.Ours(found)))
    if study.links is not None:
        count = study.once("linked", (), lambda: sum(links is not None and bool(links.possible) for links in study.gold))
        file = study.upload.links.name if study.upload.links else study.name
        name = html.Ours(_links_name(study.links.format))
        said.append(html.sentence("studio.fact_links", file=file, format=name, base=study.links.base, count=f"{count:,}"))
        if study.links.null_links:
            said.append(html.sentence("studio.fact_null", count=f"{study.links.null_links:,}"))
    said.append(html.sentence("studio.fact_split" if study.split_punctuation else "studio.fact_whole"))
    return said


def _language(name: str) -> str:
    """A language as the page calls it; one that it does not know by its code."""
    return text(f"languages.{name}") if has(f"languages.{name}") else name


def _links_name(format: str) -> str:
    """A format of links as it is called on the page."""
    return text(f"studio.links_{format}")


def format_name(format: str) -> html.Ours:
    """A format of pairs as it is called on the page."""
    return html.Ours(text(f"studio.format_{format}"))


def _fact_columns(study: session.Study) -> str:
    pairs = study.pairs
    delimiter = {"\t": text("studio.tab"), None: ""}.get(pairs.delimiter, f"“{pairs.delimiter}”")
    source, target = (_column(study, index) for index in pairs.columns or (0, 0))
    if source == target:  # sources alone, or both sides in one cell
        return html.sentence("studio.fact_column", column=source)
    key = "studio.fact_columns" if pairs.header else "studio.fact_columns_headless"
    return html.sentence(key, delimiter=html.Ours(delimiter), source=source, target=target)


def _column(study: session.Study, index: int) -> str:
    name = study.pairs.names[index] if index < len(study.pairs.names) else ""
    return html.Ours(text("studio.column", number=index + 1)) if not name else f"{index + 1} · {name}"


def _warnings(study: session.Study) -> None:
    """What looks wrong about pairs, counted; the list can be filtered by it."""
    counted = session.count_flags(study)
    for flag, count in counted.items():
        languages = {"source": study.languages[0], "target": study.languages[1]}
        values = {
            side: html.Ours(text(f"languages.{name}")) if has(f"languages.{name}") else name for side, name in languages.items()
        }
        html.notice(
            "warning", f"studio.flag_{flag}", count=f"{count:,}", total=f"{study.total:,}", model=html.Ours(study.model), **values
        )


def _first_rows(study: session.Study) -> None:
    no_target = html.sentence("studio.no_target") if study.alone else ""
    rows = [
        (f"{entry.line:,}", _words(entry.source, study), _words(entry.target, study) or no_target)
        for entry in study.entries[:ROWS]
    ]
    if not rows:
        return
    columns = {text("studio.line_title"): "number", text("studio.source"): "rich", text("studio.target"): "rich"}
    html.table(columns, rows, text("studio.first_rows", count=len(rows), total=f"{study.total:,}"))


def _words(written: str, study: session.Study) -> str:
    """A sentence with its words set apart, as they are counted."""
    found = words(written[:LONGEST], study.split_punctuation)
    return " ".join(html.literal(word) for word in found) + (" …" if len(written) > LONGEST else "")


def _encodings(study: session.Study) -> None:
    """Detection was unsure: the same row under each encoding, to compare."""
    html.notice("warning", "studio.unsure")
    found = study.once("encodings", (), lambda: session.under_encodings(study, COMPARED))  # reads the file for each
    rows = [(name, *(side[:LONGEST] for side in sides)) for name, *sides in found]
    columns = {text("studio.encoding"): "code", text("studio.source"): "word", text("studio.target"): "word"}
    html.table(columns, [(html.Ours(name.upper()), *sides) for name, *sides in rows], text("studio.encodings"))


def _problems(study: session.Study) -> None:
    if not study.problems:
        return
    html.prose("studio.problems", count=f"{len(study.problems):,}")
    html.bullets([problem_html(problem) for problem in study.problems[:LISTED]])
    if rest := study.problems[LISTED:]:
        with st.expander(text("studio.more_problems", count=f"{len(rest):,}")):
            html.bullets([problem_html(problem) for problem in rest])


def _correct(study: session.Study) -> None:
    """What was understood, as widgets."""
    pairs, reading = study.pairs, study.reading
    with st.container(horizontal=True, key="studio_correct", vertical_alignment="bottom"):
        _choose("model", session.translators(), study.model, _use_model(study), str)
        _choose("format", (FOUND, *PAIR_FORMATS), reading.format or FOUND, _reread("format"), _format_option(study))
        if not study.upload.pasted:  # what a browser sends has no encoding to be found out
            _choose("encoding", _encoding_options(study), reading.encoding or FOUND, _reread("encoding"), _encoding_option(study))
        if pairs.format in TABLES and len(pairs.names) > 1:
            columns = tuple(range(len(pairs.names)))
            taken = pairs.columns or (0, 1)
            for place, side in enumerate(("source_column", "target_column")):
                _choose(side, columns, taken[place], _put_column(place, taken), lambda index: str(_column(study, index)))
    with st.container(horizontal=True, key="studio_switches"):
        if pairs.format in TABLES:
            _switch("header", pairs.header, lambda on: session.correct_reading(header=on))
        if pairs.format == "srt":
            _switch("by_number", reading.match == "number", lambda on: session.correct_reading(match="number" if on else "time"))
        if not study.alone:
            _switch("swap", reading.swap, lambda on: session.correct_reading(swap=on))
        if study.links is None:  # which counts the words as they stand in the file
            _switch("split", study.split_punctuation, session.split_punctuation)
    if study.links is not None:
        with st.container(horizontal=True, key="studio_links", vertical_alignment="bottom"):
            if study.upload.links is not None:
                formats = (FOUND, *LINK_FORMATS)
                _choose(
                    "links_format", formats, reading.links_format or FOUND, _reread("links_format"), _as_found(study.links.format)
                )
            _choose(
                "base",
                (0, 1),
                study.links.base,
                lambda base: session.correct_reading(base=base),
                lambda base: text(f"studio.base_{base}"),
            )
            _switch("reverse_links", reading.reverse_links, lambda on: session.correct_reading(reverse_links=on))


def _choose(name: str, options: Sequence[Any], value: Any, take: Callable[[Any], None], shown: Callable[[Any], str]) -> None:
    key = f"studio_{name}"
    linked.show(key, value if value in options else options[0])
    st.selectbox(
        text(f"studio.ask_{name}"), options, key=key, format_func=shown, width=270,
        on_change=linked.fresh(key, lambda: take(st.session_state[key])),
    )  # fmt: skip


def _switch(name: str, value: bool, take: Callable[[bool], None]) -> None:
    key = f"studio_{name}"
    linked.show(key, value)
    st.toggle(text(f"studio.ask_{name}"), key=key, on_change=linked.fresh(key, lambda: take(st.session_state[key])))


def _reread(name: str) -> Callable[[Any], None]:
    return lambda value: session.correct_reading(**{name: None if value == FOUND else value})


def _put_column(place: int, taken: tuple[int, int]) -> Callable[[int], None]:
    """Another column for one side; the side that had it takes this one's."""

    def put(index: int) -> None:
        other = taken[1 - place] if taken[1 - place] != index else taken[place]
        session.correct_reading(columns=(index, other) if place == 0 else (other, index))

    return put


def _use_model(study: session.Study) -> Callable[[str], None]:
    """Another model: before any work the files are read again for its languages; afterwards it may begin again."""

    def use(name: str) -> None:
        if study.state == "ready":
            session.correct_reading(model=name)
        else:
            session.put_model(name)
        session.select(model=name)

    return use


def _as_found(found: str) -> Callable[[str], str]:
    return lambda name: text("studio.as_found", name=_links_name(found)) if name == FOUND else _links_name(name)


def _format_option(study: session.Study) -> Callable[[str], str]:
    def shown(name: str) -> str:
        return text("studio.as_found", name=format_name(study.pairs.format)) if name == FOUND else format_name(name)

    return shown


def _encoding_options(study: session.Study) -> tuple[str, ...]:
    return tuple(dict.fromkeys((FOUND, *study.pairs.encodings, *ENCODINGS)))


def _encoding_option(study: session.Study) -> Callable[[str], str]:
    return lambda name: text("studio.as_found", name=study.pairs.encoding.upper()) if name == FOUND else name.upper()
