"""Beside the model: the diagonal, statistical aligners, other models and files of links, in one table; two of them compared."""

import streamlit as st

from app import session
from app.text import text
from app.views import html, linked, studio_input, studio_list, studio_matrices, told
from model.alignment import compare, statistical

BEAT = 0.6  # seconds between looks at work that is under way
SHOWN = 8  # pairs in which two differ
MEASURED = ("studio_heads.precision", "studio_heads.recall", "studio_heads.aer", "studio_heads.interval", "studio_heads.scored")
_BEFORE, _THERE = "studio_beside_before", "studio_beside_there"


def show(study: session.Study) -> None:
    """The table, the ways to add to it, and two of its lines compared."""
    under_way = any(rival.under_way for rival in session.rivals(study).values())
    html.heading("studio_heads.beside")
    html.prose("studio_heads.beside_idea", kind="quiet")
    _add(study)
    studio_matrices.show(study)
    st.fragment(_watch, run_every=BEAT if under_way else None)()


def _watch() -> None:
    """How the work stands; begun or ended, the page is drawn again, for other parts follow."""
    session.begin_run()
    study = session.study()
    if study is None:
        return
    states = (study.token, tuple((id, rival.now) for id, rival in session.rivals(study).items()))
    before, st.session_state[_BEFORE] = st.session_state.get(_BEFORE, states), states
    if before != states and before[0] == states[0]:
        st.rerun()
    for place, (id, rival) in enumerate(list(session.rivals(study).items())):
        _state(study, id, rival, place)
    sides = session.sides(study)
    _table(study, sides)
    if len(sides) > 1:
        _compare(study, sides)


@st.fragment
def _add(study: session.Study) -> None:
    """A statistical aligner, another model, a file. What is begun here is watched by the page."""
    session.begin_run()
    there = session.rivals(study)
    before, st.session_state[_THERE] = st.session_state.get(_THERE), (study.token, set(there))
    if session.in_fragment() and before != st.session_state[_THERE]:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="bottom", key="studio_beside_add"):
        _add_statistical(study, there)
        others = [name for name in session.models_alike(study.model) if f"model:{name}" not in there]
        if others:
            st.selectbox(text("studio_heads.other_model"), others, key="studio_other_model", width=220, persist_state="page")
            st.button(text("studio_heads.align_other"), key="studio_other", on_click=_other, args=(study,))
    studio_matrices.offer(study)
    told.put_off("alignment", "upload")
    if not session.MAX_UPLOAD:
        return
    studio_input.uploader_words()
    st.file_uploader(
        text("studio_heads.file"), key="studio_rival_file", accept_multiple_files=True, on_change=_files, args=(study,)
    )


def _add_statistical(study: session.Study, there: dict[str, session.Rival]) -> None:
    installed = statistical.available()
    if not installed:
        html.notice("info", "studio_heads.not_installed", command=html.Ours(statistical.INSTALL))
        return
    left = [name for name in installed if f"statistical:{name}" not in there]
    if not left:
        return
    st.selectbox(
        text("studio_heads.aligner"),
        left,
        key="studio_aligner",
        width=220,
        persist_state="page",
        format_func=lambda name: text(f"studio_heads.aligner_{name.replace('-', '_')}"),
    )
    st.button(text("studio_heads.learn"), key="studio_learn", on_click=_learn, args=(study,), disabled=study.under_way)


def _learn(study: session.Study) -> None:
    if (chosen := st.session_state["studio_aligner"]) in statistical.available():
        session.add_statistical(study, chosen)


def _other(study: session.Study) -> None:
    if (chosen := st.session_state["studio_other_model"]) in session.models_alike(study.model):
        session.add_model(study, chosen)


def _files(study: session.Study) -> None:
    for file in st.session_state["studio_rival_file"] or ():
        session.add_links_or_matrices(study, session.File(file.name, file.getvalue()))


def _state(study: session.Study, id: str, rival: session.Rival, place: int) -> None:
    """What is under way, and what went wrong; of what is done, how little it had to learn from."""
    if isinstance(rival, session.MatrixRival):
        return  # told beside its choices
    called = _rival_name(rival)
    if rival.under_way:
        key = "studio_heads.waiting" if rival.now == "waiting" else "studio_heads.working"
        with st.container(horizontal=True, vertical_alignment="center", key=f"rival_{place}"):
            st.progress(min(1.0, rival.done), text(key, name=called))
            st.button(text("studio_heads.stop"), key=f"rival_stop_{place}", on_click=session.cancel_rival, args=(study, id))
    elif rival.now == "failed" and not rival.problems:
        html.notice("error", "studio_heads.failed", name=html.Ours(called), reason=rival.why)
    if rival.little:
        html.notice("info", "studio_heads.little", name=html.Ours(called), pairs=f"{rival.little:,}")
    if rival.problems:
        html.notice("warning", "studio_heads.file_problems", name=rival.name, count=len(rival.problems))
        html.bullets([studio_input.problem_html(problem) for problem in rival.problems[:SHOWN]])


def _table(study: session.Study, sides: dict[str, session.Links]) -> None:
    """With gold: precision, recall, error rate and its interval; always: agreement with the model."""
    gold = study.has_gold()
    columns = {text("studio_heads.side"): "rich"}
    if gold:
        columns |= {text(key): "number" for key in MEASURED}
    columns |= {text("studio_heads.agreement_with"): "number"}
    rows = []
    for id, links in sides.items():
        row = [html.literal(side_name(study, id))]
        if gold:
            row += [html.Ours(cell) for cell in _measured(session.measured_side(study, id, links))]
        agreed = session.agreement_of(study, ("ours", sides["ours"]), (id, links))
        rows.append([*row, html.Ours("–" if agreed is None or id == "ours" else html.number(agreed, 3))])
    html.table(columns, rows, text("studio_heads.table", pairs=f"{study.done:,}"))


def _measured(found: compare.Measured | None) -> tuple[str, ...]:
    if found is None:
        return ("–",) * 5
    counts, (low, high) = found.counts, found.interval
    return (
        html.number(counts.precision, 2),
        html.number(counts.recall, 2),
        html.number(counts.alignment_error_rate, 3),
        f"{html.number(low, 3)} – {html.number(high, 3)}",
        f"{found.pairs:,}",
    )


def _compare(study: session.Study, sides: dict[str, session.Links]) -> None:
    """Two sides beside each other: how far they agree, and the pairs where they differ most, each to be opened."""
    ids = list(sides)
    with st.container(horizontal=True, vertical_alignment="bottom", key="studio_compare"):
        first = _side(study, "first", text("studio_heads.first"), ids, 0)
        second = _side(study, "second", text("studio_heads.second"), ids, len(ids) - 1)
    both = (first, sides[first]), (second, sides[second])
    agreed = session.agreement_of(study, *both)
    if first == second or agreed is None:
        html.prose("studio_heads.compare_two", kind="quiet")
        return
    html.prose(
        "studio_heads.agree",
        first=side_name(study, first),
        second=side_name(study, second),
        agreement=html.Ours(html.number(agreed, 3)),
    )
    found = session.differing_pairs(study, *both, SHOWN)
    if not found:
        html.prose("studio_heads.same", kind="quiet")
        return
    html.prose("studio_heads.differ", kind="quiet")
    for one in found:
        with st.container(horizontal=True, vertical_alignment="center", key=f"studio_differ_{one.index}"):
            if st.button(text("studio_heads.open", number=one.index + 1), key=f"studio_open_{one.index}", width=140):
                _open(one.index)
            html.prose(
                "studio_heads.difference",
                source=study.results[one.index].source,
                target=study.results[one.index].target,
                first=len(one.only_first),
                second=len(one.only_second),
            )


def _side(study: session.Study, which: str, label: str, ids: list[str], default: int) -> str:
    key = f"studio_side_{which}"
    if st.session_state.get(key) not in ids:
        st.session_state[key] = ids[default]
    st.selectbox(label, ids, key=key, format_func=lambda id: side_name(study, id), width=280, persist_state="page")
    return str(st.session_state[key])


def _open(index: int) -> None:
    """Show this pair above: it is drawn outside of this fragment."""
    linked.write(studio_list.PAIR, str(index) if index else None)
    st.session_state[studio_list.PAIR] = index
    st.rerun()


def side_name(study: session.Study, id: str) -> str:
    """What a side is called; the name of a file is the visitor's."""
    if id == "ours":
        joined = study.settings.symmetrize
        return text("studio_heads.ours_joined", model=study.model, method=joined) if joined else study.model
    if id == "diagonal":
        return text("studio_heads.diagonal")
    rivals = session.rivals(study)
    if id in rivals:
        return _rival_name(rivals[id])
    owner, _, side = id.rpartition(":")
    if isinstance(rival := rivals[owner], session.MatrixRival):
        return studio_matrices.side_name(rival)
    called = _rival_name(rival)
    return called if side == "file" else text(f"studio_heads.side_{side}", name=called)


def _rival_name(rival: session.Rival) -> str:
    match rival.kind:
        case "statistical":
            return text(f"studio_heads.aligner_{rival.name.replace('-', '_')}")
        case "reverse":
            return text("studio_heads.side_other_way", name=rival.name)
        case _:
            return rival.name
