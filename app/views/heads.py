"""Heads: every layer and head of the three attentions at once; one opened, compared, averaged."""

import streamlit as st

from app import session
from app.charts import formulas
from app.charts.archive import npz
from app.text import text
from app.views import heads_roles, html, linked, picture, toy_variants
from app.views.anatomy import Anatomy, Export, Formula, Section, Shape, open_page, tell
from app.views.heads_norms import beyond
from app.views.heads_off import off
from app.views.heads_several import several
from model.analysis.agreement import prediction_difference
from model.analysis.norms import added
from model.analysis.rollout import rollout
from model.analysis.what_if import spread, without_head
from model.attention import MultiHeadAttention
from model.config import paper_base
from model.trace import Trace
from model.translator import Atlas, LanguageModel


def described(selection: session.Selection, atlas: Atlas, trace: Trace) -> Anatomy:
    """The page for a sentence that can be translated."""
    return Anatomy(
        "heads",
        lambda: stage(selection, atlas, trace),
        export=Export(f"{selection.model}-heads.npz", lambda: npz(trace, picture.caption(selection, trace))),
        sections=(
            Section("heads_several.title", lambda: several(selection, atlas, trace)),
            Section("heads_roles.title", lambda: heads_roles.roles(selection, atlas)),
            Section("heads_off.title", lambda: off(selection, trace)),
            Section("heads_norms.title", lambda: beyond(selection, atlas, trace)),
            Section("toy_variants.title_heads", lambda: toy_variants.draw("heads")),
        ),
        formulas=equations(atlas, trace),
        shapes=sizes(atlas, trace),
        what_if=lambda: what_if(selection, atlas, trace),
        code=(
            MultiHeadAttention.forward,
            MultiHeadAttention.split,
            MultiHeadAttention.merge,
            without_head,
            added,
            rollout,
            *(() if isinstance(atlas, LanguageModel) else (prediction_difference,)),
        ),
    )


def stage(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    with st.container(key="stage"):
        overview(selection, atlas, trace)
    picture.name_guided(atlas)


@st.fragment
def overview(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """The picture; a fragment, since opening a head above 128 tokens asks for its exact weights."""
    session.begin_run()
    picture.draw(
        selection,
        atlas,
        trace,
        view="heads",
        defaults={"attention": session.attentions(atlas)[-1]},
        badges=heads_roles.badges(selection, atlas),
    )


def equations(atlas: Atlas, trace: Trace) -> list[Formula]:
    config = atlas.config
    head = picture.aligning_head(atlas, "produced")
    index = head.head or 0
    row, column = formulas.largest_weight(trace, f"{head.path}.weights", index)
    which = {"head": picture.Head(head.layer, index).name, "row": row, "column": column}
    return [
        Formula(
            formulas.aligned(
                r"\mathrm{MultiHead}(Q, K, V) = \mathrm{Concat}(\mathrm{head}_1, \ldots, \mathrm{head}_h)\, W^O",
                r"\mathrm{head}_i = \mathrm{softmax}\!\left(\frac{Q W_i^Q (K W_i^K)^\top}{\sqrt{d_k}}\right) V W_i^V",
            ),
            formulas.head_widths(config.d_model, config.num_heads),
            "heads.formula_width_turned" if config.positions == "rotary" else "heads.formula_width",
            {"heads": config.num_heads, "layers": config.decoder_layers},
        ),
        Formula(
            r"s_{r,j} = \frac{q_r \cdot k_j}{\sqrt{d_k}}, \qquad \alpha_{r,j} = \frac{\exp(s_{r,j})}{\sum_{j'} \exp(s_{r,j'})}",
            formulas.aligned(
                formulas.scaled_score(trace, head.path, index, row, column),
                formulas.row_sum(trace, f"{head.path}.weights", index, row),
            ),
            "heads.formula_cell",
            {**which, "produced": trace.produced[row].label, "source": head.keys(trace)[column].label},
        ),
    ]


def sizes(atlas: Atlas, trace: Trace) -> list[Shape]:
    ours, base = atlas.config, paper_base()
    source, target = len(trace.source or trace.target), len(trace.target)
    keys = "L_s" if trace.source else "L_t"
    return [
        Shape(
            "heads.shape_query", "[h, L_t, d_k]", (ours.num_heads, target, ours.head_dim), (base.num_heads, target, base.head_dim)
        ),
        Shape(
            "heads.shape_key",
            f"[h, {keys}, d_k]",
            (ours.num_heads, source, ours.head_dim),
            (base.num_heads, source, base.head_dim),
        ),
        Shape("heads.shape_weights", f"[h, L_t, {keys}]", (ours.num_heads, target, source), (base.num_heads, target, source)),
        Shape(
            "heads.shape_context",
            "[h, L_t, d_k]",
            (ours.num_heads, target, ours.head_dim),
            (base.num_heads, target, base.head_dim),
        ),
        Shape("heads.shape_concat", "[L_t, h d_k]", (target, ours.d_model), (target, base.d_model)),
        Shape("heads.shape_output", "[d_model, d_model]", (ours.d_model, ours.d_model), (base.d_model, base.d_model)),
    ]


@st.fragment
def what_if(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """Average the heads, as a stock module returns them: how much sharper single heads are, and what the model loses."""
    session.begin_run()
    html.prose("heads.what_if_idea")
    rows = []
    for attention in session.attentions(atlas):
        measured = spread(trace, attention)
        altered = session.altered(selection.model, selection.text, selection.target, selection.beam, f"mean:{attention}")
        rows.append(
            (
                html.sentence(f"heads.name_{attention.replace('.', '_')}"),
                html.number(measured.heads),
                html.number(measured.mean),
                html.number(measured.distance),
                html.number(sum(altered) - sum(trace.log_probabilities)),
            )
        )
    html.table(
        {
            text("heads.attention"): "rich",
            text("heads.entropy_heads"): "number",
            text("heads.entropy_mean"): "number",
            text("heads.distance"): "number",
            text("heads.loss"): "number",
        },
        rows,
        text("heads.what_if_caption", score=html.number(sum(trace.log_probabilities))),
    )
    html.prose("heads.what_if_read")
    if linked.asked(text("heads.what_if_try"), "heads_what_if", selection.model, selection.text):
        written = session.altered_translation(selection.model, selection.text, f"mean:{session.attentions(atlas)[-1]}")
        html.prose("heads.what_if_written", written=written or text("translate.nothing"))


open_page("heads", described)
