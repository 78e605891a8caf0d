"""Learning rates: the paper's schedule for any width and warm-up, against constant and cosine; and once an epoch by mistake."""

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.components.curves.payload import Mark
from app.text import section, text
from app.views import html, linked, picture
from app.views.training_place import decimal, keep, scientific
from model.analysis import schedules
from model.analysis.schedules import Setting
from model.trace import Trace
from model.training.schedule import noam
from model.translator import Atlas

WIDEST, LONGEST, MOST = 65_536, 1_000_000, 10.0
STEPS, UPDATES = 20_000, 1_000
KNOWN = ((512, 4000), (512, 8000), (256, 4000), (1024, 4000))


@st.fragment
def draw(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """Choose width, warm-up, factor and length: the curves, their peak, and known values."""
    session.begin_run()
    own = schedules.of_card(atlas.card, atlas.config.d_model)
    html.prose("training.schedule_idea")
    with st.container(horizontal=True, vertical_alignment="bottom", key="schedule_choices"):
        width = _whole("training.width", WIDEST, own.d_model)
        warmup = _whole("training.warmup", LONGEST, own.warmup)
        factor = _factor(own.factor)
        last = _whole("training.last", LONGEST, schedules.worth_showing(atlas.card, STEPS))
        updates = _whole("training.updates", LONGEST, UPDATES)
    setting = Setting(width, warmup, factor)
    chart(selection, trace, setting, last, updates)
    told(setting, updates, last)
    taught(atlas, own)
    known()
    refused()


def _whole(label: str, most: int, default: int) -> int:
    name = label.removeprefix("training.")
    linked.number(name, range(1, most + 1), default)
    return int(st.number_input(text(label), min_value=1, max_value=most, key=name, on_change=linked.remember(name, default)))


def _factor(default: float) -> float:
    decimal("factor", 0.01, MOST, default)
    return float(
        st.number_input(
            text("training.factor"),
            min_value=0.01,
            max_value=MOST,
            step=0.1,
            format="%.4g",
            key="factor",
            on_change=keep("factor", default),
        )
    )


def chart(selection: session.Selection, trace: Trace, setting: Setting, last: int, updates: int) -> None:
    """All schedules over the same steps, from 1."""
    paper = Setting(*schedules.PAPER)
    steps = schedules.points(last, setting.warmup, paper.warmup)
    found = schedules.curves(setting, last, steps)
    times = "" if setting.factor == 1 else f"; × {setting.factor:g}"
    drawn = Chart(
        text("training.schedule_title"),
        text("training.schedule_axis"),
        text("training.rate"),
        (
            Series(text("training.noam", width=setting.d_model, warmup=f"{setting.warmup:,}{times}"), found["noam"]),
            Series(text("training.paper", width=paper.d_model, warmup=f"{paper.warmup:,}"), [paper.rate(step) for step in steps]),
            Series(text("training.constant"), found["constant"]),
            Series(text("training.cosine"), found["cosine"]),
            Series(
                text("training.by_epoch", updates=f"{updates:,}"),
                [schedules.by_epoch(step, setting, updates) for step in steps],
            ),
        ),
        [f"{step:,}" for step in steps],
        places=[float(step) for step in steps],
        marked=steps.index(min(setting.warmup, last)),
        marks=[
            Mark(float(step), text(f"training.mark_{name}"))
            for name, step in (("warmup", setting.warmup), ("paper", paper.warmup))
            if step <= last
        ],
        path="model.training.schedule",
    )
    curves(pack(drawn, text=section("curves"), caption=picture.caption(selection, trace), name="rates"), key="picture_rates")


def told(setting: Setting, updates: int, last: int) -> None:
    """The peak, the first step, and what is left of the rate when it is asked for by epoch."""
    html.prose(
        "training.peak",
        warmup=html.Ours(f"{setting.warmup:,}"),
        peak=html.Ours(scientific(setting.peak, 6)),
        first=html.Ours(scientific(setting.rate(1), 6)),
        later=html.Ours(f"{setting.half:,}"),
        half=html.Ours(scientific(setting.rate(setting.half), 6)),
    )
    if updates == 1:
        html.prose("training.by_epoch_same")
        return
    mistaken = schedules.highest_by_epoch(setting, updates, last)
    html.prose(
        "training.by_epoch_told",
        updates=html.Ours(f"{updates:,}"),
        last=html.Ours(f"{last:,}"),
        highest=html.Ours(scientific(mistaken.highest)),
        peak=html.Ours(scientific(mistaken.right)),
    )
    if mistaken.little:
        html.prose("training.by_epoch_little")


def taught(atlas: Atlas, own: Setting) -> None:
    """How this model was trained, where its card says it."""
    training = atlas.card.get("training", {})
    if "steps" in training and "cooldown" in training:
        html.prose(
            "training.own_schedule",
            kind="quiet",
            width=own.d_model,
            warmup=html.Ours(f"{own.warmup:,}"),
            factor=html.Ours(f"{own.factor:g}"),
            peak=html.Ours(scientific(own.peak)),
            steps=html.Ours(f"{training['steps']:,}"),
            cooldown=html.Ours(f"{training['cooldown']:,}"),
        )


def known() -> None:
    """Published values, and that a wider model is given a lower rate."""
    html.table(
        {
            text("training.width"): "number",
            text("training.warmup"): "number",
            text("training.rate_first"): "number",
            text("training.rate_peak"): "number",
            text("training.rate_late"): "number",
        },
        [
            (f"{width:,}", f"{warmup:,}", *(scientific(Setting(width, warmup).rate(step), 6) for step in (1, warmup, STEPS)))
            for width, warmup in KNOWN
        ],
        text("training.known_caption"),
    )
    html.prose("training.known_read", kind="quiet")


def refused() -> None:
    """Step 0, asked of the very function."""
    try:
        noam(0, *schedules.PAPER)
    except ValueError as error:
        html.prose("training.step_0", message=html.Ours(str(error)))
