"""Weight tying: the same matrix in up to three places, what that saves, what it reads in an embedding, and the factor."""

import streamlit as st

from app import session
from app.text import text
from app.views import html, linked
from app.views.training_place import keep
from model.analysis import lens, tying
from model.analysis.vocabulary import Side
from model.config import paper_base
from model.trace import Trace
from model.translator import Atlas, LanguageModel

NAMES = {"source.table.weight": "source", "target.table.weight": "target", "to_logits.weight": "output"}


def draw(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """Where the matrix stands, by its address; what is saved; the nearest outputs; the factor."""
    html.prose("training.tying_idea")
    kind = "alone" if isinstance(atlas, LanguageModel) and atlas.config.tie == "target" else atlas.config.tie
    html.prose(f"training.tying_{kind}", name=html.Ours(selection.model))
    places(atlas)
    sizes(atlas)
    nearest(selection, atlas, trace)
    factor(selection, trace)


def places(atlas: Atlas) -> None:
    """Each matrix with its path, shape, and the memory that its numbers lie in."""
    html.table(
        {
            text("training.matrix"): "rich",
            text("training.matrix_path"): "code",
            text("training.matrix_shape"): "code",
            text("training.matrix_memory"): "word",
            text("training.matrix_address"): "code",
        },
        [
            (
                html.sentence(f"training.matrix_{NAMES[matrix.path]}"),
                matrix.path,
                f"[{matrix.shape[0]:,}, {matrix.shape[1]}]",
                html.Ours(chr(ord("A") + matrix.storage)),
                f"{matrix.address:#x}",
            )
            for matrix in tying.matrices(atlas)
        ],
        text("training.matrices_caption"),
    )
    html.prose("training.matrices_read", kind="quiet")


def sizes(atlas: Atlas) -> None:
    """Parameters with and without, of this model and the paper's base."""
    rows = []
    for name, found in (("own", tying.saved(atlas.config)), ("base", tying.saved(paper_base()))):
        rows.append((text(f"training.saved_{name}"), *(f"{value:,}" for value in (found.tied, found.untied, found.saved))))
    html.table(
        {
            text("training.saved_model"): "word name",
            text("training.saved_tied"): "number",
            text("training.saved_untied"): "number",
            text("training.saved_saved"): "number",
        },
        [(html.Ours(name), *numbers) for name, *numbers in rows],
        text("training.saved_caption"),
    )
    html.prose("training.saved_counted", kind="quiet", counted=html.Ours(f"{tying.counted(atlas):,}"))


@st.fragment
def nearest(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """Choose a token that was read: the output words that its embedding points to."""
    session.begin_run()
    html.heading("training.nearest_title")
    html.prose("training.nearest_idea")
    with st.container(horizontal=True, vertical_alignment="bottom", key="tied_choices"):
        side = _side(atlas)
        tokens = trace.tokens(side)
        first = min(1, len(tokens) - 1)
        at = linked.number("tied_token", range(len(tokens)), first)
        st.selectbox(
            text("training.choose_token"), range(len(tokens)), key="tied_token", on_change=keep("tied_token", first),
            format_func=lambda position: text("training.token_name", position=position, token=tokens[position].label),
        )  # fmt: skip
    found = session.measured_model(tying.nearest, selection.model, side, tokens[at].id)
    html.table(
        {
            text("training.nearest_word"): "word strong",
            text("training.nearest_id"): "number",
            text("training.cosine_of"): "number",
        },
        [(lens.word(atlas, id_), id_, html.number(cosine, 4)) for id_, cosine in found.words],
        text("training.nearest_caption"),
    )
    key = "tied" if found.tied else "apart" if found.own is None else "untied"
    html.prose(f"training.nearest_{key}", kind="quiet", token=tokens[at].label, mean=html.Ours(html.number(found.mean, 3)))


def _side(atlas: Atlas) -> Side:
    """Whose embedding: a language model has one."""
    if isinstance(atlas, LanguageModel):
        return "target"
    sides: tuple[Side, ...] = ("source", "target")
    chosen = linked.chosen("tied_side", sides, sides[1])
    st.segmented_control(
        text("training.choose_side"), sides, key="tied_side", required=True, on_change=linked.remember("tied_side", sides[1]),
        format_func=lambda side: text(f"training.side_{side}"),
    )  # fmt: skip
    return "source" if chosen == "source" else "target"


def factor(selection: session.Selection, trace: Trace) -> None:
    """What sqrt(d_model) multiplies, and what it does not."""
    at = min(1, len(trace.target) - 1)
    found = session.measured(tying.factor, selection, at)
    html.heading("training.factor_title")
    html.prose(
        "training.factor_told",
        token=trace.target[at].label,
        row=html.Ours(html.number(found.row, 3)),
        factor=html.Ours(html.number(found.factor, 4)),
        scaled=html.Ours(html.number(found.scaled, 3)),
        embedding_error=html.Ours(html.small(found.embedding_error)),
        logits_error=html.Ours(html.small(found.logits_error)),
    )
