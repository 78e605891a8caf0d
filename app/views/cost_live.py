"""This machine measured live: one attention and one encoder layer, n against milliseconds and MiB."""

from collections.abc import Mapping, Sequence

import streamlit as st

from app import session
from app.charts import cost as charts
from app.components.curves import Chart, Series, curves, pack
from app.session.machine import Measuring, bench
from app.text import section, text
from app.views import cost_shape, html, told
from app.views.cost_shape import Counted
from model import cost
from model.analysis import cost_curves, machine
from model.analysis.machine import KINDS, Timed

ASKED = "cost_measuring"  # whether this visitor waits for a measurement
EVERY = 0.7  # seconds between two looks at it


def this_machine(found: Counted, caption: Mapping[str, str]) -> None:
    """Asks for a measurement, waits for it, shows it; looks again as long as somebody waits."""
    html.prose("cost.live_idea")
    if not machine.lengths(found.config):
        html.notice("info", "cost.live_too_wide", d_model=found.config.d_model, most=machine.MOST_WIDTH)
        return
    looks = bool(st.session_state.get(ASKED))
    st.fragment(_measured, run_every=EVERY if looks else None)(found, caption, looks)


def _measured(found: Counted, caption: Mapping[str, str], looks: bool) -> None:
    session.begin_run()
    waits = bool(st.session_state.get(ASKED))
    if waits and not looks:
        st.rerun()  # the whole page once: only then is this looked at again and again
    now = bench().look(found.config)
    if waits and now.state == "idle":
        now = bench().ask(found.config)
    if waits and now.state in ("done", "failed"):
        st.session_state[ASKED] = False
        st.rerun()  # the whole page once, which then no longer looks
    if now.state in ("idle", "failed") and not waits:
        if now.state == "failed":
            html.notice("warning", "cost.live_failed")
        lengths = machine.lengths(found.config)
        html.prose(
            "cost.live_ask",
            kind="quiet",
            first=html.Ours(f"{lengths[0]:,}"),
            last=html.Ours(f"{lengths[-1]:,}"),
            name=html.Ours(cost_shape.described(found)),
        )
        told.put_off("measurement")
        st.button(text("cost.live_start"), key="cost_live_start", icon=":material/timer:", on_click=_ask, args=(found,))
    elif now.state == "waiting":
        st.progress(0.0, text("cost.live_waiting", ahead=now.ahead))
    elif now.state == "running":
        st.progress(now.share, text("cost.live_running", done=len(now.found), total=now.total))
    if now.found:
        show(now, found, caption)


def _ask(found: Counted) -> None:
    if session.allowed("measurement"):
        st.session_state[ASKED] = True
        bench().ask(found.config)


def show(now: Measuring, found: Counted, caption: Mapping[str, str]) -> None:
    """What was measured so far, beside the formulas."""
    by_length: dict[int, dict[str, Timed]] = {}
    for timed in now.found:
        by_length.setdefault(timed.length, {})[timed.kind] = timed
    layers = [row["layer"] for row in by_length.values() if "layer" in row]
    weights = [cost_curves.mebi(cost.attention_bytes(found.config, n, n)) for n in by_length]
    by_formula = {
        "time": Series(text("cost.live_predicted"), padded(cost_curves.at_best_rate(layers), len(by_length))),
        "space": Series(text("cost.live_by_formula"), weights),
    }
    for kind, unit, pick in (("time", text("cost.milliseconds"), "milliseconds"), ("space", "MiB", "mebi")):
        chart = Chart(
            text(f"cost.live_{kind}"),
            text("cost.length"),
            unit,
            [
                Series(text(f"cost.live_{name}"), [cost_curves.reading(row.get(name), pick) for row in by_length.values()])
                for name in KINDS
            ]
            + [by_formula[kind]],
            [f"{length:,}" for length in by_length],
            places=list(by_length),
            logarithmic=True,
            places_logarithmic=True,
        )
        curves(pack(chart, text=section("curves"), caption=caption, name=f"live_{kind}"), key=f"cost_live_{kind}")
    columns = {
        "cost.live_what": "rich", "cost.length": "number", "cost.milliseconds": "number", "cost.operations": "number",
        "cost.live_rate": "number", "cost.live_mebi": "number", "cost.live_weights": "number",
    }  # fmt: skip
    html.table(
        {text(key): kind for key, kind in columns.items()},
        [_row(row[name], found) for name in KINDS for row in by_length.values() if name in row],
        text("cost.live_caption"),
    )
    if now.state == "done":
        html.prose("cost.live_reading")


def padded(values: Sequence[float], length: int) -> list[float | None]:
    """With gaps at the end, where nothing was measured yet."""
    return [*values, *([None] * (length - len(values)))]


def _row(timed: Timed, found: Counted) -> tuple[object, ...]:
    weights = cost.attention_bytes(found.config, timed.length, timed.length)
    return (
        html.sentence(f"cost.live_{timed.kind}"),
        html.Ours(f"{timed.length:,}"),
        html.Ours(html.number(timed.milliseconds, 2)),
        html.Ours(charts.scaled(timed.flops)),
        html.Ours(html.number(timed.rate, 1)),
        html.Ours(html.number(cost_curves.mebi(timed.bytes), 2)),
        html.Ours("—" if timed.kind == "fused" else html.number(cost_curves.mebi(weights), 2)),
    )
