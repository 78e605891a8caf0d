"""Three attentions side by side: encoder self-attention, masked decoder self-attention, cross-attention."""

from collections.abc import Mapping

import streamlit as st

from app import session
from app.charts import formulas, pairs
from app.charts.archive import npz
from app.components.attention_graph import attention_graph, pack
from app.text import section, text
from app.views import html, picture, three_alone, three_purposes
from app.views.anatomy import Anatomy, Export, Formula, Section, Shape, open_page, tell
from app.views.three_about import SHORT, about, sizes
from model.analysis import origins, purpose, what_if
from model.attention import MultiHeadAttention
from model.config import paper_base
from model.layers import DecoderLayer, EncoderLayer
from model.trace import Trace
from model.translator import Atlas, LanguageModel

KEY = "attention_graph"


def described(selection: session.Selection, atlas: Atlas, trace: Trace) -> Anatomy:
    """The page for a sentence that can be translated."""
    if isinstance(atlas, LanguageModel):
        return three_alone.described(selection, atlas, trace)
    place = session.place(atlas)
    return Anatomy(
        "three_attentions",
        lambda: stage(selection, atlas, trace, place),
        export=Export(f"{selection.model}-three-attentions.npz", lambda: npz(trace, picture.caption(selection, trace))),
        sections=(
            Section("three_attentions.flow_title", lambda: flow(selection, atlas, trace)),
            Section("three_attentions.purpose_title", lambda: three_purposes.section(selection)),
        ),
        formulas=equations(atlas, trace, place),
        shapes=tensor_sizes(atlas, trace),
        what_if=lambda: exchanged(selection, atlas, trace, place),
        code=(MultiHeadAttention.forward, EncoderLayer.forward, DecoderLayer.forward, what_if.read_nothing, purpose.outcome),
    )


# ----- the picture


def stage(selection: session.Selection, atlas: Atlas, trace: Trace, place: session.Place) -> None:
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    with st.container(key="stage"):
        panels(selection, atlas, trace, place)
    picture.name_guided(atlas)


@st.fragment
def panels(selection: session.Selection, atlas: Atlas, trace: Trace, place: session.Place) -> None:
    """All layers and heads in one message. What the browser tells: where the visitor looks now, and what to open."""
    session.begin_run()
    here = session.place(atlas)
    message = pack(
        trace,
        text=section("attention_map"),
        labels=section("attention_graph"),
        caption=picture.caption(selection, trace),
        about=about(atlas, trace),
        asymmetry={purpose.ENCODER: session.measured(origins.asymmetries, selection, purpose.ENCODER)},
        place={"attention": here.attention, "layer": here.layer, "head": here.head},
    )
    told = attention_graph(message, key=KEY, on_place_change=lambda: remember(atlas))
    if isinstance(told.open, Mapping):
        session.go("views/attention.py", place_of(atlas, told.open))
    if here != place:
        st.rerun()  # the formulas below show the head that is looked at


def remember(atlas: Atlas) -> None:
    told = st.session_state[KEY].get("place")
    if isinstance(told, Mapping):
        session.look_at(place_of(atlas, told))


def place_of(atlas: Atlas, told: Mapping[str, object]) -> session.Place:
    """What the browser sent, as a place that this model has."""
    return session.checked_place(atlas, told.get("attention"), told.get("layer"), told.get("head"))


# ----- beneath the picture


def flow(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """M and Z, and what each decoder layer makes of them."""
    config, source, target = atlas.config, len(trace.source), len(trace.target)
    after = text("three_attentions.after_pre" if config.norm == "pre" else "three_attentions.after_post")
    memory, stream = html.Ours(sizes(source, config.d_model)), html.Ours(sizes(target, config.d_model))
    html.prose("three_attentions.flow_encoder", layers=config.encoder_layers, after=html.Ours(after), shape=memory)
    html.prose("three_attentions.flow_decoder_pre" if config.norm == "pre" else "three_attentions.flow_decoder", shape=stream)
    recorded = [f"decoder.layers.{layer}.cross_attention" for layer in range(config.decoder_layers)]
    kept = sum(trace[f"{path}.{name}"].tensor.numel() for path in recorded for name in origins.KEPT)
    html.prose("three_attentions.flow_matrices", count=html.Ours(f"{kept:,}"))
    html.table(
        {
            text("three_attentions.flow_layer"): "number",
            text("three_attentions.flow_query"): "code",
            text("three_attentions.flow_key"): "code",
            text("three_attentions.flow_value"): "code",
            text("three_attentions.flow_path"): "code",
        },
        [
            (
                layer + 1,
                *(sizes(*trace[f"{path}.{name}"].tensor.shape[1:]) for name in ("query", "key", "value")),
                origins.after_self_attention(config.norm, layer),
            )
            for layer, path in enumerate(recorded)
        ],
        text("three_attentions.flow_caption"),
    )
    checks = session.measured(origins.checks, selection, session.ATTENTIONS)
    worst = {SHORT[attention]: html.small(check.largest) for attention, check in checks.items()}
    moved = html.small(session.measured(origins.change_with_target, selection))
    html.prose(
        "three_attentions.flow_checked",
        kind="quiet",
        difference=html.Ours(worst["cross"]),
        moved=html.Ours(moved),
    )
    html.prose(
        "three_attentions.product_check", kind="quiet", encoder=html.Ours(worst["encoder"]), decoder=html.Ours(worst["decoder"])
    )


def equations(atlas: Atlas, trace: Trace, place: session.Place) -> list[Formula]:
    cells = []
    for attention in session.ATTENTIONS:
        path = session.checked_place(atlas, attention, place.layer, place.head).path
        row, column = formulas.largest_weight(trace, f"{path}.weights", place.head)
        cells.append(formulas.softmax_cell(trace, path, place.head, row, column))
    encoder = session.checked_place(atlas, purpose.ENCODER, place.layer, place.head)
    weights = trace[f"{encoder.path}.weights"].tensor[0, encoder.head]
    row, column = origins.most_one_sided(weights)
    turned = atlas.config.positions == "rotary"
    which: dict[str, object] = {"layer": place.layer + 1, "head": place.head + 1}
    return [
        Formula(
            pairs.three(turned=turned, bias=atlas.config.attention_bias),
            formulas.aligned(*cells),
            "three_attentions.formula_three_turned" if turned else "three_attentions.formula_three",
            which,
        ),
        Formula(
            pairs.directed(turned=turned),
            pairs.both_ways(trace, encoder.path, encoder.head, row, column),
            "three_attentions.formula_pair",
            {
                "layer": encoder.layer + 1,
                "head": encoder.head + 1,
                "row": trace.source[row].label,
                "column": trace.source[column].label,
                "asymmetry": html.number(float(origins.asymmetry(weights.double()))),
            },
        ),
    ]


def tensor_sizes(atlas: Atlas, trace: Trace) -> list[Shape]:
    ours, base = atlas.config, paper_base()
    source, target = len(trace.source), len(trace.target)

    def shape(key: str, symbol: str, *after: int) -> Shape:
        here, paper = (
            (
                config.num_heads,
                *(after or ()),
            )
            for config in (ours, base)
        )
        return Shape(key, symbol, here, paper)

    def projected(key: str, symbol: str, length: int) -> Shape:
        return Shape(key, symbol, (ours.num_heads, length, ours.head_dim), (base.num_heads, length, base.head_dim))

    return [
        projected("three_attentions.shape_encoder", "[h, L_s, d_k]", source),
        shape("three_attentions.shape_encoder_weights", "[h, L_s, L_s]", source, source),
        projected("three_attentions.shape_decoder", "[h, L_t, d_k]", target),
        shape("three_attentions.shape_decoder_weights", "[h, L_t, L_t]", target, target),
        projected("three_attentions.shape_cross_query", "[h, L_t, d_k]", target),
        projected("three_attentions.shape_cross_key", "[h, L_s, d_k]", source),
        shape("three_attentions.shape_cross_weights", "[h, L_t, L_s]", target, source),
    ]


def exchanged(selection: session.Selection, atlas: Atlas, trace: Trace, place: session.Place) -> None:
    """Queries from the encoder, keys and values from the decoder: by the layer's own cross-attention."""
    layer = session.checked_place(atlas, purpose.CROSS, place.layer, place.head).layer
    found = session.measured(origins.swapped, selection, layer)
    source, target = len(trace.source), len(trace.target)
    html.prose("three_attentions.swap_idea", layer=layer + 1)
    html.prose(
        "three_attentions.swap_result",
        weights=html.Ours(sizes(*found.weights)),
        right=html.Ours(sizes(target, source)),
        output=html.Ours(sizes(*found.output)),
        stream=html.Ours(sizes(target, atlas.config.d_model)),
    )
    if source == target:
        html.prose("three_attentions.swap_fits", rows=source)
    else:
        html.prose("three_attentions.swap_breaks")


open_page("three_attentions", described, needed=("modules",))
