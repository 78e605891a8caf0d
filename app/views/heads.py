"""Heads: every layer and head of the three attentions at once; one opened, compared, averaged."""

from typing import cast

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
from model.translator import Atlas, Opened, Translator


def described(selection: session.Selection, atlas: Opened, trace: Trace) -> Anatomy:
    """The page for a sentence that can be translated."""
    writer = cast(Atlas, atlas)  # of a model that only reads, parts for which it matters are not drawn
    return Anatomy(
        "heads",
        lambda: stage(selection, atlas, trace),
        export=Export(f"{selection.model}-heads.npz", lambda: npz(trace, picture.caption(selection, trace))),
        sections=(
            Section("heads_several.title", lambda: several(selection, writer, trace), ("modules",)),
            Section("heads_roles.title", lambda: heads_roles.roles(selection, writer), ("measures",)),
            Section("heads_off.title", lambda: off(selection, trace), ("writing",)),
            Section("heads_norms.title", lambda: beyond(selection, writer, trace), ("modules",)),
            Section("toy_variants.title_heads", lambda: toy_variants.draw("heads")),
        ),
        formulas=equations(atlas, trace),
        shapes=sizes(atlas, trace),
        what_if=lambda: what_if(selection, writer, trace),
        what_if_needs=("writing",),
        code=(
            MultiHeadAttention.forward,
            MultiHeadAttention.split,
            MultiHeadAttention.merge,
            without_head,
            added,
            rollout,
            *((prediction_difference,) if isinstance(atlas, Translator) else ()),
        ),
    )


def stage(selection: session.Selection, atlas: Opened, trace: Trace) -> None:
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    with st.container(key="stage"):
        overview(selection, atlas, trace)
    picture.name_guided(atlas)
    picture.tell_foreign(atlas)


@st.fragment
def overview(selection: session.Selection, atlas: Opened, trace: Trace) -> None:
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


def equations(atlas: Opened, trace: Trace) -> list[Formula]:
    head = picture.aligning_head(atlas, "produced")
    index = head.head or 0
    row, column = formulas.largest_weight(trace, f"{head.path}.weights", index)
    which = {"head": picture.Head(head.layer, index).name, "row": row, "column": column}
    rows = trace.produced or trace.source  # an encoder alone produces nothing
    return [
        all_heads(atlas, head),
        Formula(
            rf"s_{{r,j}} = {formulas.law_of_scores(trace, head.path)}, \qquad "
            r"\alpha_{r,j} = \frac{\exp(s_{r,j})}{\sum_{j'} \exp(s_{r,j'})}",
            formulas.aligned(
                formulas.scaled_score(trace, head.path, index, row, column),
                formulas.row_sum(trace, f"{head.path}.weights", index, row),
            ),
            "heads.formula_cell",
            {**which, "produced": rows[row].label, "source": head.keys(trace)[column].label},
        ),
    ]


def all_heads(atlas: Opened, head: picture.Head) -> Formula:
    """How the heads of a layer make one output."""
    config, heads = atlas.config, atlas.config.heads_of(head.attention)
    values: dict[str, object] = {"heads": heads, "layers": session.layers_of(atlas, head.attention)}
    together = r"\mathrm{MultiHead}(Q, K, V) = \mathrm{Concat}(\mathrm{head}_1, \ldots, \mathrm{head}_h)\, W^O"
    if not atlas.ours:
        share = heads // config.key_heads_of(head.attention)
        scaled = str(config.positions) != "relative"  # in cross-attention T5 adds nothing for distances either
        one = formulas.one_of_heads(grouped=share > 1, scaled=scaled)
        return Formula(
            formulas.aligned(together, one),
            formulas.heads_side_by_side(heads, config.head_dim_of(head.attention), config.d_model),
            "heads.formula_width_grouped" if share > 1 else "heads.formula_width_foreign",
            {**values, "share": share} if share > 1 else values,
        )
    return Formula(
        formulas.aligned(together, formulas.one_of_heads(grouped=False, scaled=True)),
        formulas.head_widths(config.d_model, heads),
        "heads.formula_width_turned" if config.positions == "rotary" else "heads.formula_width",
        values,
    )


def sizes(atlas: Opened, trace: Trace) -> list[Shape]:
    """Of the last attention that the model has: cross-attention, or its one self-attention."""
    ours, base, attention = atlas.config, paper_base(), session.attentions(atlas)[-1]
    heads, key_heads, width = ours.heads_of(attention), ours.key_heads_of(attention), ours.head_dim_of(attention)
    target = len(trace.target or trace.source)
    source = len(trace.source or trace.target)
    rows, keys = "L_t" if trace.target else "L_s", "L_s" if trace.source else "L_t"
    query, paper_query = (heads, target, width), (base.num_heads, target, base.head_dim)
    return [
        Shape("heads.shape_query", f"[h, {rows}, d_k]", query, paper_query),
        Shape(
            "heads.shape_key", f"[h{'' if heads == key_heads else '_k'}, {keys}, d_k]",
            (key_heads, source, width), (base.num_heads, source, base.head_dim),
        ),
        Shape("heads.shape_weights", f"[h, {rows}, {keys}]", (heads, target, source), (base.num_heads, target, source)),
        Shape("heads.shape_context", f"[h, {rows}, d_k]", query, paper_query),
        Shape("heads.shape_concat", f"[{rows}, h d_k]", (target, heads * width), (target, base.d_model)),
        Shape("heads.shape_output", "[h d_k, d_model]", (heads * width, ours.d_model), (base.d_model, base.d_model)),
    ]  # fmt: skip


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
