"""What the paper prints, counted again: parameters (Table 3), training (Table 2), kinds of layers (Table 1)."""

from collections.abc import Mapping

import streamlit as st

from app import session
from app.charts import cost as charts
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import cost_shape, html
from app.views.cost_shape import Counted
from model import cost
from model.analysis import cost_curves

PAIR = 25  # tokens of a sentence, for the count of a training step


def table_3() -> None:
    """Row by row: the printed millions and this count, never made to agree."""
    html.prose("cost.table_3_idea")
    rows = cost.table_3()
    html.table(
        {
            text("cost.row"): "code",
            text("cost.counted"): "number",
            text("cost.printed_millions"): "number",
            text("cost.counted_less_base"): "number",
            text("cost.printed_less_base"): "number",
        },
        [
            (
                row.name,
                html.Ours(f"{row.counted:,}"),
                row.millions,
                html.Ours(html.signed(change, 1)),
                html.Ours(html.signed(printed, 0)),
            )
            for row, (change, printed) in zip(rows, cost_curves.less_base(rows), strict=True)
        ],
        text("cost.table_3_caption"),
    )
    base = rows[0].config
    parts = cost.parameters_by_part(base)
    html.prose(
        "cost.table_3_reading",
        encoder=html.Ours(f"{parts['encoder']:,}"),
        decoder=html.Ours(f"{parts['decoder']:,}"),
        embeddings=html.Ours(f"{parts['embeddings']:,}"),
        total=html.Ours(f"{parts['total']:,}"),
        printed=rows[0].millions,
        vocabulary=html.Ours(f"{base.target_vocab_size:,}"),
    )


def training() -> None:
    """What training the two models of the paper took, three ways."""
    html.prose("cost.training_idea")
    columns = {
        "cost.training_what": "rich",
        "cost.training_base": "number",
        "cost.training_big": "number",
        "cost.training_how": "word source",
    }
    base, big = cost.training()

    def row(key: str, one: float, two: float, how: str) -> tuple[object, ...]:
        return (html.sentence(key), html.Ours(charts.power(one)), html.Ours(charts.power(two)), html.Ours(text(how, length=PAIR)))

    html.table(
        {text(key): kind for key, kind in columns.items()},
        [
            row("cost.training_printed", base.printed, big.printed, "cost.training_printed_how"),
            row("cost.training_clock", base.by_clock, big.by_clock, "cost.training_clock_how"),
            row("cost.training_rule", base.by_rule, big.by_rule, "cost.training_rule_how"),
            row("cost.training_count", base.by_count(PAIR), big.by_count(PAIR), "cost.training_count_how"),
            (
                html.sentence("cost.training_share"),
                *(html.Ours(f"{one.used(PAIR):.0%}") for one in (base, big)),
                html.Ours(text("cost.training_share_how")),
            ),
        ],
        text("cost.training_caption"),
    )
    html.bullets([html.sentence(f"cost.training_differs_{name}") for name in ("clock", "rule", "count", "sustained")])


@st.fragment
def kinds(found: Counted, caption: Mapping[str, str]) -> None:
    """Table 1 for this n and d, and how far two positions are from one another."""
    session.begin_run()
    html.prose("cost.kinds_idea")
    length, width = max(1, found.length), found.config.d_model
    with st.container(horizontal=True, vertical_alignment="bottom", key="cost_kinds_controls"):
        kernel = cost_shape.box("kernel", range(2, 1001), 3)
        neighbourhood = cost_shape.box("neighbourhood", range(1, 100_001), 64)
    html.table(
        {
            text("cost.kind"): "rich",
            text("cost.kind_order"): "code",
            text("cost.kind_operations"): "number",
            text("cost.kind_sequential"): "code",
            text("cost.kind_path"): "code",
        },
        [
            (
                html.sentence(f"cost.kind_{kind.name}"),
                f"O({kind.symbols[0]})",
                html.Ours(charts.scaled(kind.operations)),
                f"O({kind.symbols[1]}) = {kind.sequential:,}",
                f"O({kind.symbols[2]}) = {kind.path:,}",
            )
            for kind in cost.complexity(length, width, kernel, neighbourhood)
        ],
        text("cost.kinds_caption", n=f"{length:,}", d=f"{width:,}", k=kernel, r=neighbourhood),
    )
    lengths, paths = cost_curves.paths(kernel, neighbourhood, width, length)
    chart = Chart(
        text("cost.path_chart"),
        text("cost.length"),
        text("cost.kind_path"),
        [Series(text(f"cost.kind_{name}"), values) for name, values in paths.items()],
        [f"{n:,}" for n in lengths],
        places=lengths,
        logarithmic=True,
        marked=lengths.index(length) if length in lengths else None,
        places_logarithmic=True,
    )
    curves(pack(chart, text=section("curves"), caption=caption, name="paths"), key="cost_paths")
    key = "cost.kinds_equal" if length == width else "cost.kinds_shorter" if length < width else "cost.kinds_longer"
    html.prose(key, n=html.Ours(f"{length:,}"), d=html.Ours(f"{width:,}"))
    html.prose("cost.kinds_note", kind="quiet")
