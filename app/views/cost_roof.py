"""The roofline: what a real machine allows one layer, reading and writing; the machine's figures can be changed."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from app import session
from app.charts import cost as charts
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import html, linked
from app.views.cost_shape import Counted
from model import cost
from model.analysis import cost_curves
from model.analysis.cost_curves import UnderRoof

FIGURES = ("fp32", "bf16", "fp8", "bandwidth")
FIRST = "RTX 5070"


@st.fragment
def roofline(found: Counted, caption: Mapping[str, str]) -> None:
    session.begin_run()
    html.prose("cost.roof_idea")
    machine = chosen_machine()
    if machine is not None:
        under(found, machine, caption)
    html.table(
        {
            text("cost.machine"): "word name",
            text("cost.machine_kind"): "word name",
            **{text(f"cost.figure_{name}"): "number" for name in FIGURES},
            text("cost.cache_source"): "word source",
        },
        [_figures(entry) for entry in cost.machines()],
        text("cost.machines_caption"),
    )
    html.prose("cost.machines_note", kind="quiet")


def _figures(entry: cost.Machine) -> tuple[object, ...]:
    half = text("cost.half") if entry.half else ""
    shown = {"fp32": f"{entry.fp32:,g}", "bf16": f"{entry.bf16:,g}{half}", "fp8": f"{entry.fp8:,g}" if entry.fp8 else "—"}
    return (
        html.Ours(entry.name),
        html.Ours(text(f"cost.kind_{entry.kind}")),
        *(html.Ours(shown[name]) for name in FIGURES[:3]),
        html.Ours(f"{entry.bandwidth:,g}"),
        html.Ours(entry.source),
    )


# ----- which machine


def chosen_machine() -> cost.Machine | None:
    """A machine of the table with the figures that the visitor changed; None, and the reason, if these cannot be."""
    known = {entry.name: entry for entry in cost.machines()}
    name = linked.chosen("machine", tuple(known), FIRST) or FIRST
    start = known[name]
    with st.container(horizontal=True, vertical_alignment="bottom", key="cost_machine"):
        st.selectbox(
            text("cost.machine"),
            tuple(known),
            key="machine",
            on_change=_start_again,
            args=(linked.remember("machine", FIRST),),
            width=220,
        )
        given = {figure: _figure(figure, getattr(start, figure) or 0.0) for figure in FIGURES}
    try:
        made = cost.checked_machine(name, given)
    except cost.RefusedMachineError as error:
        figure = text(f"cost.figure_{error.name}")
        html.notice(
            "error",
            "cost.machine_refused",
            figure=html.Ours(figure),
            given=str(st.session_state[error.name]),
            largest=html.Ours(f"{error.largest:,.0f}"),
        )
        return None
    same = all(getattr(made, figure) == getattr(start, figure) for figure in FIGURES)
    return start if same else replace(made, name=text("cost.changed", name=name), half=start.half)


def _start_again(put: object) -> None:
    assert callable(put)
    put()
    for name in FIGURES:
        st.session_state.pop(name, None)
        linked.write(name, None)


def _figure(name: str, default: float) -> float:
    """A figure in a box of text, so that whatever is typed comes here and is checked here."""
    shown = f"{default:g}"
    before, found = st.session_state.get(f"{name}_default", shown), linked.held(name)
    if found is None:
        found = st.query_params.get(name, shown)
    elif found == before:
        found = shown
    st.session_state[f"{name}_default"], st.session_state[name] = shown, found
    st.text_input(text(f"cost.figure_{name}"), max_chars=12, key=name, on_change=linked.remember(name, shown), width=130)
    return cost.number_of(found)


# ----- under its roof


def under(found: Counted, machine: cost.Machine, caption: Mapping[str, str]) -> None:
    precision = found.precision
    if machine.peak(precision) is None:
        html.notice("info", "cost.no_precision", machine=html.Ours(machine.name), precision=html.Ours(precision))
        precision = "bf16" if machine.bf16 else "fp32"
    points = cost_curves.under_roof(found.config, machine, precision, max(1, found.length))
    where = cost_curves.intensities(machine, points)
    at = {intensity: [point for point in points if point.work.intensity == intensity] for intensity in where}
    labels = [_label(intensity, at[intensity]) for intensity in where]
    chart = Chart(
        text("cost.roof_chart", machine=machine.name),
        text("cost.intensity"),
        text("cost.reached"),
        (
            *(Series(text("cost.roof_of", precision=name), roof) for name, roof in cost_curves.roofs(machine, where).items()),
            *(
                Series(
                    text(f"cost.work_{kind}"),
                    [next((one.roof.reached for one in at[intensity] if one.name == kind), None) for intensity in where],
                    "dots",
                )
                for kind in ("prefill", "stored", "step")
            ),
        ),
        labels,
        places=where,
        logarithmic=True,
        marked=where.index(points[0].work.intensity),
        places_logarithmic=True,
    )
    curves(pack(chart, text=section("curves"), caption=caption, name="roof"), key="cost_roof")
    columns = {
        "cost.work": "rich", "cost.operations": "number", "cost.bytes_moved": "number", "cost.intensity_short": "number",
        "cost.reached_short": "number", "cost.time": "number", "cost.bound": "word",
    }  # fmt: skip
    html.table(
        {text(key): kind for key, kind in columns.items()},
        [_row(point) for point in points],
        text("cost.roof_caption", machine=machine.name, precision=precision, ridge=f"{points[0].roof.ridge:.0f}"),
    )
    html.prose(
        "cost.roof_reading",
        ridge=html.Ours(f"{points[0].roof.ridge:.0f}"),
        machine=html.Ours(machine.name),
        precision=html.Ours(precision),
    )
    writing = next(point for point in points if point.name == "step")
    html.prose(f"cost.roof_step_{writing.roof.bound}")
    html.prose("cost.roof_note", kind="quiet")


def _label(intensity: float, points: list[UnderRoof]) -> str:
    named = html.joined([_work(point) for point in points])
    return f"{intensity:.3g} ({named})" if named else f"{intensity:.3g}"


def _work(point: UnderRoof) -> str:
    return text(f"cost.work_{point.name}_at", length=f"{point.length:,}", batch=point.batch)


def _row(point: UnderRoof) -> tuple[object, ...]:
    return (
        html.sentence(f"cost.work_{point.name}_at", length=html.Ours(f"{point.length:,}"), batch=point.batch),
        html.Ours(charts.scaled(point.work.flops)),
        html.Ours(charts.in_bytes(point.work.bytes)),
        html.Ours(f"{point.work.intensity:.3g}"),
        html.Ours(f"{charts.scaled(point.roof.reached)}FLOP/s"),
        html.Ours(charts.duration(point.roof.seconds)),
        html.Ours(text(f"cost.bound_{point.roof.bound}")),
    )
