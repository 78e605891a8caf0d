"""The length penalty: what another alpha makes of the outputs that a beam search found."""

from itertools import groupby
from operator import itemgetter

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import html
from app.views.decoding_place import Asked
from app.views.decoding_stage import caption, searched
from model.analysis import beam_tree
from model.beam_search import LENGTH_PENALTY
from model.translator import Atlas

ALPHAS = tuple(step / 10 for step in range(16))
SHOWN = (0.0, LENGTH_PENALTY, 1.0, 1.5)


@st.fragment
def draw(selection: session.Selection, atlas: Atlas, found: Asked) -> None:
    session.begin_run()
    html.prose("decoding.penalty_idea")
    if found.strategy == "beam":
        measured(selection, atlas, found)
        return
    with st.expander(
        text("decoding.penalty_open", size=found.size), on_change="rerun", key="penalty", bind="query-params"
    ) as opened:
        if opened.open:
            measured(selection, atlas, found)


def measured(selection: session.Selection, atlas: Atlas, found: Asked) -> None:
    grown = searched(selection, found)
    outputs, best = beam_tree.ranked(grown.tree, ALPHAS)
    names = [said(atlas, selection, grown, output.node) for output in outputs]
    html.table(
        {
            text("decoding.penalty_output"): "rich",
            text("decoding.penalty_length"): "number",
            text("decoding.penalty_total"): "number",
            **{text("decoding.penalty_worth", alpha=f"{alpha:g}"): "rich" for alpha in SHOWN},
        },
        [
            (
                html.literal(name),
                html.Ours(str(output.length)),
                html.Ours(html.number(output.total)),
                *(worth(output.worths[ALPHAS.index(alpha)], best=best[ALPHAS.index(alpha)] == at) for alpha in SHOWN),
            )
            for at, (name, output) in enumerate(zip(names, outputs, strict=True))
        ],
        text("decoding.penalty_caption"),
    )
    runs = groupby(zip(ALPHAS, best, strict=True), key=itemgetter(1))  # alphas in a row at which the same output is the best
    winners = [(next(run)[0], at) for at, run in runs]
    if len(winners) == 1:
        html.prose("decoding.penalty_one", text=names[best[0]])
    else:
        html.bullets(
            [html.sentence("decoding.penalty_from", alpha=html.Ours(f"{alpha:g}"), text=names[at]) for alpha, at in winners]
        )
    chart = Chart(
        text("decoding.penalty_curve"), "alpha", text("decoding.penalty_axis"),
        [Series(name, output.worths) for name, output in zip(names, outputs, strict=True)],
        [f"{alpha:g}" for alpha in ALPHAS], places=ALPHAS, path="model.beam_search.penalty",
    )  # fmt: skip
    curves(pack(chart, text=section("curves"), caption=caption(selection, grown.texts[0]), name="alpha"), key="decoding_alpha")
    html.prose("decoding.penalty_note", kind="quiet")


def said(atlas: Atlas, selection: session.Selection, grown: beam_tree.Grown, node: int) -> str:
    """The text of an output; the empty one has a name."""
    whole = atlas.said(selection.text, grown.tree.hypothesis(node).ids)
    return whole.strip() or text("translate.nothing")


def worth(value: float, *, best: bool) -> str:
    shown = html.number(value, 3)
    return f"<b>{shown}</b>" if best else shown
