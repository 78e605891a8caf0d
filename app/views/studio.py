"""Alignment studio: bring pairs of sentences, see how a model aligns them, score it, correct it, take it away."""

import streamlit as st

from app import session
from app.views import (
    anatomy,
    html,
    studio_heads,
    studio_input,
    studio_list,
    studio_out,
    studio_pair,
    studio_preview,
    studio_work,
)
from app.views.anatomy import Anatomy, Export, Formula, Section
from model.alignment import confidence, corpus, metrics
from model.translator import Translator

_MODEL, _TAKEN = "studio_model_before", "studio_taken_before"
_OUT = "studio.out_title"


def described() -> Anatomy:
    """The page with what there is of it: sections for one pair, for heads and for exports need results."""
    if not session.translators():
        return Anatomy("studio", lambda: html.notice("error", "errors.no_models"))
    studio_input.reopen()
    found = session.study()
    _follow_model(found)
    _follow_results(found)
    return Anatomy(
        "studio",
        lambda: stage(found),
        sections=sections(found) if found is not None and found.results else (),
        formulas=formulas(found) if found is not None and found.results else (),
        numbers=numbers(found) if found is not None and found.results else None,
        pictured=found is not None and bool(found.results),
        code=(confidence.scores, metrics.Counts, corpus.align),
        still=(_OUT,),
    )


def stage(found: session.Study | None) -> None:
    """What comes in, what was understood, the work and its list."""
    if session.presenting() and found is None:
        html.prose("presenting.studio_empty")
        return
    if not session.presenting():
        studio_input.show()
    if found is not None:
        studio_preview.show(found)
        studio_work.show(found)


def sections(found: session.Study) -> tuple[Section, ...]:
    return (
        Section("studio.pair_title", lambda: studio_pair.show(found, studio_list.opened(found))),
        Section("studio.heads_title", lambda: studio_heads.show(found)),
        Section(_OUT, lambda: studio_out.show(found)),
    )


def numbers(found: session.Study) -> Export | None:
    """The weights of the pair that is open."""
    index = studio_list.opened(found)
    atlas = session.load(found.made_by[0])
    if found.results[index].problem is not None or not isinstance(atlas, Translator):
        return None
    return Export("", lambda: session.matrices_file(found, atlas, [index]), "studio_out.matrices")


def formulas(found: session.Study) -> tuple[Formula, ...]:
    """The confidence of the pair that is open, in numbers."""
    aligned = found.results[studio_list.opened(found)]
    if aligned.problem is not None:
        return ()
    scores = aligned.scores
    parts = (scores.coverage, scores.absentmindedness_rows, scores.absentmindedness_columns)
    total, percent = f"{scores.confidence:.4f}", f"{scores.confidence_percent:.1f}"
    general = (
        r"\text{confidence} = "
        r"\underbrace{-\frac1J\sum_j \log\Bigl(1+\bigl(1-\sum_i \alpha_{ij}\bigr)^2\Bigr)}_{\text{coverage}}"
        r"\;\underbrace{-\,\overline{H}_{\text{rows}}}_{\text{rows}}\;\underbrace{-\,\overline{H}_{\text{columns}}}_{\text{columns}}"
    )
    numbers = " + ".join(rf"({part:.4f})" for part in parts)
    share = rf"100\,e^{{-0.05\cdot({total})^2}} = {percent}\,\%"
    return (Formula(general, rf"{numbers} = {total},\quad {share}", "studio.formula_note", {"number": aligned.index + 1}),)


def _follow_model(found: session.Study | None) -> None:
    """The model of the sidebar, when it is changed there, reads what was brought."""
    name = session.current().model
    before, st.session_state[_MODEL] = st.session_state.get(_MODEL, name), name
    if found is None or before == name or found.model == name or name not in session.translators() or found.under_way:
        return
    if found.state == "ready":
        session.correct_reading(model=name)
    else:
        session.put_model(name)
    st.rerun()


def _follow_results(found: session.Study | None) -> None:
    """What can be taken away is drawn with the whole page: again, when there is something else to take."""
    now = None
    if found is not None and found.results:
        now = (found.token, found.done, found.made_by, found.has_gold(), found.words_split, studio_list.opened(found))
    before, st.session_state[_TAKEN] = st.session_state.get(_TAKEN), now
    if session.in_fragment() and before != now:
        st.rerun()


session.begin_run()
anatomy.show(described(), described)
