"""The list of all pairs with their scores: sorted, filtered and searched by the server, fifty rows at a time."""

from typing import Any

import streamlit as st

from app import session
from app.components.pair_list import Column, Row, pack, pair_list
from app.text import section, text
from app.views import html, linked
from model.alignment.metrics import Counts

PAIR = "pair"  # in the URL: the index of the pair that is open, from 0 as in files; a link carries no file
SORT, DESCENDING, PAGE = "studio_sort", "studio_descending", "studio_page"
QUERY, FLAGS, BELOW = "studio_query", "studio_flags", "studio_below"
ALL = 100.0  # a threshold that leaves everything in
_OPENED = "studio_opened"


def show(study: session.Study) -> None:
    """Draw it for what is done so far."""
    html.prose("studio.list_idea", kind="quiet")
    _corpus(study)
    wanted = _wanted(study)
    table = session.study_table(study)
    listed = table.listed(wanted)
    pages = max(1, -(-len(listed) // session.PAGE))
    page = min(st.session_state.get(PAGE, 0), pages - 1)
    shown = [int(index) for index in listed[page * session.PAGE : (page + 1) * session.PAGE]]
    columns = [name for name in session.COLUMNS[1:] if name != "aer" or study.has_gold()]
    message = pack(
        [_row(study, table, index, columns) for index in shown],
        [Column(name, text(f"studio.column_{name}"), text(f"studio.about_{name}")) for name in columns],
        sort=wanted.sort,
        descending=wanted.descending,
        page=page,
        pages=pages,
        size=session.PAGE,
        total=len(listed),
        opened=opened(study),
        languages=study.languages,
        text=section("pair_list"),
    )
    pair_list(message, key="studio_pairs", on_ask=_asked)
    if st.session_state.pop(_OPENED, False):
        st.rerun()  # the pair is drawn below, outside this fragment


def opened(study: session.Study) -> int:
    """The index of the pair that is shown below the list."""
    asked = linked.number(PAIR, range(study.total), 0)
    return asked if asked < study.done else 0


def forget() -> None:
    """Begin a new list: unsorted, unfiltered, its first page."""
    for key in (SORT, DESCENDING, PAGE, QUERY, FLAGS, BELOW):
        st.session_state.pop(key, None)
    linked.write(PAIR, None)


def _corpus(study: session.Study) -> None:
    """The error rate of all pairs that have gold, in one number."""
    found = session.corpus_counts(study)
    if found is None:
        return
    counts, pairs = found
    html.prose("studio.corpus", pairs=f"{pairs:,}", **_percentages(counts))


def _percentages(counts: Counts) -> dict[str, str]:
    values = {"aer": counts.alignment_error_rate, "precision": counts.precision, "recall": counts.recall}
    return {name: html.Ours(html.number(value, 3)) for name, value in values.items()}


def _wanted(study: session.Study) -> session.Wanted:
    """The widgets above the list, and what they ask for."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="studio_filters"):
        st.text_input(text("studio.search"), key=QUERY, icon=":material/search:", on_change=_first_page, persist_state="page")
        there = _there(study)
        st.multiselect(
            text("studio.filter"),
            there,
            key=FLAGS,
            format_func=lambda flag: text(f"studio.only_{flag}", count=f"{there[flag]:,}"),
            placeholder=text("studio.filter_placeholder"),
            on_change=_first_page,
            persist_state="page",
        )
        below = text("studio.below")
        st.slider(below, 0.0, ALL, ALL, 1.0, key=BELOW, format="%d %%", on_change=_first_page, persist_state="page")
    chosen = [flag for flag in st.session_state[FLAGS] if flag in there]
    most = float(st.session_state[BELOW])
    sort = st.session_state.get(SORT, "index")
    return session.Wanted(
        sort=sort if sort != "aer" or study.has_gold() else "index",
        descending=bool(st.session_state.get(DESCENDING, False)),
        query=st.session_state[QUERY],
        flags=[flag for flag in chosen if flag not in ("edited", "gold")],
        below=(("confidence", most),) if most < ALL else (),
        edited="edited" in chosen,
        gold="gold" in chosen,
    )


def _there(study: session.Study) -> dict[str, int]:
    """What the list can be narrowed to, with the number of pairs."""
    table = session.study_table(study)
    counts = session.count_flags(study)
    kept = {"edited": len(study.edits), "gold": int(table.gold.sum()) if study.has_gold() else 0}
    return counts | {name: count for name, count in kept.items() if count}


def _row(study: session.Study, table: session.Table, index: int, columns: list[session.ListColumn]) -> Row:
    entry = study.results[index]
    notes = [text(f"studio.note_{flag}") for flag in session.FLAGS if flag in table.flags[index]]
    notes += [text("studio.note_edited")] * (index in study.edits) + [text("studio.note_translated")] * (
        index in study.translated
    )
    return Row(index, entry.source, entry.target, [_cell(name, float(table.numbers[name][index])) for name in columns], notes)


def _cell(column: str, value: float) -> str:
    """A number as it is printed; nothing where there is none."""
    if value != value:
        return "–"
    if column in session.PERCENTAGES:
        return f"{html.number(value, 1)} %"
    return html.number(value, 2)


def _first_page() -> None:
    st.session_state[PAGE] = 0


def _asked() -> None:
    """What the component asks for, whatever a browser sends."""
    asked: Any = st.session_state["studio_pairs"].ask
    found = session.study()
    if not isinstance(asked, dict) or found is None:
        return
    if asked.get("sort") in session.COLUMNS:
        same = asked["sort"] == st.session_state.get(SORT, "index")
        st.session_state[DESCENDING] = not st.session_state.get(DESCENDING, False) if same else False
        st.session_state[SORT] = asked["sort"]
        st.session_state[PAGE] = 0
    if isinstance(page := asked.get("page"), int) and page >= 0:
        st.session_state[PAGE] = page
    if isinstance(index := asked.get("open"), int) and 0 <= index < found.done:
        linked.write(PAIR, str(index) if index else None)
        st.session_state[PAIR] = index
        st.session_state[_OPENED] = True
