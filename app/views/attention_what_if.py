"""What if attention were computed otherwise: four wrong ways, tried on this head, and what each costs on this sentence."""

import math
from collections.abc import Sequence

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves
from app.components.curves import pack as pack_chart
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, linked, picture, rows
from app.views.attention_scenes import axes_of
from model.analysis import variants
from model.analysis.variants import Measured
from model.trace import Trace
from model.translator import Atlas

WIDTHS = (4, 64, 512)
ROWS = 16  # of the table of moved rows


@st.fragment
def what_if(selection: session.Selection, atlas: Atlas, trace: Trace, place: session.Place) -> None:
    """One variant, its map beside the right one, its numbers, its damage."""
    session.begin_run()
    variant, name = chosen_variant()
    measured = session.measured(variants.measure, selection, place.attention, place.layer, place.head, variant)
    config = atlas.config
    html.prose(
        f"attention_what_if.{variant}_idea",
        head_dim=config.head_dim,
        d_model=config.d_model,
        heads=config.num_heads,
        root=html.number(math.sqrt(config.head_dim)),
        root_model=html.number(math.sqrt(config.d_model)),
    )
    asking, keys = axes_of(trace, trace[f"{place.path}.weights"].spans, rows.named())
    maps(selection, trace, place, measured, name, (asking, keys))
    {"queries": sums, "reshape": moved}.get(variant, softness)(selection, atlas, trace, place, measured, asking.labels or ())
    damage(selection, place, variant, measured)


def chosen_variant() -> tuple[str, str]:
    """The variant and what it is called; the URL holds the variant, in whatever language."""
    names = {variant: text(f"attention_what_if.variant_{variant}") for variant in variants.VARIANTS}
    asked, key = st.query_params.get("variant"), "attention_variant"
    st.session_state[key] = asked if asked in names else variants.VARIANTS[0]

    def keep() -> None:
        session.settle()
        session.put("variant", st.session_state[key])

    chosen = st.segmented_control(
        text("attention_what_if.variant"),
        variants.VARIANTS,
        format_func=names.__getitem__,
        key=key,
        required=True,
        on_change=keep,
        label_visibility="collapsed",
    )
    variant = chosen or variants.VARIANTS[0]
    return variant, names[variant]


def maps(
    selection: session.Selection, trace: Trace, place: session.Place, measured: Measured, name: str, axes: tuple[Axis, Axis]
) -> None:
    """The right weights and the wrong ones side by side, the same cell marked in both."""
    hidden = trace[f"{place.path}.masked"].tensor[0, place.head] == -math.inf
    path = f"{place.path}.weights"
    shown = [
        Matrix(id_, values, *axes, title, role="weights", scale="unit", masked=hidden, path=path if id_ == "right" else "")
        for id_, values, title in (
            ("right", measured.before, text("attention_what_if.as_it_is")),
            ("wrong", measured.after, name),
        )
    ]
    scene = Scene("maps", name, ("right", "wrong"), note=text("attention_what_if.maps_note"))
    message = pack([scene], shown, text=section("matrices"), caption=picture.caption(selection, trace), name="what_if")
    matrices(message, key="what_if_maps")
    html.prose(rows.convention(place.attention), kind="quiet")


Labels = Sequence[str]


def softness(
    selection: session.Selection, atlas: Atlas, trace: Trace, place: session.Place, measured: Measured, labels: Labels
) -> None:
    """How sharp the rows are, and how much softmax still answers to a change."""
    kinds = {name: measured.means(name) for name in ("entropy", "slope", "pull")}
    lines = {"spread": (measured.spread_before, measured.spread_after), "largest": measured.largest, **kinds}
    html.table(
        _columns(),
        [
            (html.sentence(f"attention_what_if.mean_{name}"), *(html.small(value) for value in pair))
            for name, pair in lines.items()
        ],
        text("attention_what_if.softness_caption"),
    )
    for note in ("slope", "pull", "learning"):
        html.prose(f"attention_what_if.{note}_note", kind="quiet")
    chart(
        selection, trace, place, labels, text("attention_what_if.entropy_of_rows"), text("attention_what_if.bits"),
        (measured.entropy_before.tolist(), measured.entropy_after.tolist()),
    )  # fmt: skip
    found = [variants.drawn(width) for width in WIDTHS]
    html.table(
        {
            "d_k": "number",
            text("attention_what_if.variance_raw"): "number",
            text("attention_what_if.variance_scaled"): "number",
            text("attention_what_if.largest_raw"): "number",
            text("attention_what_if.largest_scaled"): "number",
        },
        [
            (each.head_dim, *(html.number(value) for value in (each.variance_raw, each.variance_scaled)),
             *(html.number(value, 3) for value in (each.largest_raw, each.largest_scaled)))
            for each in found
        ],
        text("attention_what_if.drawn_caption"),
    )  # fmt: skip


def sums(
    selection: session.Selection, atlas: Atlas, trace: Trace, place: session.Place, measured: Measured, labels: Labels
) -> None:
    """What the rows add up to now."""
    html.prose(
        "attention_what_if.queries_sums",
        low=html.number(float(measured.row_sums.min()), 3),
        high=html.number(float(measured.row_sums.max()), 3),
        least=html.number(float(measured.column_sums.min()), 3),
        most=html.number(float(measured.column_sums.max()), 3),
    )
    title = text("attention_what_if.sum_of_rows")
    pair = measured.before.sum(dim=-1).tolist(), measured.row_sums.tolist()
    chart(selection, trace, place, labels, title, text("attention_what_if.sum"), pair)


def moved(
    selection: session.Selection, atlas: Atlas, trace: Trace, place: session.Place, measured: Measured, labels: Labels
) -> None:
    """Whose queries now stand in this head's rows."""
    html.prose(
        "attention_what_if.reshape_differ",
        queries=f"{measured.differing:.0%}",
        keys=f"{measured.keys_differing:.0%}",
        head=place.head + 1,
    )
    positions, heads = session.measured(variants.origin, selection, place.attention, place.head)
    rows = [
        (f"{row} {labels[row]}", f"{position} {labels[position]}", head + 1)
        for row, (position, head) in enumerate(zip(positions.tolist(), heads.tolist(), strict=True))
    ]
    html.table(
        {
            text("attention_what_if.row"): "word",
            text("attention_what_if.holds_position"): "word",
            text("attention_what_if.holds_head"): "number",
        },
        rows[:ROWS],
        text("attention_what_if.reshape_caption", head=place.head + 1, shown=min(ROWS, len(rows)), rows=len(rows)),
    )


def damage(selection: session.Selection, place: session.Place, variant: str, measured: Measured) -> None:
    """The same translation, scored by the wrong model, and what the wrong model writes by itself."""
    words: dict[str, str] = {}
    if linked.asked(text("attention_what_if.try"), "attention_what_if_try", selection.model, selection.text, place, variant):
        for scope in variants.SCOPES:
            at = (place.attention, place.layer, place.head, variant, scope)
            words[scope] = session.measured(variants.written, selection, *at) or text("translate.nothing")
    columns = {
        text("attention_what_if.scope"): "rich",
        text("attention_what_if.score"): "number",
        text("attention_what_if.change"): "number",
        text("attention_what_if.leak"): "number",
    }
    rows = [
        (
            html.sentence(f"attention_what_if.scope_{found.scope}"),
            html.number(found.log_probability, 4),
            html.difference(found.log_probability, measured.log_probability, 4),
            html.number(found.leak, 4),
            *([words[found.scope]] if words else ()),
        )
        for found in measured.damages
    ]
    if words:
        columns[text("attention_what_if.writes")] = "word"
    html.table(columns, rows, text("attention_what_if.damage_caption", score=html.number(measured.log_probability, 4)))
    html.prose("attention_what_if.leak_note", kind="quiet")
    if words:
        own = session.translation(selection.model, selection.text).text
        html.prose("attention_what_if.right_writes", kind="quiet", written=own or text("translate.nothing"))


def chart(
    selection: session.Selection,
    trace: Trace,
    place: session.Place,
    labels: Labels,
    title: str,
    unit: str,
    pair: tuple[list[float], list[float]],
) -> None:
    """One value of each row, before and after."""
    names = text("attention_what_if.as_it_is"), text("attention_what_if.changed")
    series = [Series(name, values, "bar") for name, values in zip(names, pair, strict=True)]
    drawing = Chart(title, text("attention_what_if.row"), unit, series, labels, path=f"{place.path}.weights")
    caption = picture.caption(selection, trace)
    curves(pack_chart(drawing, text=section("curves"), caption=caption, name="what_if_rows"), key="what_if_rows")


def _columns() -> dict[str, str]:
    return {
        text("attention_what_if.measure"): "rich",
        text("attention_what_if.as_it_is"): "number",
        text("attention_what_if.changed"): "number",
    }
