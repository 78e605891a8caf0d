"""What grows with the length: where the square overtakes, weights that are stored or not, and caches of published models."""

from collections.abc import Mapping

import streamlit as st

from app import session
from app.charts import cost as charts
from app.components.curves import Chart, Series, curves, pack
from app.components.curves.payload import Mark
from app.text import section, text
from app.views import cost_shape, html
from app.views.cost_shape import Counted
from model import cost
from model.analysis import cost_curves

HEADS, SHOWN = 8, (512, 4096, 32_768)  # the lengths that everybody quotes, with eight heads in float32
LONGEST = 10_000_000
VISIBLE = 5  # percent of the layer, from which on the square is no longer next to nothing


def crossing(found: Counted, caption: Mapping[str, str]) -> None:
    """Both terms of one layer from one token to a million, and what share the square has where it matters."""
    config, length = found.config, max(1, found.length)
    grown = cost_curves.growth(config, length, found.size)
    html.prose("cost.crossing_idea")
    share = cost_curves.square_percent(config, length)
    key = "cost.crossing_small" if share < VISIBLE else "cost.crossing_large"
    html.prose(key, length=html.Ours(f"{length:,}"), share=html.Ours(html.small(share, 2)))
    named = cost_curves.named_lengths(config, length)
    names = [
        text(f"cost.at_{name}", length=f"{at:,}") for name, at in zip(("here", "crossing", "long", "million"), named, strict=True)
    ]
    chart = Chart(
        text("cost.crossing_chart"),
        text("cost.length"),
        text("cost.operations"),
        (Series(text("cost.linear"), grown.linear), Series(text("cost.square"), grown.square)),
        [f"{n:,}" for n in grown.lengths],
        places=grown.lengths,
        logarithmic=True,
        marked=grown.lengths.index(length),
        places_logarithmic=True,
        marks=[Mark(at, name) for at, name in zip(named, names, strict=True)],
    )
    curves(pack(chart, text=section("curves"), caption=caption, name="growth"), key="cost_growth")
    columns = {"cost.length": "rich", "cost.linear": "number", "cost.square": "number", "cost.square_share": "number"}
    html.table(
        {text(key): kind for key, kind in columns.items()},
        [_terms(found, at, key) for key, at in zip(("here", "crossing", "long", "million"), named, strict=True)],
        text("cost.crossing_caption"),
    )
    html.prose("cost.crossing_truth", crossing=html.Ours(f"{cost.crossing(config):,}"), d=config.d_model, d_ff=config.d_ff)


def _terms(found: Counted, at: int, key: str) -> tuple[object, ...]:
    linear, square = cost.layer_flops(found.config, at)
    return (
        html.sentence(f"cost.at_{key}", length=html.Ours(f"{at:,}")),
        html.Ours(charts.scaled(linear)),
        html.Ours(charts.scaled(square)),
        html.Ours(html.small(cost_curves.square_percent(found.config, at), 2)),
    )


def stored(found: Counted, caption: Mapping[str, str]) -> None:
    """The weights of one layer, kept or made anew block by block."""
    config, length = found.config, max(1, found.length)
    grown = cost_curves.growth(config, length, found.size)
    html.prose("cost.stored_idea", heads=config.num_heads, bytes=found.size)
    chart = Chart(
        text("cost.stored_chart"),
        text("cost.length"),
        text("cost.bytes_exact"),
        (Series(text("cost.stored"), grown.stored), Series(text("cost.fused"), grown.fused)),
        [f"{n:,}" for n in grown.lengths],
        places=grown.lengths,
        logarithmic=True,
        marked=grown.lengths.index(length),
        places_logarithmic=True,
        marks=[Mark(at, f"{at:,}") for at in (length, *SHOWN)],
    )
    curves(pack(chart, text=section("curves"), caption=caption, name="stored"), key="cost_stored")
    columns = {
        "cost.length": "number", "cost.stored_here": "number", "cost.fused_here": "number", "cost.stored_eight": "number",
        "cost.operations_square": "number",
    }  # fmt: skip
    rows = [
        (
            html.Ours(f"{at:,}"),
            html.Ours(charts.in_bytes(cost.attention_bytes(config, at, at, bytes_per_number=found.size))),
            html.Ours(charts.in_bytes(cost.fused_bytes(config, at))),
            html.Ours(charts.in_bytes(cost.attention_bytes(EIGHT, at, at))),
            html.Ours(charts.scaled(cost.layer_flops(config, at)[1])),
        )
        for at in sorted({length, *SHOWN})
    ]
    html.table({text(key): kind for key, kind in columns.items()}, rows, text("cost.stored_caption"))
    html.prose("cost.stored_note", kind="quiet")


EIGHT = cost.table_3()[0].config  # the paper's base: eight heads


@st.fragment
def caches(found: Counted | None, caption: Mapping[str, str]) -> None:
    """What published models keep of every token, and of so many as the visitor asks for."""
    session.begin_run()
    html.prose("cost.cache_idea")
    with st.container(horizontal=True, vertical_alignment="bottom", key="cost_cache_controls"):
        length, together = (
            cost_shape.box("cache_length", range(1, LONGEST + 1), 4096),
            cost_shape.box("cache_batch", range(1, 4097), 1),
        )
    known = cost.public_models()
    columns = {
        "cost.cache_model": "word name", "cost.cache_layers": "number", "cost.cache_heads": "code", "cost.cache_width": "number",
        "cost.cache_token": "number", "cost.cache_bf16": "number", "cost.cache_fp8": "number", "cost.cache_ungrouped": "number",
        "cost.cache_source": "word source",
    }  # fmt: skip
    rows = [_kept(entry, length, together) for entry in known]
    if found is not None:
        rows.insert(0, _own(found, length, together))
    html.table({text(key): kind for key, kind in columns.items()}, rows, text("cost.cache_caption", length=f"{length:,}"))
    chart = Chart(
        text("cost.cache_chart", length=f"{length:,}"),
        text("cost.cache_model"),
        "GiB",
        (
            Series("bf16", [cost_curves.gibi(entry.cache_bytes(length, 2, together)) for entry in known], "bar"),
            Series("fp8", [cost_curves.gibi(entry.cache_bytes(length, 1, together)) for entry in known], "bar"),
        ),
        [entry.name for entry in known],
    )
    curves(pack(chart, text=section("curves"), caption=caption, name="caches"), key="cost_caches")
    html.bullets([html.sentence(f"cost.cache_note_{name}") for name in ("formula", "grouped", "window", "latent")])


def _kept(entry: cost.PublicModel, length: int, together: int) -> tuple[object, ...]:
    heads = text("cost.cache_latent", numbers=entry.latent) if entry.latent else f"{entry.heads} / {entry.kv_heads}"
    return (
        html.Ours(entry.name),
        entry.layers,
        heads,
        entry.head_dim,
        html.Ours(charts.in_bytes(entry.cache_bytes(1))),
        html.Ours(charts.in_bytes(entry.cache_bytes(length, 2, together))),
        html.Ours(charts.in_bytes(entry.cache_bytes(length, 1, together))),
        html.Ours(html.number(entry.saving, 1)),
        html.Ours(entry.source),
    )


def _own(found: Counted, length: int, together: int) -> tuple[object, ...]:
    config = found.config
    token, wide, narrow = (
        cost.cache_bytes(config, 0, tokens, batch, size)
        for tokens, batch, size in ((1, 1, 2), (length, together, 2), (length, together, 1))
    )
    return (
        html.Ours(cost_shape.described(found)),
        config.decoder_layers,
        f"{config.num_heads} / {config.num_heads}",
        config.head_dim,
        *(html.Ours(charts.in_bytes(value)) for value in (token, wide, narrow)),
        html.Ours(html.number(1, 1)),
        html.Ours("—"),
    )
