"""What the key/value cache keeps, how it grows, and that it changes nothing."""

from collections.abc import Mapping

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import html, needs
from app.views.decoding_place import Asked
from app.views.decoding_stage import caption, written
from model import cost
from model.analysis import decoding_steps
from model.analysis.decoding_steps import Writing
from model.translator import Atlas, LanguageModel


def draw(selection: session.Selection, atlas: Atlas, found: Asked) -> None:
    writing, config = written(selection, found), atlas.config
    heads = config.heads_of("decoder.self_attention")
    source, steps, alone = len(writing.keys), len(writing.moments), isinstance(atlas, LanguageModel)
    kept = [cost.cache_bytes(config, source, step if alone else step + 1) for step in range(steps)]
    html.prose("decoding.cache_idea")
    html.prose(
        "decoding.cache_size_lm" if alone else "decoding.cache_size",
        layers=config.decoder_layers, d_model=cost.kept_width(config), source=source, target=steps - 1 if alone else steps,
        each=html.Ours(f"{cost.cache_bytes(config, 0, 1):,}"),
        bytes=html.Ours(f"{kept[-1]:,}"), first=html.Ours(f"{kept[0]:,}"),
    )  # fmt: skip
    html.bullets(
        [
            html.sentence(
                "decoding.cache_first_lm" if alone else "decoding.cache_first",
                heads=heads,
                length=source if alone else 1,
            ),
            html.sentence("decoding.cache_later", heads=heads, length=(source if alone else 1) + 1),
        ]
    )
    labels = [str(step + 1) for step in range(steps)]
    charts = {
        "cache_bytes": Chart(
            text("decoding.cache_bytes"), text("decoding.step"), text("decoding.bytes"),
            [Series(text("decoding.bytes"), kept, "bar")], labels, path="model.cost.cache_bytes",
        )
    }  # fmt: skip
    if not atlas.ours:  # whose operations no formula of ours counts
        drawn(selection, writing, charts)
        needs.instead_of_part(atlas, "counts")
    else:
        with_cache, without = cost.flops_of_writing(config, source, steps)
        charts["cache_flops"] = Chart(
            text("decoding.cache_flops"), text("decoding.step"), text("decoding.flops"),
            [Series(text("decoding.with_cache"), with_cache), Series(text("decoding.without_cache"), without)], labels,
            path="model.cost.flops_of_writing",
        )  # fmt: skip
        drawn(selection, writing, charts)
        html.prose(
            "decoding.cache_cost",
            kind="quiet",
            with_cache=html.Ours(f"{with_cache[-1]:,}"),
            without=html.Ours(f"{without[-1]:,}"),
        )
    measured(selection, found)


def drawn(selection: session.Selection, writing: Writing, charts: Mapping[str, Chart]) -> None:
    """The charts beside each other."""
    for column, (name, chart) in zip(st.columns(2), charts.items(), strict=False):
        with column:
            curves(pack(chart, text=section("curves"), caption=caption(selection, writing.text), name=name), key=name)


@st.fragment
def measured(selection: session.Selection, found: Asked) -> None:
    """Both ways, one after the other, compared logit by logit."""
    session.begin_run()
    with st.expander(text("decoding.cache_open"), on_change="rerun", key="cache", bind="query-params") as opened:
        if not opened.open:
            return
        writing = written(selection, found)
        both = session.measured_model(decoding_steps.cached, selection.model, selection.text, writing.ids)
        html.prose(
            "decoding.cache_measured" if both.same else "decoding.cache_differs",
            steps=len(both.bytes),
            difference=html.Ours(html.small(both.difference)),
            largest=html.Ours(html.number(both.largest)),
            bytes=html.Ours(f"{both.bytes[-1]:,}"),
        )
