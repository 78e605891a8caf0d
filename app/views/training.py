"""Training: what one pass asks of every row, how fast to learn from it, and what is shared."""

import streamlit as st

from app import session
from app.charts import training as charts
from app.views import (
    html,
    picture,
    training_forcing,
    training_live,
    training_moments,
    training_schedule,
    training_smoothing,
    training_tying,
    training_what_if,
)
from app.views.anatomy import Anatomy, Export, Formula, Section, Shape, open_page, tell
from app.views.training_place import SMOOTHING, choose, first_row
from model.analysis import schedules, smoothing
from model.analysis.schedules import Setting
from model.config import paper_base
from model.embedding import InputEmbedding
from model.trace import Trace
from model.training.loss import smoothed_targets, summed_cross_entropy
from model.training.schedule import constant, cosine, noam
from model.transformer import Transformer
from model.translator import Atlas


def described(selection: session.Selection, atlas: Atlas, trace: Trace) -> Anatomy:
    """The page for a text that can be read."""
    return Anatomy(
        "training",
        lambda: stage(selection, atlas, trace, training_smoothing.rows, training_smoothing.classes),
        slides=(
            lambda: stage(selection, atlas, trace, training_smoothing.rows),
            lambda: stage(selection, atlas, trace, training_smoothing.classes),
        ),
        export=Export(f"{selection.model}-training.npz", lambda: archive(selection, atlas, trace), "training.export_note"),
        sections=(
            Section("training.forcing_title", lambda: training_forcing.draw(selection, trace)),
            Section("training.schedule_heading", lambda: training_schedule.draw(selection, atlas, trace)),
            Section("training.smoothing_title", lambda: training_smoothing.about(selection, atlas, trace)),
            Section("training.tying_title", lambda: training_tying.draw(selection, atlas, trace)),
            Section("training_moments.title", training_moments.show),
            Section("training_live.title", training_live.show),
        ),
        formulas=formulas(selection, trace),
        shapes=sizes(atlas, trace),
        what_if=lambda: training_what_if.draw(selection, atlas, trace),
        code=(
            smoothed_targets,
            summed_cross_entropy,
            noam,
            constant,
            cosine,
            Transformer.make_output,
            InputEmbedding.forward,
        ),
    )


def stage(selection: session.Selection, atlas: Atlas, trace: Trace, *parts: training_smoothing.Part) -> None:
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    chosen(selection, atlas, trace, *parts)


@st.fragment
def chosen(selection: session.Selection, atlas: Atlas, trace: Trace, *parts: training_smoothing.Part) -> None:
    """Choose a row and a target, and see these parts of what they cost."""
    session.begin_run()
    with st.container(key="stage"):
        asked = choose(trace)
        for part in parts:
            part(selection, atlas, trace, asked)


def archive(selection: session.Selection, atlas: Atlas, trace: Trace) -> bytes:
    """All rows against their targets in each convention, and the rates of this model's own schedule."""
    setting = schedules.of_card(atlas.card, atlas.config.d_model)
    steps = schedules.points(training_schedule.STEPS, setting.warmup)
    found = {one: smoothing.losses(atlas, trace, SMOOTHING, one) for one in smoothing.CONVENTIONS}
    return charts.archive(
        trace,
        smoothing.log_probabilities(trace),
        {
            name: [float("nan") if rate is None else rate for rate in rates]
            for name, rates in schedules.curves(setting, training_schedule.STEPS, steps).items()
        },
        steps,
        {
            "plain": found["uniform"].plain,
            **{f"smoothed.{one}": losses.smoothed for one, losses in found.items()},
            **{f"floor.{one}": (losses.floor,) for one, losses in found.items()},
        },
        {
            **picture.caption(selection, trace),
            "smoothing": f"{SMOOTHING:g}",
            "schedule": f"d_model={setting.d_model} warmup={setting.warmup} factor={setting.factor:g}",
        },
    )


def formulas(selection: session.Selection, trace: Trace) -> list[Formula]:
    """The loss of the row in the middle, perplexity, and the rate at the paper's peak."""
    paper = Setting(*schedules.PAPER)
    middle, convention = first_row(trace), smoothing.CONVENTIONS[0]
    one = session.measured(smoothing.row, selection, middle, SMOOTHING, convention)
    all_rows = session.measured(smoothing.losses, selection, SMOOTHING, convention)
    return [
        Formula(
            r"L = -\sum_{v} q_v \log p_v \;=\; q_y (-\log p_y) - \sum_{v \neq y} q_v \log p_v \;\ge\; "
            r"H(q) = -\sum_v q_v \log q_v",
            charts.smoothed_loss(one.target[one.ids.index(one.right)], one.plain, one.from_others, one.smoothed, one.floor),
            "training.formula_loss",
            {
                "row": middle,
                "produced": trace.produced[middle].label,
                "smoothing": html.Ours(f"{SMOOTHING:g}"),
                "convention": html.Ours(convention),
            },
        ),
        Formula(
            r"\mathrm{perplexity} = \exp\left(\tfrac{1}{T} \sum_{r} -\log p_{r,\,y_r}\right)",
            charts.perplexity(all_rows.plain, all_rows.mean_plain, all_rows.perplexity),
            "training.formula_perplexity",
            {"rows": len(trace.produced)},
        ),
        Formula(
            r"\eta_s = \mathrm{factor} \cdot d_{\mathrm{model}}^{-0.5} \cdot "
            r"\min\left(s^{-0.5},\; s \cdot w^{-1.5}\right), \qquad s = 1, 2, 3, \ldots",
            charts.rate(paper.warmup, paper.d_model, paper.warmup, paper.factor, paper.peak),
            "training.formula_rate",
            {},
        ),
    ]


def sizes(atlas: Atlas, trace: Trace) -> list[Shape]:
    """From the shared matrix to the loss of each row."""
    ours, base, length = atlas.config, paper_base(), len(trace.target)
    return [
        Shape(
            "training.shape_matrix",
            "[V, d_model]",
            (ours.target_vocab_size, ours.d_model),
            (base.target_vocab_size, base.d_model),
        ),
        Shape("training.shape_read", "[L_t]", (length,), (length,)),
        Shape("training.shape_logits", "[L_t, V]", (length, ours.target_vocab_size), (length, base.target_vocab_size)),
        Shape("training.shape_target", "[L_t, V]", (length, ours.target_vocab_size), (length, base.target_vocab_size)),
        Shape("training.shape_losses", "[L_t]", (length,), (length,)),
    ]


open_page("training", described, needed=("training",))
