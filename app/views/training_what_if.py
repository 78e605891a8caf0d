"""Training gone wrong, measured: the schedule, the padding, the perplexity, the shift, the factor."""

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import html, linked, picture
from app.views.training_place import scientific
from model.analysis import schedules_tried, smoothing, tying
from model.analysis.cheating import BY_CHANCE
from model.trace import Trace
from model.translator import Atlas, LanguageModel

MISTAKES = ("schedule", "padding", "perplexity", "shift", "factor")
PADDING = 8  # rows behind the sentence


@st.fragment
def draw(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """Choose a mistake; what it costs is measured then."""
    session.begin_run()
    html.prose("training.what_if_idea")
    linked.chosen("mistake", MISTAKES, None)
    chosen = st.segmented_control(
        text("training.choose_mistake"), MISTAKES, key="mistake", on_change=linked.remember("mistake", None),
        format_func=lambda mistake: text(f"training.mistake_{mistake}"),
    )  # fmt: skip
    if chosen == "schedule":
        schedule(selection, trace)
    elif chosen == "padding":
        padding(selection)
    elif chosen == "perplexity":
        perplexity(selection, trace)
    elif chosen == "shift":
        shift()
    elif chosen == "factor":
        factor(selection, atlas)


def schedule(selection: session.Selection, trace: Trace) -> None:
    """The same tiny decoder trained at five schedules."""
    tried, setting = schedules_tried, schedules_tried.SETTING
    html.prose(
        "training.tried_idea",
        steps=tried.STEPS,
        warmup=setting.warmup,
        width=setting.d_model,
        updates=tried.UPDATES,
    )
    found = tried.shipped()
    names = {name: text(f"training.tried_{name}") for name in found}
    html.table(
        {
            text("training.tried_schedule"): "word",
            text("training.tried_first"): "number",
            text("training.tried_highest"): "number",
            text("training.tried_loss"): "number",
            text("training.tried_right"): "number",
        },
        [
            (
                html.Ours(names[name]),
                scientific(trial.rates[0]),
                scientific(max(trial.rates)),
                html.number(trial.loss, 3),
                f"{trial.right:.1%}",
            )
            for name, trial in found.items()
        ],
        text("training.tried_caption", chance=f"{BY_CHANCE:.2%}"),
    )
    chart = Chart(
        text("training.tried_title"),
        text("training.schedule_axis"),
        text("training.loss_nats"),
        [Series(names[name], trial.losses) for name, trial in found.items()],
        [str(step) for step in range(1, tried.STEPS + 1)],
        places=[float(step) for step in range(1, tried.STEPS + 1)],
        path="model.analysis.schedules_tried",
    )
    curves(pack(chart, text=section("curves"), caption=picture.caption(selection, trace), name="tried"), key="picture_tried")
    html.prose("training.tried_read", kind="quiet")


def padding(selection: session.Selection) -> None:
    """The same sentence with padding behind it, and its mean loss in three ways."""
    found = session.measured(smoothing.padded, selection, PADDING)
    html.prose("training.padded_idea", rows=found.rows, padding=found.padding)
    html.table(
        {text("training.padded_way"): "rich", text("training.padded_loss"): "number"},
        [
            (html.sentence(f"training.padded_{way}"), html.number(getattr(found, way), 4))
            for way in ("left_out", "counted", "diluted")
        ],
        text("training.padded_caption"),
    )
    html.prose("training.padded_read", kind="quiet")


def perplexity(selection: session.Selection, trace: Trace) -> None:
    """exp of the smoothed loss beside exp of the plain one, for several smoothings."""
    html.prose("training.perplexity_idea", rows=len(trace.produced))
    rows = []
    for share in (0.0, 0.1, 0.2):
        found = session.measured(smoothing.losses, selection, share, "uniform")
        rows.append(
            (
                f"{share:g}",
                html.number(found.mean_smoothed, 4),
                html.number(found.wrong_perplexity, 3),
                html.number(found.mean_plain, 4),
                html.number(found.perplexity, 3),
            )
        )
    html.table(
        {
            text("training.perplexity_smoothing"): "number",
            text("training.perplexity_smoothed"): "number",
            text("training.perplexity_wrong"): "number",
            text("training.perplexity_plain"): "number",
            text("training.perplexity_right"): "number",
        },
        rows,
        text("training.perplexity_caption"),
    )
    html.prose("training.perplexity_read", kind="quiet")


def shift() -> None:
    """The same tiny decoder asked for the next symbol, and for the one that it reads."""
    html.prose("training.shift_idea")
    with st.spinner(text("training.tried_running")):
        right, wrong = session.measured_model(schedules_tried.shifts, session.models()[0])
    html.table(
        {
            text("training.shift_asked"): "rich",
            text("training.tried_loss"): "number",
            text("training.tried_right"): "number",
            text("training.shift_given"): "code",
            text("training.shift_written"): "code",
        },
        [
            (
                html.sentence(f"training.shift_{name}"),
                html.small(trial.loss),
                f"{trial.right:.1%}",
                " ".join(map(str, trial.given)),
                " ".join(map(str, trial.written)),
            )
            for name, trial in (("right", right), ("wrong", wrong))
        ],
        text("training.shift_caption"),
    )
    html.prose("training.shift_read", kind="quiet")


def factor(selection: session.Selection, atlas: Atlas) -> None:
    """sqrt(d_model) on the output matrix as well, and nowhere, on example sentences with translations that people wrote."""
    found = session.measured_model(tying.misplaced, selection.model, _pairs(selection, atlas))
    html.prose("training.misplaced_idea", tokens=found.tokens, sentences=found.sentences)
    html.table(
        {text("training.misplaced_where"): "rich", text("training.misplaced_loss"): "number"},
        [
            (html.sentence(f"training.misplaced_{where}"), html.number(getattr(found, where), 3))
            for where in ("as_is", "on_output", "nowhere")
        ],
        text("training.misplaced_caption"),
    )


def _pairs(selection: session.Selection, atlas: Atlas) -> tuple[tuple[str, str], ...]:
    """The example sentences with their references; of a language model the beginnings alone."""
    if isinstance(atlas, LanguageModel):
        return tuple((example.source, "") for example in session.examples(selection.model, "en"))
    return session.example_pairs(selection.model) or ((selection.text, session.wrote(selection.model, selection.text)),)
