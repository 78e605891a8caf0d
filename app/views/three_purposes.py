"""What each attention is for: silence one, and read what the model writes and loses."""

from collections.abc import Sequence

import streamlit as st

from app import session
from app.text import text
from app.views import html, later
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
        default=st.query_params.get("purpose") if st.query_params.get("purpose") in ON else None,
        format_func={name: text(f"three_attentions.purpose_{name}") for name in ON}.__getitem__,
        key="three_purpose",
    )
    session.put("purpose", asked)  # by its name, not its label: a link reopens it in either language
    if asked == "sentence":
        later.drawn(
            lambda: table(session.measured(purpose.outcomes, selection), text("three_attentions.purpose_caption")),
            (purpose.outcomes, selection),
        )
    elif asked == "examples":
        of_examples(selection)
    if asked:
        for key in ("loss", "judges"):
            html.prose(f"three_attentions.purpose_{key}", kind="quiet")
        limits = {"tolerance": html.number(purpose.TOLERANCE), "pairs": f"{purpose.MORE_PAIRS:.0%}"}
        html.prose("three_attentions.purpose_rule", kind="quiet", **limits)
        html.prose("three_attentions.purpose_circular", kind="quiet")


def of_examples(selection: session.Selection) -> None:
    """The mean over the examples of this model; each is measured once for all visitors."""
    sources = [example.source for example in session.examples(selection.model, selection.language)]
    if not sources:
        html.notice("info", "three_attentions.purpose_none")
        return
    asked = [(purpose.outcomes_of, selection.model, source) for source in sources]
    later.drawn(lambda: averaged(selection, sources), *asked)


def averaged(selection: session.Selection, sources: Sequence[str]) -> None:
    """The mean, and the example that each variant spoils most."""
    measured = [session.measured_model(purpose.outcomes_of, selection.model, source) for source in sources]
    outcomes = purpose.average(measured)
    table(outcomes, text("three_attentions.purpose_examples_caption", count=len(sources)))
    html.prose("three_attentions.worst")
    html.bullets([broken(measured, sources, each.variant) for each in outcomes[1:] if each.distinct > 1])


def broken(measured: Sequence[Sequence[Outcome]], sources: Sequence[str], variant: str) -> str:
    """The example that suffers most from a variant: the sentence, what the whole model writes, and what is written now."""
    at = purpose.worst(measured, variant)
    whole, changed = (next(each for each in measured[at] if each.variant == name) for name in ("whole", variant))
    nothing = text("translate.nothing")
    said = html.sentence(
        "three_attentions.worst_texts",
        source=sources[at],
        whole=whole.text or nothing,
        changed=changed.text or nothing,
        before=html.number(whole.faithfulness),
        after=html.number(changed.faithfulness),
    )
    return f"{html.sentence(f'three_attentions.without_{variant}')} · {said}"


def table(outcomes: Sequence[Outcome], caption: str) -> None:
    """What each variant writes, and below it the measures."""
    html.bullets([told(each, outcomes[0]) for each in outcomes])
    measures = ("loss", "fluency", "faithfulness", "repetition", "overlap")
    html.table(
        {text("three_attentions.variant"): "rich", **{text(f"three_attentions.measure_{name}"): "number" for name in measures}},
        [
            (html.sentence(f"three_attentions.off_{each.variant}"), *(html.number(getattr(each, name)) for name in measures))
            for each in outcomes
        ],
        caption,
    )


def told(outcome: Outcome, whole: Outcome) -> str:
    """What is off, how it turns out, and what it wrote; of several texts their number, and the one it writes again and again."""
    parts = [html.sentence(f"three_attentions.without_{outcome.variant}"), verdict(outcome, whole)]
    if outcome.sentences > 1:
        key = "three_attentions.different" if outcome.distinct > 1 else "three_attentions.always_the_same"
        parts.append(html.sentence(key, distinct=outcome.distinct, count=outcome.sentences))
    if outcome.distinct < outcome.sentences or outcome.sentences == 1:
        parts.append(html.literal(outcome.text or text("translate.nothing")))
    if outcome.sentences == 1 and outcome.variant != whole.variant and outcome.text == whole.text:
        losses = {"before": html.number(whole.loss, 3), "after": html.number(outcome.loss, 3)}
        parts.append(html.sentence("three_attentions.unchanged", **losses))
    if outcome.stopped == "limit":
        parts.append(html.sentence("three_attentions.stopped"))
    return " · ".join(parts)


def verdict(outcome: Outcome, whole: Outcome) -> str:
    """As it turns out, in words."""
    fluent = "fluent" if purpose.fluent(outcome, whole) else "broken"
    return html.sentence(f"three_attentions.verdict_{fluent}_{'faithful' if outcome.faithful else 'unfaithful'}")
