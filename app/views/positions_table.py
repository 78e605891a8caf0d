"""The sinusoidal table: whose, how large, in which layout; its heatmap, the curves of two dimensions, its wavelengths."""

import re
from dataclasses import dataclass
from typing import Literal

import streamlit as st
import torch
from torch import Tensor

from app import session
from app.components.curves import Chart, Series, curves
from app.components.curves import pack as pack_chart
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, linked, picture
from model.analysis import position_parts, positions
from model.analysis.rotary import turned_less_than_once
from model.position import Layout, frequencies, sinusoidal
from model.trace import Trace
from model.translator import Atlas

OWN, FREE = "own", "free"
LAYOUTS: tuple[Layout, ...] = ("interleaved", "halves")
WIDEST, LONGEST = 512, 128
LABELLED = 64  # rows that carry the label of their token; more are numbered
CURVES = 64  # positions that curves show at least


@dataclass(frozen=True)
class Table:
    """The table that the page speaks of: the model's own for this sentence, or one that the visitor chose."""

    own: bool
    length: int
    d_model: int
    base: float = 10000.0
    layout: Layout = "interleaved"

    def values(self, dtype: torch.dtype = torch.float64) -> Tensor:
        return sinusoidal(self.length, self.d_model, self.base, layout=self.layout, dtype=dtype)


def wanted(name: str, low: int, high: int, first: int) -> int:
    """The whole number that the visitor typed, else that of the URL, else `first`; what is outside moves to the nearest end."""
    written, typed = st.query_params.get(name, ""), linked.held(name)
    in_link = int(written) if re.fullmatch(r"-?[0-9]{1,8}", written) else first
    return min(high, max(low, in_link if typed is None else int(typed)))


def number(name: str, label: str, low: int, high: int, first: int, step: int = 1) -> int:
    """A widget for a whole number that stands in the URL under `name`."""
    st.session_state[name] = wanted(name, low, high, first)

    def keep() -> None:
        found = st.session_state[name]
        linked.write(name, None if found in (None, first) else str(found))

    return int(st.number_input(label, min_value=low, max_value=high, step=step, key=name, on_change=keep, width=150))


SIZES = {"pe_d": (2, WIDEST, WIDEST), "pe_length": (1, LONGEST, LONGEST), "pe_base": (2, 10_000_000, 10_000)}


def asked(atlas: Atlas, trace: Trace) -> Table | None:
    """The table that the visitor chose; None where it has a size that no table has."""
    if linked.chosen("table", (OWN, FREE), OWN) != FREE:
        return Table(True, len(position_parts.sentence(trace)), atlas.config.d_model)
    layout = linked.chosen("pe_layout", LAYOUTS, LAYOUTS[0])
    width, length, base = (wanted(name, *limits) for name, limits in SIZES.items())
    return None if width % 2 else Table(False, length, width, float(base), "halves" if layout == "halves" else "interleaved")


def choose() -> None:
    """The widgets for whose table it is; for one of the visitor's own its size, base and layout. An odd width is refused."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="choose_table"):
        linked.chosen("table", (OWN, FREE), OWN)
        whose = st.segmented_control(
            text("positions.table"),
            (OWN, FREE),
            key="table",
            required=True,
            format_func=lambda name: text(f"positions.table_{name}"),
            on_change=linked.remember("table", OWN),
        )
        if whose != FREE:
            return
        for name, limits in SIZES.items():
            number(name, text(f"positions.choose_{name}"), *limits, step=2 if name == "pe_d" else 1)
        linked.chosen("pe_layout", LAYOUTS, LAYOUTS[0])
        st.segmented_control(
            text("positions.layout"),
            LAYOUTS,
            key="pe_layout",
            required=True,
            format_func=lambda name: text(f"positions.layout_{name}"),
            on_change=linked.remember("pe_layout", LAYOUTS[0]),
        )
    try:
        frequencies(st.session_state["pe_d"])
    except ValueError as error:
        html.notice("error", "positions.refused", reason=html.Ours(error))


def heatmap(selection: session.Selection, trace: Trace, table: Table) -> None:
    """The table: rows are positions, columns dimensions; a chosen cell says its formula with its numbers."""
    recorded = table.own and "source.position" in trace
    values = trace["source.position"].tensor[0] if recorded else table.values()
    labelled = table.own and table.length <= LABELLED
    rows = Axis(
        text("positions.position"),
        [token.label for token in position_parts.sentence(trace)] if labelled else None,
        side_of(trace) if labelled else "plain",
        text("positions.rows", count=table.length),
    )
    columns = Axis(text("positions.dimension"), extent=text("positions.columns", count=table.d_model))
    matrix = Matrix("table", values, rows, columns, "PE", top=1.0, path="source.position" if recorded else "")
    scene = Scene(
        "table",
        "",
        ("table",),
        "sinusoid",
        note=text(f"positions.table_note_{table.layout}", first=first_row(table)),
        value=table.base,
        layout=table.layout,
        cell=(min(2, table.length - 1), 0),
    )
    message = pack([scene], [matrix], text=section("matrices"), caption=picture.caption(selection, trace), name="table")
    matrices(message, key="positions_table")


def side_of(trace: Trace) -> Literal["source", "target"]:
    """The sentence whose positions are drawn: the source, of a decoder-only model its only one."""
    return "source" if trace.source else "target"


def first_row(table: Table) -> str:
    """The first numbers of row 0, as they are: not zeros."""
    shown = table.values()[0, :4].tolist()
    return f"[{', '.join(f'{value:g}' for value in shown)}{', …' if table.d_model > len(shown) else ''}]"


def tell_bounds(table: Table) -> None:
    """The measured bounds of the table."""
    found = positions.bounds(table.values())
    html.prose(
        "positions.bounds",
        least=html.Ours(html.number(found.least, 4)),
        greatest=html.Ours(html.number(found.greatest, 4)),
        squared=html.Ours(f"{found.half:g}"),
        width=table.d_model,
        off=html.Ours(html.small(found.off)),
    )


def waves(selection: session.Selection, trace: Trace, table: Table) -> None:
    """The curves of any two dimensions, and the wavelength of every pair."""
    html.prose("positions.curves_idea")
    choose_dimensions(table)
    length = max(CURVES, table.length)
    shown = sinusoidal(length, table.d_model, table.base, layout=table.layout, dtype=torch.float64)
    cells = [positions.cell(0, dimension, table.d_model, table.base, table.layout) for dimension in dimensions(table)]
    series = [
        Series(
            text("positions.curve", dimension=found.dimension, wave=found.wave, pair=found.pair),
            shown[:, found.dimension].tolist(),
        )
        for found in cells
    ]
    numbered = [str(position) for position in range(length)]
    chart = Chart(text("positions.curves"), text("positions.position"), "PE", series, numbered)
    draw(selection, trace, chart, "pe_curves")
    html.prose("positions.waves_idea")
    found = positions.wavelengths(table.d_model, table.base)
    whole = positions.limit(table.base)
    pairs = [str(pair) for pair in range(len(found))]
    lines = [
        Series(text("positions.wavelength"), found.tolist()),
        Series(text("positions.wave_limit"), [whole] * len(found)),
        Series(text("positions.wave_table"), [float(table.length)] * len(found)),
    ]
    chart = Chart(text("positions.waves"), text("positions.pair"), text("positions.wave_axis"), lines, pairs, logarithmic=True)
    draw(selection, trace, chart, "pe_waves")
    html.prose(
        "positions.waves_read",
        first=html.Ours(html.number(float(found[0]), 4)),
        last=html.Ours(f"{float(found[-1]):,.1f}"),
        limit=html.Ours(f"{whole:,.1f}"),
        base=html.Ours(f"{table.base:g}"),
        top=table.d_model - 2,
        width=table.d_model,
        pair=len(found) - 1,
        longer=turned_less_than_once(found, table.length),
        pairs=len(found),
        length=table.length,
    )


def dimensions(table: Table) -> tuple[int, int]:
    """The two dimensions of the curves and of the formula, as chosen."""
    last = table.d_model - 1
    return wanted("pe_a", 0, last, 0), wanted("pe_b", 0, last, 1)


def choose_dimensions(table: Table) -> None:
    """The widgets that choose them."""
    last = table.d_model - 1
    with st.container(horizontal=True, key="choose_dimensions"):
        number("pe_a", text("positions.first"), 0, last, 0)
        number("pe_b", text("positions.second"), 0, last, 1)


def draw(selection: session.Selection, trace: Trace, chart: Chart, name: str) -> None:
    """A chart of this page."""
    curves(pack_chart(chart, text=section("curves"), caption=picture.caption(selection, trace), name=name), key=name)
