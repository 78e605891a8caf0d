"""Three attentions of a language model: it has one. What is missing, and why, what took its place, and a model that has three."""

import streamlit as st

from app import session
from app.charts import formulas
from app.text import text
from app.views import html, picture
from app.views.anatomy import Anatomy, Formula, Section, Shape, tell
from model.attention import MultiHeadAttention
from model.config import paper_base
from model.layers import EncoderLayer
from model.trace import Trace
from model.transformer import DecoderOnly
from model.translator import LanguageModel, Translator


def described(selection: session.Selection, atlas: LanguageModel, trace: Trace) -> Anatomy:
    """The page for a model with one attention."""
    return Anatomy(
        "three_attentions",
        lambda: stage(selection, atlas, trace),
        sections=(Section("three_attentions.alone_title", lambda: missing(selection)),),
        formulas=equations(atlas, trace),
        shapes=tensor_sizes(atlas, trace),
        code=(DecoderOnly.forward, EncoderLayer.forward, MultiHeadAttention.forward),
    )


def stage(selection: session.Selection, atlas: LanguageModel, trace: Trace) -> None:
    """The one attention, every layer and head of it."""
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    html.prose("three_attentions.alone_has", prompt=len(atlas.given(trace)), tokens=len(trace.target))
    with st.container(key="stage"):
        picture.draw(selection, atlas, trace, view="heads")


def missing(selection: session.Selection) -> None:
    """The three one by one, and the way to a model that has them."""
    kinds = ("encoder_self_attention", "decoder_self_attention", "decoder_cross_attention")
    html.table(
        {
            text("three_attentions.alone_attention"): "rich",
            text("three_attentions.alone_there"): "rich",
            text("three_attentions.alone_here"): "rich",
        },
        [
            (
                html.sentence(f"heads.name_{kind}"),
                html.sentence(f"three_attentions.alone_there_{kind}"),
                html.sentence(f"three_attentions.alone_here_{kind}"),
            )
            for kind in kinds
        ],
        text("three_attentions.alone_caption"),
    )
    for name, other in session.loaded(session.models()).items():
        if isinstance(other, Translator):
            label = text("three_attentions.alone_open", name=name)
            st.button(label, icon=":material/open_in_new:", key="three", on_click=lambda name=name: session.select(model=name))
            return


def equations(atlas: LanguageModel, trace: Trace) -> list[Formula]:
    """The one attention with the numbers of a cell."""
    place = session.place(atlas)
    row, column = formulas.largest_weight(trace, f"{place.path}.weights", place.head)
    return [
        Formula(
            formulas.attention(turned=atlas.config.positions == "rotary"),
            formulas.softmax_cell(trace, place.path, place.head, row, column),
            "three_attentions.alone_formula",
            {
                "layer": place.layer + 1,
                "head": place.head + 1,
                "row": row,
                "asking": trace.produced[row].label,
                "column": column,
                "answering": trace.target[column].label,
            },
        )
    ]


def tensor_sizes(atlas: LanguageModel, trace: Trace) -> list[Shape]:
    ours, base, length = atlas.config, paper_base(), len(trace.target)
    projected = (ours.num_heads, length, ours.head_dim), (base.num_heads, length, base.head_dim)
    square = (ours.num_heads, length, length), (base.num_heads, length, length)
    return [
        Shape("three_attentions.shape_decoder", "[h, L_t, d_k]", *projected),
        Shape("three_attentions.shape_decoder_weights", "[h, L_t, L_t]", *square),
    ]
