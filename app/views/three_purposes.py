"""What each attention is for: silence one, and read what the model writes and loses."""

from collections.abc import Sequence

import streamlit as st

from app import session
from app.text import text
from app.views import html
from model.analysis import purpose
from model.analysis.purpose import Outcome

ON = ("sentence", "examples")


@st.fragment
def section(selection: session.Selection) -> None:
    """Nothing is measured before it is asked for: each variant is a translation and three passes."""
    session.begin_run()
    html.prose("three_attentions.purpose_idea")
    asked = st.segmented_control(
        text("three_attentions.purpose_on"),
        ON,
        format_func={name: text(f"three_attentions.purpose_{name}") for name in ON}.__getitem__,
        key="purpose",
        bind="query-params",
    )
    if asked == "sentence":
        table(session.measured(purpose.outcomes, selection), text("three_attentions.purpose_caption"))
    elif asked == "examples":
        of_examples(selection)
    if asked:
        for key in ("loss", "judges"):
            html.prose(f"three_attentions.purpose_{key}", kind="quiet")
        limits = {"tolerance": html.number(purpose.TOLERANCE), "pairs": f"{purpose.MORE_PAIRS:.0%}"}
        html.prose("three_attentions.purpose_rule", kind="quiet", **limits)
        html.prose("three_attentions.purpose_circular", kind="quiet")


def of_examples(selection: session.Selection) -> None:
    """The mean over the examples of this model, one after the other; each is measured once for all visitors."""
    sources = [example.source for example in session.examples(selection.model, selection.language)]
    if not sources:
        html.notice("info", "three_attentions.purpose_none")
        return
    bar, measured = st.progress(0.0), []
    for done, source in enumerate(sources, start=1):
        measured.append(session.measured_model(purpose.outcomes_of, selection.model, source))
        bar.progress(done / len(sources), text=text("three_attentions.purpose_progress", done=done, count=len(sources)))
    bar.empty()
    table(purpose.average(measured), text("three_attentions.purpose_examples_caption", count=len(sources)))


def table(outcomes: Sequence[Outcome], caption: str) -> None:
    """A row for each variant; over several sentences the number of different texts stands in place of the text."""
    whole, several = outcomes[0], outcomes[0].sentences > 1
    columns = {text("three_attentions.variant"): "rich"}
    columns |= {text("three_attentions.verdict"): "rich"}
    if several:
        columns |= {text("three_attentions.distinct"): "number", text("three_attentions.usual"): "word"}
    else:
        columns |= {text("three_attentions.writes"): "word"}
    measures = ("loss", "fluency", "faithfulness", "repetition", "overlap")
    columns |= {text(f"three_attentions.{name}"): "number" for name in measures}
    rows = []
    for each in outcomes:
        row = [html.sentence(f"three_attentions.variant_{each.variant}"), verdict(each, whole)]
        row += [str(each.distinct)] if several else []
        row += [written(each), *(html.number(getattr(each, name)) for name in measures)]
        rows.append(row)
    html.table(columns, rows, caption)


def written(outcome: Outcome) -> str:
    """What it wrote, and whether it had to be stopped."""
    shown = outcome.text or text("translate.nothing")
    return f"{shown} {text('three_attentions.stopped')}" if outcome.stopped == "limit" else shown


def verdict(outcome: Outcome, whole: Outcome) -> str:
    """As it turns out, in words."""
    fluent = "fluent" if purpose.fluent(outcome, whole) else "broken"
    return html.sentence(f"three_attentions.verdict_{fluent}_{'faithful' if outcome.faithful else 'unfaithful'}")
