"""Architecture: the loaded model as a diagram of its modules, with this sentence's shapes on every arrow."""

from collections.abc import Callable
from dataclasses import asdict

import streamlit as st

from app import session
from app.charts import composition
from app.components.architecture import LABELS, architecture_diagram, pack
from app.text import template, text
from app.views import html, picture
from app.views.anatomy import Anatomy, Formula, Shape, open_page, tell
from model.analysis import sizes
from model.analysis.architecture import drawn, of_translator
from model.analysis.diagram import Architecture, Box
from model.config import paper_base
from model.layers import DecoderLayer, EncoderLayer, Residual
from model.trace import Trace
from model.transformer import DecoderOnly, EncoderDecoder
from model.translator import Atlas, LanguageModel

PARTS = ("embeddings", "encoder", "decoder", "output", "total")  # the order of the comparison
KEY, SETTINGS = "architecture_diagram", "architecture_what_if"
# The page that shows what a box computes.
PAGES = {
    "tokens": "tokens",
    "embedding": "tokens",
    "position": "tokens",
    "plus": "tokens",
    "self_attention": "attention",
    "masked_self_attention": "attention",
    "cross_attention": "attention",
    "mask": "masks",
    "norm": "layers",
    "add": "layers",
    "add_norm": "layers",
    "feed_forward": "layers",
    "linear": "translate",
    "softmax": "translate",
    "produced": "translate",
}


def described(selection: session.Selection, atlas: Atlas, trace: Trace) -> Anatomy:
    """The page for a sentence that can be translated."""
    found = session.measured(of_translator, selection)
    return Anatomy(
        "architecture",
        lambda: stage(selection, atlas, trace, found),
        formulas=equations(atlas, trace, found),
        shapes=shapes(atlas, trace),
        what_if=lambda: what_if(selection),
        code=(*passes(atlas), Residual.forward, drawn),
    )


def passes(atlas: Atlas) -> tuple[Callable[..., object], ...]:
    """The code of a forward pass, from the whole model to its layers."""
    if isinstance(atlas, LanguageModel):
        return DecoderOnly.forward, EncoderLayer.forward
    return EncoderDecoder.encode, EncoderDecoder.decode, EncoderLayer.forward, DecoderLayer.forward


# ----- the diagram


def stage(selection: session.Selection, atlas: Atlas, trace: Trace, found: Architecture) -> None:
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    with st.container(key="stage"):
        diagram(selection, atlas, trace, found)
    html.bullets(notes(atlas, found))


@st.fragment
def diagram(selection: session.Selection, atlas: Atlas, trace: Trace, found: Architecture) -> None:
    """The picture; a fragment, since it tells which layer is open and which page to go to."""
    session.begin_run()
    follow(atlas, found)
    architecture_diagram(
        pack(
            asdict(found),
            tokens=tokens(trace, found),
            opens={box.id: text(f"{PAGES[box.kind]}.title") for box in found.boxes if box.kind in PAGES},
            layer=session.place(atlas).layer,
            text=labels(),
            caption=picture.caption(selection, trace),
        ),
        key=KEY,
        on_layer_change=lambda: look_at_layer(atlas),
    )


def look_at_layer(atlas: Atlas) -> None:
    """Other pages open at the layer that is open here."""
    place = session.place(atlas)
    session.look_at(session.checked_place(atlas, place.attention, st.session_state[KEY].get("layer"), place.head))


def labels() -> dict[str, str]:
    """Everything that the diagram says."""
    return {label: template(f"architecture.diagram.{label}") for label in LABELS}


def tokens(trace: Trace, found: Architecture) -> dict[str, list[str]]:
    """The tokens that go in and come out, by the box that prints them."""
    read = {f"{column.path}:tokens": trace.tokens(column.sentence) for column in found.columns}
    produced = {box.id: trace.produced for box in found.boxes if box.kind == "produced"}
    return {id: [token.label for token in row] for id, row in (read | produced).items()}


def follow(atlas: Atlas, found: Architecture) -> None:
    """Open the page of the box that was chosen in the browser; what it sends is checked."""
    asked = (st.session_state.get(KEY) or {}).get("open")
    for box in found.boxes:
        if box.id == asked and box.kind in PAGES:
            sublayer = found.sublayer(box)
            its = {"sublayer": sublayer.path.rsplit(".", 1)[1]} if sublayer and PAGES[box.kind] == "layers" else {}
            session.go(f"views/{PAGES[box.kind]}.py", where(atlas, sublayer), **its)


def where(atlas: Atlas, sublayer: Box | None) -> session.Place | None:
    """The place that a sublayer stands for: its layer, and the attention that it is; for feed-forward the layer's first."""
    if sublayer is None:
        return None
    name = "cross_attention" if sublayer.kind == "cross_attention" else "self_attention"
    return session.checked_place(atlas, f"{sublayer.stack}.{name}", sublayer.layer, session.place(atlas).head)


def notes(atlas: Atlas, found: Architecture) -> list[str]:
    """What makes this model look as it does."""
    said = [
        html.sentence(f"architecture.notes_norm_{atlas.config.norm}"),
        html.sentence(f"architecture.notes_position_{atlas.config.positions}"),
        html.sentence("architecture.notes_memory"),
    ]
    for box in found.boxes:
        if box.shared_with and box.new_parameters:
            said.append(html.sentence("architecture.notes_tied", names=html.joined([box.path, *box.shared_with])))
    return said


# ----- below it


def equations(atlas: Atlas, trace: Trace, found: Architecture) -> list[Formula]:
    encoder, decoder = atlas.config.encoder_layers, atlas.config.decoder_layers
    states, logits = (tuple(trace[path].tensor.shape[1:]) for path in ("decoder.output", "logits"))
    memory = tuple(trace["encoder.output"].tensor.shape[1:]) if "encoder.output" in trace else None
    first, parts = trace.produced[0], sizes.by_part(found)
    terms = [
        (each.layers, each.attentions, each.attention, each.feed_forward, each.norms, each.norm, each.final)
        for each in sizes.stack_terms(found)
    ]
    symbols, numbers = composition.counted(terms, parts["embeddings"], parts["output"], parts["total"])
    return [
        Formula(
            composition.composed(pre_norm=atlas.config.norm == "pre", one_stack=memory is None),
            composition.flowing(encoder, memory, decoder, states, logits, trace.log_probabilities[0], first.id),
            "architecture.formula_composed",
            {"produced": first.label, "id": first.id},
        ),
        Formula(symbols, numbers, "architecture.formula_counted", {}),
    ]


def shapes(atlas: Atlas, trace: Trace) -> list[Shape]:
    ours, base = atlas.config, paper_base()
    source, target = len(trace.source), len(trace.target)
    of_encoder = [
        Shape("architecture.shape_input", "[L_s, d_model]", (source, ours.d_model), (source, base.d_model)),
        Shape("architecture.shape_memory", "[L_s, d_model]", (source, ours.d_model), (source, base.d_model)),
    ]
    of_one = [Shape("architecture.shape_input", "[L_t, d_model]", (target, ours.d_model), (target, base.d_model))]
    entering, between = (of_one, []) if isinstance(atlas, LanguageModel) else (of_encoder[:1], of_encoder[1:])
    return [
        Shape(
            "architecture.shape_table",
            "[V, d_model]",
            (ours.target_vocab_size, ours.d_model),
            (base.target_vocab_size, base.d_model),
        ),
        *entering,
        Shape("architecture.shape_projection", "[d_model, d_model]", (ours.d_model, ours.d_model), (base.d_model, base.d_model)),
        Shape("architecture.shape_feed_forward", "[d_model, d_ff]", (ours.d_model, ours.d_ff), (base.d_model, base.d_ff)),
        *between,
        Shape("architecture.shape_states", "[L_t, d_model]", (target, ours.d_model), (target, base.d_model)),
        Shape("architecture.shape_logits", "[L_t, V]", (target, ours.target_vocab_size), (target, base.target_vocab_size)),
    ]


@st.fragment
def what_if(selection: session.Selection) -> None:
    """The same sentence in an untrained model with other settings: both counts, and its diagram."""
    session.begin_run()
    html.prose("architecture.what_if_idea")
    asked = st.query_params.get("settings", "")
    st.session_state.setdefault(SETTINGS, asked if asked in sizes.SETTINGS else "base")
    name = st.segmented_control(
        text("architecture.what_if_choice"),
        list(sizes.SETTINGS),
        format_func={name: text(f"architecture.what_if_{name}") for name in sizes.SETTINGS}.__getitem__,
        key=SETTINGS,
        on_change=keep_settings,
        label_visibility="collapsed",
    )
    if not name:
        return
    html.prose(f"architecture.what_if_{name}_idea")
    compare(selection, name)
    with st.expander(text("architecture.what_if_diagram"), on_change="rerun", key="drawn", bind="query-params") as drawing:
        if drawing.open:
            untrained(selection, name)


def keep_settings() -> None:
    """A link reopens the comparison too."""
    session.settle()
    session.put("settings", st.session_state[SETTINGS] or "base")


def compare(selection: session.Selection, name: str) -> None:
    """Parameters by part and operations, both models."""
    counts = session.measured_model(sizes.compared, selection.model, name)
    rows = []
    stacks = counts.layers_here | counts.layers_there
    for part in sorted(counts.here | counts.there, key=PARTS.index):
        here, there = (found.get(part, 0) for found in (counts.here, counts.there))
        layers = {"here": counts.layers_here.get(part, 0), "there": counts.layers_there.get(part, 0)} if part in stacks else {}
        rows.append((html.sentence(f"architecture.what_if_{part}", **layers), f"{here:,}", f"{there:,}"))
    here, there = session.measured(sizes.operations, selection, name)
    rows.append((html.sentence("architecture.what_if_flops"), f"{here:,}", f"{there:,}"))
    html.table(
        {
            text("architecture.what_if_part"): "rich",
            text("architecture.what_if_here"): "number",
            text("architecture.what_if_there"): "number",
        },
        rows,
        text("architecture.what_if_caption"),
    )


def untrained(selection: session.Selection, name: str) -> None:
    """The diagram of the other model; its boxes open no page, since there is nothing to look at inside."""
    title = text("architecture.what_if_untrained", name=text(f"architecture.what_if_{name}"))
    architecture_diagram(
        pack(
            asdict(session.measured(sizes.variant, selection, name)),
            tokens={},
            opens={},
            layer=0,
            text=labels(),
            caption={"model": title, "source": "", "target": ""},
            writes=False,
        ),
        key=f"architecture_what_if_{name}",
    )


open_page("architecture", described, needed=("modules",))
