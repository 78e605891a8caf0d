"""Alignment studio: matrices that were brought, as an aligner: where their links come from, what does not fit, their files."""

from dataclasses import replace
from typing import Any

import streamlit as st

from app import session
from app.text import text
from app.views import html, linked, own_told, studio_settings
from model.page.view import attentions_of

CROSS = "decoder.cross_attention"
SHOWN = 8  # of what does not fit
FORMATS = ("pharaoh", "tsv", "json")


def offer(study: session.Study) -> None:
    """A button for what lies on the page Your own model."""
    found = session.brought_matrices()
    if found is None or CROSS not in attentions_of(found.matrices.traces[0]) or f"matrices:{found.name}" in session.rivals(study):
        return
    html.prose("studio_matrices.there", kind="quiet", name=found.name)  # a button's label would read a name as markup
    st.button(
        text("studio_matrices.take"),
        key="studio_matrices_take",
        icon=":material/grid_on:",
        on_click=session.add_matrices,
        args=(study, found.name, found.matrices),
    )


def show(study: session.Study) -> None:
    """Every file of matrices of this study."""
    for place, (id, rival) in enumerate(list(session.rivals(study).items())):
        if isinstance(rival, session.MatrixRival):
            _one(study, id, rival, place)


def side_name(rival: session.MatrixRival) -> str:
    return text("studio_matrices.side", name=rival.name)


def _one(study: session.Study, id: str, rival: session.MatrixRival, place: int) -> None:
    if rival.refused is not None:
        said = own_told.problem(rival.refused.code, rival.refused.values, rival.refused.file, rival.refused.place)
        st.html(f'<div class="atlas-notice error" role="alert">{said}</div>')
        return
    with st.container(border=True, key=f"studio_matrices_{place}"):
        if rival.state == "failed":
            html.notice("error", "studio_matrices.none", name=rival.name)
        else:
            count = sum(one is not None for one in rival.weights)
            html.heading("studio_matrices.title", name=rival.name, count=f"{count:,}", total=f"{len(rival.weights):,}")
            _choice(study, id, rival, place)
            _best(study, id, rival, place)
            _files(study, rival, place)
        _misfits(rival)


def _choice(study: session.Study, id: str, rival: session.MatrixRival, place: int) -> None:
    """Layer, head, row where the file tells two, threshold."""
    layers, heads = rival.shape
    choice = rival.choice
    numbers = [str(head) for head in range(heads)]
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"studio_matrices_choice_{place}"):
        _select(study, id, place, "layer", list(range(layers)), choice.layer, lambda value: str(value + 1))
        _select(
            study,
            id,
            place,
            "head",
            [*numbers, studio_settings.MEAN],
            studio_settings.MEAN if choice.head is None else str(choice.head),
            lambda value: text("studio.mean") if value == studio_settings.MEAN else str(int(value) + 1),
        )
        if len(rival.rows) > 1:
            _select(study, id, place, "row", list(rival.rows), choice.row, lambda value: text(f"studio.row_{value}"))
        _threshold(study, id, rival, place)


def _select(study: session.Study, id: str, place: int, name: str, options: list[Any], value: Any, shown: Any) -> None:
    key = f"studio_matrices_{name}_{place}"

    def change() -> None:
        chosen = st.session_state[key]
        if name == "head":
            chosen = None if chosen == studio_settings.MEAN else int(chosen)
        rival = session.rivals(study).get(id)
        if isinstance(rival, session.MatrixRival):
            session.use_matrices(study, id, replace(rival.choice, **{name: chosen}), rival.threshold)

    linked.show(key, value)
    st.selectbox(text(f"studio.ask_{name}"), options, key=key, format_func=shown, on_change=linked.fresh(key, change), width=150)


def _threshold(study: session.Study, id: str, rival: session.MatrixRival, place: int) -> None:
    on, number = f"studio_matrices_on_{place}", f"studio_matrices_above_{place}"

    def change() -> None:
        above = st.session_state.get(number, studio_settings.USUAL)
        session.use_matrices(study, id, rival.choice, above if st.session_state[on] else None)

    linked.show(on, rival.threshold is not None)
    st.toggle(text("studio.threshold_on"), key=on, on_change=linked.fresh(on, change), help=text("studio.threshold_help"))
    if rival.threshold is not None:
        linked.show(number, rival.threshold)
        st.number_input(
            text("studio.threshold"),
            studio_settings.LOWEST,
            studio_settings.HIGHEST,
            step=0.05,
            key=number,
            on_change=linked.fresh(number, change),
            width=140,
        )


def _best(study: session.Study, id: str, rival: session.MatrixRival, place: int) -> None:
    """With gold: which layer and head aligns best, and how what is chosen does."""
    found = session.matrix_scores(study, id)
    if found is None or found.best is None:
        html.prose("studio_matrices.read", kind="quiet", choice=html.Ours(studio_settings.choice_name(rival.choice)))
        return
    rate, now = (html.Ours(html.number(found.rate(choice), 3)) for choice in (found.best, rival.choice))
    if rate == now:
        html.prose("studio_matrices.in_use", rate=rate)
        return
    name = studio_settings.choice_name(found.best)
    html.prose("studio_matrices.best", best=html.Ours(name), rate=rate, now=now)
    st.button(
        text("studio_matrices.use_best", best=name),
        key=f"studio_matrices_best_{place}",
        icon=":material/check:",
        on_click=session.use_matrices,
        args=(study, id, found.best, rival.threshold),
    )


def _files(study: session.Study, rival: session.MatrixRival, place: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"studio_matrices_files_{place}"):
        html.prose("studio_matrices.save", kind="quiet")
        for format in FORMATS:
            st.download_button(
                text(f"studio_out.format_{format}"),
                data=lambda format=format: session.matrix_links(study, rival, format),  # type: ignore[misc]
                file_name=session.export_name(study, f"matrices.{session.LINK_FILES[format]}"),
                mime="application/octet-stream",
                icon=":material/download:",
                on_click="ignore",
                key=f"studio_matrices_save_{place}_{format}",
            )


def _misfits(rival: session.MatrixRival) -> None:
    """What does not fit, by pair and axis."""
    if not rival.misfits:
        return
    html.notice("warning", "studio_matrices.misfits", name=rival.name)
    html.bullets([_misfit(one) for one in rival.misfits[:SHOWN]])
    if rest := rival.misfits[SHOWN:]:
        with st.expander(text("studio_matrices.misfits_more", count=f"{len(rest):,}")):
            html.bullets([_misfit(one) for one in rest])


def _misfit(one: session.Misfit) -> str:
    place = None if one.pair is None else ("pair", one.pair + 1)
    return own_told.problem(one.message.code, one.message.values, place=place)
