"""Taking away: links, gold and hand-made links, pairs, scores, matrices, a report; each made when it is asked for."""

from collections.abc import Callable

import streamlit as st

from app import session
from app.text import has, language, text, use
from app.views import html, studio_list
from model.alignment.formats import Message
from model.translator import Translator

Make = Callable[[], bytes]


def show(study: session.Study) -> None:
    """Draw it for a study that has results."""
    source, target = (html.Ours(text(f"languages.{name}") if has(f"languages.{name}") else name) for name in study.languages)
    html.prose("studio_out.idea", source=source, target=target)
    if study.words_split:
        html.notice("info", "studio_out.split")
    if study.done < study.total:
        html.prose("studio_out.partial", done=study.done, total=study.total)
    _links(study, gold=False)
    if study.has_gold():
        _links(study, gold=True)
    _pairs(study)
    _results(study)
    _matrices(study)
    _report(study)


def _links(study: session.Study, *, gold: bool) -> None:
    kind = "gold" if gold else "links"
    html.prose("studio_out.gold" if gold else "studio_out.links")
    with st.container(horizontal=True, key=f"studio_out_{kind}"):
        for format in session.LINK_FILES:
            ending = session.links_ending(study, format)
            _button(
                text(f"studio_out.format_{format}"),
                session.export_name(study, f"gold.{ending}" if gold else ending),
                lambda format=format: session.links_file(study, format, gold=gold),  # type: ignore[misc]
                f"{kind}_{format}",
            )


def _pairs(study: session.Study) -> None:
    html.prose("studio_out.pairs")
    with st.container(horizontal=True, key="studio_out_pairs"):
        for format, ending in session.PAIR_FILES.items():
            _button(
                text(f"studio_out.format_{format}"),
                session.export_name(study, ending),
                lambda format=format: session.pairs_file(study, format),  # type: ignore[misc]
                f"pairs_{format}",
            )
        _button(
            text("studio_out.words"),
            session.export_name(study, "words.zip"),
            lambda: session.pairs_file(study, "lines", words=True),
            "words",
        )


def _results(study: session.Study) -> None:
    html.prose("studio_out.results")
    with st.container(horizontal=True, key="studio_out_results"):
        for format, ending in (("tsv", "scores.tsv"), ("jsonl", "results.jsonl")):
            _button(
                text(f"studio_out.format_{format}"),
                session.export_name(study, ending),
                lambda format=format: session.results_file(study, table=format == "tsv"),  # type: ignore[misc]
                f"results_{format}",
            )


def _matrices(study: session.Study) -> None:
    atlas, index = session.load(study.made_by[0]), studio_list.opened(study)
    assert isinstance(atlas, Translator)  # no other model aligns
    html.prose("studio_out.matrices")
    with st.container(horizontal=True, key="studio_out_matrices"):
        _button(
            text("studio_out.matrices_one", number=index + 1),
            session.export_name(study, f"pair-{index + 1}.npz"),
            lambda: session.matrices_file(study, atlas, [index]),
            "matrices_one",
        )
        several = session.first_matrices(study)
        key = "studio_out.matrices_all" if len(several) == study.done else "studio_out.matrices_first"
        _button(
            text(key, count=len(several), total=study.done),
            session.export_name(study, "matrices.npz"),
            lambda: session.matrices_file(study, atlas, several),
            "matrices_all",
        )


def _report(study: session.Study) -> None:
    html.prose("studio_out.report")
    spoken = language()
    _button(
        text("studio_out.format_html"),
        session.export_name(study, "html"),
        lambda: session.report_file(study, spoken, lambda message: _told(message, spoken)),
        "report",
    )


def _button(label: str, name: str, make: Make, key: str) -> None:
    st.download_button(
        label,
        data=make,
        file_name=name,
        mime="application/octet-stream",  # a browser keeps it as it is, and never opens it in the place of the page
        icon=":material/download:",
        help=f"`{name}`",  # what is saved; the name is safe, so that it holds no markup
        on_click="ignore",
        key=f"studio_out_{key}",
    )


def _told(message: Message, spoken: str) -> str:
    """What a pair's problem is, in the language of the page that offered the download."""
    use(spoken)
    key = f"studio.problem_{message.code}"
    return text(key, **message.values) if has(key) else str(message)
