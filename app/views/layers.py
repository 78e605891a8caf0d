"""Add & norm and feed-forward: what happens between the attentions."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from app import session
from app.charts import layers as charts
from app.charts.archive import recorded
from app.charts.formulas import aligned
from app.text import text
from app.views import html, later, layers_feed_forward, layers_norm, layers_stacks, layers_stream, picture, toy_variants
from app.views.anatomy import Anatomy, Export, Formula, Section, Shape, open_page, tell
from app.views.layers_place import Spot, choose, linked_choice, spot, station_name
from model.analysis import altered_layers, normalisation
from model.config import paper_base
from model.layers import FeedForward, Residual
from model.trace import Trace
from model.translator import Atlas

FEATURE = 0  # whose numbers stand in the formula


def described(selection: session.Selection, atlas: Atlas, trace: Trace) -> Anatomy:
    """The page for a sentence that can be translated."""
    where = spot(atlas, trace)
    return Anatomy(
        "layers",
        lambda: stage(selection, atlas, trace, where),
        slides=slides(selection, atlas, trace, where),
        export=Export(
            f"{selection.model}-layers.npz",
            lambda: recorded(trace, (".residual.", ".feed_forward."), picture.caption(selection, trace)),
            "layers.export_note",
        ),
        sections=(
            Section("layers.add_norm", lambda: layers_norm.add_and_norm(selection, atlas, trace, where)),
            Section("layers.hand", lambda: layers_norm.hand(selection, atlas, trace, where)),
            Section("layers.units", lambda: layers_feed_forward.units(selection, atlas, trace, where)),
            Section("layers.curves", lambda: non_linearity(selection, atlas, trace, where)),
            Section("layers.memory", lambda: memory(selection, atlas, trace, where)),
            Section("layers.stacks", lambda: layers_stacks.draw(selection, trace)),
            Section("toy_variants.title_norm", lambda: toy_variants.draw("norm")),
        ),
        formulas=equations(atlas, trace, where),
        shapes=sizes(atlas, trace, where),
        what_if=lambda: what_if(selection, atlas, trace),
        code=(Residual.forward, FeedForward.forward, normalisation.by_hand),
        still=("layers.stacks", "toy_variants.title_norm", "page.what_if"),
    )


def stage(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot) -> None:
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    with st.container(key="stage"):
        choose(atlas, trace, where)
        layers_stream.draw(selection, atlas, trace, where)


def slides(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot) -> list[Callable[[], None]]:
    """The stage one chart at a time; the decoder's ends with what the lens reads."""

    def part(draw: Callable[[session.Selection, Atlas, Trace, Spot], None]) -> None:
        for remark in session.remarks(atlas, selection.text):
            tell(remark)
        with st.container(key="stage"):
            choose(atlas, trace, where)
            draw(selection, atlas, trace, where)

    parts = [partial(layers_stream.charts, names=(name,)) for name in layers_stream.CHARTS]
    return [partial(part, draw) for draw in (*parts, *(() if where.stack == "encoder" else (layers_stream.read_depths,)))]


# ----- what is computed only once it is asked for


@st.fragment
def non_linearity(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot) -> None:
    session.begin_run()
    with st.expander(text("layers.curves_open"), on_change="rerun", key="curves", bind="query-params") as asked:
        if asked.open:
            layers_feed_forward.non_linearity(selection, atlas, trace, where)


@st.fragment
def memory(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot) -> None:
    session.begin_run()
    with st.expander(text("layers.memory_open"), on_change="rerun", key="memory", bind="query-params") as asked:
        if asked.open:
            layers_feed_forward.memory(selection, atlas, trace, where)


@st.fragment
def what_if(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """The real model without its residual connections, without its non-linearity, with another: score and free translation."""
    session.begin_run()
    html.prose("layers.what_if_idea")
    variants = tuple(altered_layers.VARIANTS)
    variant = linked_choice("altered", variants, [text(f"layers.what_if_{name}") for name in variants], None)
    if variant is None:
        return
    html.prose(f"layers.what_if_{variant}_idea", activation=html.Ours(other_activation(atlas)))
    later.drawn(
        lambda: damaged(selection, trace, variant, session.measured(altered_layers.damage, selection, variant)),
        (altered_layers.damage, selection, variant),
    )


def damaged(selection: session.Selection, trace: Trace, variant: str, found: altered_layers.Damage) -> None:
    """Score and free translation of both models."""
    html.table(
        {text("layers.what_if_model"): "rich", text("layers.what_if_score"): "number", text("layers.what_if_written"): "word"},
        [
            (
                html.sentence("layers.what_if_whole"),
                html.number(sum(trace.log_probabilities)),
                session.wrote(selection.model, selection.text) or text("translate.nothing"),
            ),
            (
                html.sentence(f"layers.what_if_{variant}"),
                html.number(found.score),
                found.written or text("translate.nothing"),
            ),
        ],
        text("layers.what_if_caption", tokens=len(trace.produced)),
    )
    html.prose("layers.what_if_read", kind="quiet")


def other_activation(atlas: Atlas) -> str:
    """The non-linearity that the model was not trained with."""
    return layers_feed_forward.NAMES["gelu" if atlas.config.activation == "relu" else "relu"]


# ----- beneath the picture


def equations(atlas: Atlas, trace: Trace, where: Spot) -> list[Formula]:
    hand, station, token = layers_norm.by_hand(atlas, trace, where), where.station, where.token

    def recorded(name: str) -> float:
        return float(trace[f"{station.path}.{name}"].tensor[0, token, FEATURE])

    at = {
        "position": token,
        "token": trace.tokens(where.side)[token].label,
        "station": html.Ours(station_name(station)),
        "feature": FEATURE,
    }
    network = f"{station.stack}.layers.{station.layer}.feed_forward"
    unit = layers_feed_forward.strongest(trace, where)
    given, after = layers_feed_forward.through_unit(atlas, trace, where, unit)
    general = {
        "post": r"s = x + \mathrm{Sub}(x), \qquad x_{\text{next}} = \mathrm{LN}(s)",
        "pre": r"x_{\text{next}} = x + \mathrm{Sub}(\mathrm{LN}(x))",
    }[atlas.config.norm]
    name, read = layers_norm.NORMED[atlas.config.norm], {"post": "x", "pre": "u"}[atlas.config.norm]
    return [
        Formula(
            rf"{general}, \qquad "
            rf"\mathrm{{LN}}({name})_i = \frac{{{name}_i - \mu}}{{\sqrt{{\sigma^2 + \varepsilon}}}}\, g_i + b_i",
            aligned(
                charts.residual_cell(
                    FEATURE, recorded("input"), recorded("sublayer"), recorded("sum"), pre_norm=atlas.config.norm == "pre"
                ),
                charts.layer_norm_cell(
                    FEATURE,
                    name=name,
                    x=float(hand.x[FEATURE]),
                    mean=hand.mean,
                    variance=hand.variance,
                    epsilon=hand.epsilon,
                    gain=float(hand.gain[FEATURE]),
                    bias=float(hand.bias[FEATURE]),
                    output=float(hand.output[FEATURE]),
                ),
            ),
            f"layers.formula_{atlas.config.norm}",
            at,
        ),
        Formula(
            rf"\mathrm{{FFN}}({read}) = h W_2 + b_2, \qquad h = "
            + (r"\max(0,\, " if atlas.config.activation == "relu" else r"\mathrm{GELU}(")
            + rf"{read} W_1 + b_1)"
            + ("" if read == "x" else r", \qquad u = \mathrm{LN}(x)"),
            aligned(
                *charts.unit_product(
                    name=read,
                    terms=given.largest,
                    rest=given.rest,
                    others=given.others,
                    bias=given.bias,
                    total=given.total,
                ),
                charts.unit_cell(unit, given.total, after, atlas.config.activation),
            ),
            "layers.formula_unit",
            {
                "position": token,
                "token": at["token"],
                "unit": unit,
                "others": given.others,
                "layer": station.layer + 1,
                "path": html.Ours(network),
            },
        ),
    ]


def sizes(atlas: Atlas, trace: Trace, where: Spot) -> list[Shape]:
    ours, base, length = atlas.config, paper_base(), len(trace.tokens(where.side))
    name = "L_s" if where.side == "source" else "L_t"
    return [
        Shape("layers.shape_stream", f"[{name}, d_model]", (length, ours.d_model), (length, base.d_model)),
        Shape("layers.shape_statistics", f"[{name}]", (length,), (length,)),
        Shape("layers.shape_gain", "[d_model]", (ours.d_model,), (base.d_model,)),
        Shape("layers.shape_first", "[d_model, d_ff]", (ours.d_model, ours.d_ff), (base.d_model, base.d_ff)),
        Shape("layers.shape_hidden", f"[{name}, d_ff]", (length, ours.d_ff), (length, base.d_ff)),
        Shape("layers.shape_second", "[d_ff, d_model]", (ours.d_ff, ours.d_model), (base.d_ff, base.d_model)),
    ]


open_page("layers", described, needed=("modules",))
