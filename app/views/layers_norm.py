"""One residual connection with its norm on real tensors; LayerNorm of one token by hand; LayerNorm against BatchNorm."""

import streamlit as st

from app import session
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, picture
from app.views.layers_place import SIDES, Spot, station_name, token_axis
from model.analysis import normalisation
from model.analysis.residual import Station
from model.trace import Trace
from model.translator import Atlas

PLUS, EQUALS, ARROW = "+", "=", "→"
NORMED = {"post": "s", "pre": "x"}  # what the norm reads: the sum, or what came in
SHOWN = 6  # features of a token whose way through LayerNorm is written out
OTHERS = 3  # example sentences that join the batch


def add_and_norm(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot) -> None:
    """x + Sub(x), and its norm, on the whole sentence: scenes in the order in which this model computes them."""
    html.prose(f"layers.add_norm_{atlas.config.norm}", kind="quiet", station=html.Ours(station_name(where.station)))
    message = pack(
        scenes(atlas, where),
        tensors(atlas, trace, where.station),
        text=section("matrices"),
        caption=picture.caption(selection, trace),
        name="add_norm",
    )
    matrices(message, key="picture_add_norm")


def scenes(atlas: Atlas, where: Spot) -> list[Scene]:
    """The two steps; the first cell is of the chosen position."""
    added = Scene(
        "sum",
        text("layers.scene_sum"),
        ("input", PLUS, "sublayer", EQUALS, "sum"),
        law="sum",
        note=text("layers.scene_sum_note"),
        cell=(where.token, 0),
    )
    normed = Scene(
        "norm",
        text("layers.scene_norm"),
        (normalisation.read_by_norm(atlas.config), ARROW, "gain", "bias", ARROW, "normed"),
        law="norm",
        note=text("layers.scene_norm_note"),
        value=atlas.config.norm_epsilon,
        cell=(where.token, 0),
    )
    return [normed, added] if atlas.config.norm == "pre" else [added, normed]


def tensors(atlas: Atlas, trace: Trace, station: Station) -> list[Matrix]:
    """The recorded values of one residual connection, and the gain and bias of its norm."""
    rows = token_axis(trace, SIDES[station.stack])
    width, one = Axis("d_model"), Axis("")
    norm = normalisation.norm_at(atlas.model, station.path)
    titles = {"input": "x", "sublayer": "Sub(x)", "sum": "s = x + Sub(x)", "normed": "LN(s)"}
    if atlas.config.norm == "pre":
        titles |= {"sublayer": "Sub(LN(x))", "sum": "x + Sub(LN(x))", "normed": "LN(x)"}
    recorded = [
        Matrix(name, trace[f"{station.path}.{name}"].tensor[0], rows, width, title, path=f"{station.path}.{name}")
        for name, title in titles.items()
    ]
    return [
        *recorded,
        Matrix("gain", norm.weight[None], one, width, text("layers.gain"), path=f"{station.path}.norm.weight"),
        Matrix("bias", norm.bias[None], one, width, text("layers.bias"), path=f"{station.path}.norm.bias"),
    ]


# ----- LayerNorm by hand


def by_hand(atlas: Atlas, trace: Trace, where: Spot) -> normalisation.ByHand:
    """LayerNorm of the chosen position at the chosen residual connection."""
    given = trace[f"{where.station.path}.{normalisation.read_by_norm(atlas.config)}"].tensor[0, where.token]
    return normalisation.by_hand(given, normalisation.norm_at(atlas.model, where.station.path))


def hand(selection: session.Selection, atlas: Atlas, trace: Trace, where: Spot) -> None:
    """Each number on the way of one token through LayerNorm; then BatchNorm beside it."""
    found = by_hand(atlas, trace, where)
    html.prose(
        "layers.hand_idea",
        kind="quiet",
        position=where.token,
        token=trace.tokens(where.side)[where.token].label,
        station=html.Ours(station_name(where.station)),
        width=atlas.config.d_model,
    )
    name = NORMED[atlas.config.norm]
    standard = f"z = ({name} − μ) / √(σ² + ε)"
    html.table(
        {text("layers.hand_step"): "rich", text("layers.hand_formula"): "code", text("layers.hand_value"): "number"},
        [
            (html.sentence("layers.hand_mean"), html.Ours(f"μ = Σ {name} / d_model"), html.number(found.mean, 4)),
            (html.sentence("layers.hand_variance"), html.Ours(f"σ² = Σ ({name} − μ)² / d_model"), html.number(found.variance, 4)),
            (html.sentence("layers.hand_epsilon"), html.Ours("ε"), html.small(found.epsilon)),
            (html.sentence("layers.hand_root"), html.Ours("√(σ² + ε)"), html.number(found.root, 4)),
            (html.sentence("layers.hand_standard_mean"), html.Ours("m = Σ z / d_model"), html.number(found.standard_mean, 4)),
            (
                html.sentence("layers.hand_standard_variance"),
                html.Ours("Σ (z − m)² / d_model"),
                html.number(found.standard_variance, 4),
            ),
        ],
        text("layers.hand_caption"),
    )
    rows = zip(
        *(values[:SHOWN].tolist() for values in (found.x, found.standard, found.gain, found.bias, found.output)), strict=True
    )
    html.table(
        {
            text("layers.hand_feature"): "number",
            name: "number",
            standard: "number",
            text("layers.gain"): "number",
            text("layers.bias"): "number",
            text("layers.hand_output"): "number strong",
        },
        [(str(feature), *(html.number(value, 4) for value in row)) for feature, row in enumerate(rows)],
        text("layers.hand_features", shown=min(SHOWN, atlas.config.d_model), width=atlas.config.d_model),
    )
    error = session.measured(normalisation.agreement, selection, where.station, where.token)
    html.prose("layers.hand_agrees", kind="quiet", error=html.Ours(html.small(error)))
    with st.expander(text("layers.batch"), on_change="rerun", key="batch_norm", bind="query-params") as opened:
        if opened.open:
            against_batch_norm(selection, where)


def against_batch_norm(selection: session.Selection, where: Spot) -> None:
    """Padding, then other sentences join the batch: who changes, measured."""
    examples = [example.source for example in session.examples(selection.model, selection.language)]
    others = tuple(source for source in examples if source != selection.text)[:OTHERS]
    station = where.station if where.stack == "encoder" or where.alone else Station("encoder", 0, 0)
    if not others:
        html.prose("layers.batch_none")
        return
    found = session.measured(normalisation.compare, selection, others, station.path)
    html.prose(
        "layers.batch_idea",
        path=html.Ours(station.path),
        tokens=found.tokens,
        padding=found.padding,
        others=found.others,
    )
    changes = {"padding": found.with_padding, "others": found.with_others}
    html.table(
        {
            text("layers.batch_change"): "rich",
            text("layers.batch_inputs"): "number",
            "LayerNorm": "number",
            text("layers.batch_training"): "number",
            text("layers.batch_evaluation"): "number",
        },
        [
            (
                html.sentence(f"layers.batch_{name}", padding=found.padding, others=found.others),
                html.small(change.inputs),
                html.small(change.layer_norm),
                html.small(change.batch_norm_training),
                html.small(change.batch_norm_evaluation),
            )
            for name, change in changes.items()
        ],
        text("layers.batch_caption"),
    )
    html.prose("layers.batch_read", modes=html.Ours(html.number(found.modes)))
    html.bullets([html.sentence("layers.batch_sentence", sentence=other) for other in others])
