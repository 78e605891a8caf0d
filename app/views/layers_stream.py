"""The residual stream of one position through all layers: how long it is, where it points, and what the logit lens reads."""

from collections.abc import Sequence

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import html, picture
from app.views.layers_place import Spot, labels, station_name, tell_where
from model.analysis import lens, residual
from model.trace import Trace
from model.translator import Atlas

CHARTS = ("lengths", "cosines")


def draw(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot) -> None:
    """Two charts over the depth; for the decoder what the lens reads at each."""
    charts(selection, atlas, trace, where)
    if where.stack == "encoder":
        html.prose("layers.lens_encoder", kind="quiet")
    else:
        read_depths(selection, atlas, trace, where)


def charts(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot, names: Sequence[str] = CHARTS) -> None:
    """How long the stream is at every depth, and where it points, side by side; or those of these `names`."""
    pre_norm = atlas.config.norm == "pre"
    stream = residual.along(trace, where.stack, where.token, pre_norm=pre_norm)
    tell_where(trace, where)
    depths = names_of(stream)
    found = {
        "lengths": Chart(
            text("layers.lengths"),
            text("layers.depth"),
            text("layers.length"),
            lengths(stream, pre_norm=pre_norm),
            depths,
            marked=where.depth,
            path=f"{where.stack}.layers.*.residual.*[0, {where.token}]",
        ),
        "cosines": Chart(
            text("layers.cosines"),
            text("layers.depth"),
            text("layers.cosine"),
            (
                Series(text("layers.cosine_input"), stream.cosines),
                Series(text("layers.cosine_added"), (None, *stream.turned)),
            ),
            depths,
            marked=where.depth,
            path=f"{where.stack}.layers.*.residual.*[0, {where.token}]",
        ),
    }
    for column, name in zip(st.columns(len(names)), names, strict=True):
        message = pack(found[name], text=section("curves"), caption=picture.caption(selection, trace), name=name)
        with column:
            curves(message, key=f"picture_{name}")
    html.prose(f"layers.stream_{'pre' if pre_norm else 'post'}", kind="quiet")
    at = where.depth - 1
    html.prose(
        "layers.lengths_add",
        kind="quiet",
        station=html.Ours(station_name(where.station)),
        came=html.Ours(html.number(stream.lengths[at], 4)),
        added=html.Ours(html.number(stream.added[at], 4)),
        cosine=html.Ours(html.number(stream.turned[at], 4)),
        sum=html.Ours(html.number(stream.sums[at])),
    )


def names_of(stream: residual.Stream) -> list[str]:
    """What the depths are called."""
    return [text("layers.depth_input"), *(station_name(station) for station in stream.stations)]


def lengths(stream: residual.Stream, *, pre_norm: bool) -> list[Series]:
    """At every point one residual connection: what came in, what is added, the sum, what goes on. The first point came in."""
    goes_on = Series(text("layers.length_goes_on_pre" if pre_norm else "layers.length_goes_on_post"), stream.lengths)
    summed = [] if pre_norm else [Series(text("layers.length_sum"), (None, *stream.sums))]  # in pre-norm the sum goes on
    return [
        Series(text("layers.length_came_in"), (None, *stream.lengths[:-1])),
        Series(text("layers.length_added"), (None, *stream.added)),
        *summed,
        goes_on,
    ]


def read_depths(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot) -> None:
    """The logit lens at every depth of one row."""
    names = names_of(residual.along(trace, where.stack, where.token, pre_norm=atlas.config.norm == "pre"))
    html.heading("layers.lens")
    produced = trace.produced[where.token].label
    html.prose(
        "layers.lens_idea",
        kind="quiet",
        read=trace.target[where.token].label,
        produced=produced,
        size=html.Ours(f"{atlas.config.target_vocab_size:,}"),
    )
    found = session.measured(lens.readings, selection, where.token)
    html.table(
        {
            text("layers.depth_column"): "number",
            text("layers.lens_words"): "rich",
            text("layers.lens_probability"): "number",
            text("layers.lens_rank"): "number",
        },
        [
            (html.Ours(name), chips(reading), html.number(reading.probability, 4), f"{reading.rank:,}")
            for name, reading in zip(names, found, strict=True)
        ],
        text("layers.lens_caption", produced=produced),
        titled=True,
    )
    html.prose(f"layers.lens_{'tied' if atlas.config.tie != 'none' else 'untied'}", kind="quiet")
    with st.expander(text("layers.lens_all"), on_change="rerun", key="lens_all", bind="query-params") as opened:
        if opened.open:
            read_all(selection, trace, names)


def chips(reading: lens.Reading) -> str:
    """The likeliest words at one depth as a row of small cards with their probabilities."""
    cards = "".join(
        f'<li style="--share:{share:.4f}">{html.literal(word)}<small>{html.number(share)}</small></li>'
        for _, word, share in reading.top
    )
    return f'<ol class="atlas-tokens">{cards}</ol>'


def read_all(selection: session.Selection, trace: Trace, names: list[str]) -> None:
    """The likeliest word at every depth and position."""
    found = session.measured(lens.first_words, selection)
    html.prose("layers.lens_all_read", kind="quiet")
    columns = {f"{position} {label}": "rich" for position, label in enumerate(labels(trace.target))}
    html.table(
        {text("layers.depth_column"): "number", **columns},
        [
            (html.Ours(name), *(f"{html.literal(word)} <small>{html.number(share)}</small>" for word, share in row))
            for name, row in zip(names, found, strict=True)
        ],
        text("layers.lens_all_caption"),
    )
