"""The feed-forward network: its units for one token, the non-linearity, and units as memories."""

import streamlit as st

from app import session
from app.components.curves import Chart, Series, curves, pack
from app.text import section, text
from app.views import html, later, linked, picture
from app.views.layers_place import Spot, labels
from model.analysis import feed_forward
from model.trace import Trace
from model.translator import Atlas

LOT = 2017  # the seed by which the unit for comparison is drawn


def units(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot) -> None:
    """The activations of one token, sorted; how many units wake in every layer and for every token."""
    layer, config = where.station.layer, atlas.config
    hidden = feed_forward.hidden(trace, where.stack, layer)
    ranked = feed_forward.ranked(hidden[where.token])
    layers = config.encoder_layers if where.stack == "encoder" else config.decoder_layers
    shares = feed_forward.shares(trace, where.stack, layers)
    html.prose(
        "layers.units_idea",
        kind="quiet",
        layer=layer + 1,
        position=where.token,
        token=trace.tokens(where.side)[where.token].label,
        width=config.d_model,
        inside=config.d_ff,
        share=html.Ours(html.number(float(shares[layer, where.token]), 3)),
    )
    path = f"{where.stack}.layers.{layer}.feed_forward.hidden"
    chart = Chart(
        text("layers.units_title"),
        text("layers.units_axis"),
        text("layers.activation"),
        (Series(text("layers.activation"), [value for _, value in ranked], "bar"),),
        [text("layers.unit_name", unit=number) for number, _ in ranked],
        path=f"{path}[0, {where.token}]",
    )
    curves(pack(chart, text=section("curves"), caption=picture.caption(selection, trace), name="units"), key="picture_units")
    html.prose("layers.shares_idea", kind="quiet")
    woken = Chart(
        text("layers.shares"),
        text(f"layers.axis_{where.side}"),
        text("layers.share"),
        [Series(text("layers.layer_number", layer=number + 1), row) for number, row in enumerate(shares.tolist())],
        labels(trace.tokens(where.side)),
        marked=where.token,
        path=path.replace(f".{layer}.", ".*."),
    )
    curves(pack(woken, text=section("curves"), caption=picture.caption(selection, trace), name="shares"), key="picture_shares")


def non_linearity(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot) -> None:
    """ReLU and GELU on the real pre-activations of one token; both linear layers without either are one matrix."""
    layer = where.station.layer
    network = feed_forward.at(atlas.model, where.stack, layer)
    given = feed_forward.given(trace, atlas.config, where.stack, layer)
    before = feed_forward.pre_activation(network, given[where.token])
    order = before.sort(stable=True)
    found = feed_forward.curves(before, tuple(order.values.tolist()))
    html.prose("layers.curves_idea", kind="quiet", activation=html.Ours(NAMES[atlas.config.activation]))
    chart = Chart(
        text("layers.curves_title"),
        text("layers.pre_activation"),
        text("layers.activation"),
        [Series(NAMES[curve.name], curve.values) for curve in found],
        [text("layers.unit_name", unit=unit) for unit in order.indices.tolist()],
        places=order.values.tolist(),
        path=f"{where.stack}.layers.{layer}.feed_forward[0, {where.token}]",
    )
    curves(pack(chart, text=section("curves"), caption=picture.caption(selection, trace), name="curves"), key="picture_curves")
    html.table(
        {text("layers.curves_function"): "word", text("layers.curves_passed"): "number", text("layers.curves_kept"): "number"},
        [(html.Ours(NAMES[curve.name]), html.number(curve.passed, 3), html.number(curve.kept, 4)) for curve in found],
        text("layers.curves_caption"),
    )
    one = session.measured(feed_forward.collapsed, selection, where.stack, layer)
    html.prose(
        "layers.collapse",
        error=html.Ours(html.small(one.error)),
        width=atlas.config.d_model,
        parameters=html.Ours(f"{one.parameters:,}"),
        parameters_as_one=html.Ours(f"{one.parameters_as_one:,}"),
        linear=html.Ours(html.number(one.linear)),
        real=html.Ours(html.number(one.real)),
        cosine=html.Ours(html.number(one.apart)),
    )


NAMES = {"relu": "ReLU", "gelu": "GELU"}


def strongest(trace: Trace, where: Spot) -> int:
    """The unit that the chosen token wakes most."""
    return feed_forward.ranked(feed_forward.hidden(trace, where.stack, where.station.layer)[where.token])[0][0]


def through_unit(atlas: Atlas, trace: Trace, where: Spot, unit: int) -> tuple[feed_forward.UnitSum, float]:
    """What a unit is given for the chosen token, term by term, and what it makes of it."""
    network = feed_forward.at(atlas.model, where.stack, where.station.layer)
    read = feed_forward.given(trace, atlas.config, where.stack, where.station.layer)[where.token]
    before = feed_forward.unit_sum(network, read, unit)
    return before, float(feed_forward.hidden(trace, where.stack, where.station.layer)[where.token, unit])


# ----- units as memories


def memory(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot) -> None:
    """One unit and another drawn by lot: the tokens that wake each, the words that each promotes."""
    examples = tuple(example.source for example in session.examples(selection.model, selection.language))
    html.prose(f"layers.memory_{where.stack}", kind="quiet")
    if not examples:
        html.prose("layers.memory_none")
        return
    later.drawn(
        lambda: remember(
            atlas, trace, where, session.measured_model(feed_forward.corpora, selection.model, examples)[where.stack]
        ),
        (feed_forward.corpora, selection.model, examples),
    )


def remember(atlas: Atlas, trace: Trace, where: Spot, seen: feed_forward.Corpus) -> None:
    """Both units, beside each other."""
    chosen = choose_unit(atlas, trace, where)
    other = feed_forward.any_unit(atlas.config.d_ff, LOT, chosen)
    html.prose("layers.memory_corpus", kind="quiet", tokens=len(seen.tokens), sentences=len(seen.texts))
    for column, (number, key) in zip(st.columns(2), ((chosen, "chosen"), (other, "lot")), strict=True):
        with column:
            html.heading(f"layers.memory_unit_{key}", unit=number, seed=LOT)
            remembered(atlas, seen, where, feed_forward.unit(atlas, seen, where.stack, where.station.layer, number))


def choose_unit(atlas: Atlas, trace: Trace, where: Spot) -> int:
    """The unit in the URL, else the one that the chosen token wakes most."""
    most = strongest(trace, where)
    written = st.query_params.get("unit", "")
    asked = int(written) if written.isascii() and written.isdigit() and len(written) < 7 else most
    linked.show("memory_unit", min(asked, atlas.config.d_ff - 1))

    def keep() -> None:
        session.settle()
        session.put("unit", str(st.session_state["memory_unit"]))

    chosen: int = st.number_input(
        text("layers.memory_choose", last=atlas.config.d_ff - 1, strongest=most),
        min_value=0,
        max_value=atlas.config.d_ff - 1,
        step=1,
        key="memory_unit",
        on_change=linked.fresh("memory_unit", keep),
    )
    return chosen


def remembered(atlas: Atlas, seen: feed_forward.Corpus, where: Spot, unit: feed_forward.Unit) -> None:
    """What wakes a unit, in its sentences; and what its output vector promotes."""
    html.prose("layers.memory_awake", kind="quiet", share=html.Ours(html.number(unit.awake, 3)))
    html.table(
        {
            text("layers.memory_token"): "number strong",
            text("layers.memory_position"): "number",
            text("layers.memory_sentence"): "word",
            text("layers.activation"): "number",
        },
        [
            (seen.tokens[place], str(seen.positions[place]), seen.texts[seen.sentences[place]], html.number(value))
            for place, value in unit.woken
        ],
        text("layers.memory_woken"),
    )
    if where.stack == "decoder":
        cards = "".join(f"<li>{html.literal(word)}<small>{html.number(value)}</small></li>" for word, value in unit.promotes)
        html.prose("layers.memory_promotes", kind="quiet")
        st.html(f'<ol class="atlas-tokens" aria-label="{html.sentence("layers.memory_promotes_name")}">{cards}</ol>')
