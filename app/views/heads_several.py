"""Why a layer has several heads: what they cost, and what each sees of one sentence."""

import streamlit as st

from app import session
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.components.matrices.payload import Law
from app.text import section, text
from app.views import heads_place, html, picture
from model.analysis import several as analysis
from model.analysis.several import Parts
from model.trace import Trace
from model.translator import Atlas


def several(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    """The cost of one head or many, which is a formula; and what they see, when the visitor asks."""
    config = atlas.config
    html.prose("heads_several.idea", heads=config.num_heads, head_dim=config.head_dim, d_model=config.d_model)
    html.table(
        {
            text("heads_several.heads"): "number",
            text("heads_several.head_dim"): "number",
            text("heads_several.attention"): "number",
            text("heads_several.parameters"): "number",
            text("heads_several.flops"): "number",
            text("heads_several.weights"): "number",
        },
        [
            [f"{number:,}" for number in (of.heads, of.head_dim, of.attention, of.parameters, of.flops, of.weights)]
            for of in analysis.widths(config, len(trace.source), len(trace.target))
        ],
        text("heads_several.cost_caption", source=len(trace.source), target=len(trace.target)),
    )
    html.prose("heads_several.cost_read")
    seen(selection, atlas, trace)


@st.fragment
def seen(selection: session.Selection, atlas: Atlas, trace: Trace) -> None:
    session.begin_run()
    opened = st.expander(text("heads_several.open"), key="several", on_change="rerun", bind="query-params")
    if not opened.open:
        return
    with opened:
        place = heads_place.choose(atlas, "several", ("attention", "layer"))
        found = session.measured(analysis.parts, selection, place.path)
        message = pack(
            scenes(found, turned=f"{place.path}.query_rotated" in trace),
            drawn(trace, found, place.path),
            text=section("matrices"),
            caption=picture.caption(selection, trace),
            name="several",
        )
        matrices(message, key="several_matrices")
        html.prose(heads_place.convention(place), kind="quiet")
        uncut(selection, place, found.query.shape[-1] - 1, len(found.contexts))
        compared(selection, atlas)


# ----- split and concat on this sentence


def drawn(trace: Trace, found: Parts, path: str) -> list[Matrix]:
    """Queries and contexts of all heads, apart and side by side, and the weights of each head beside those of one head."""
    spans = trace[f"{path}.weights"].spans
    rows, keys = heads_place.rows(trace, spans["query"]), heads_place.columns(trace, spans["key"])
    width, part = Axis("d_model"), Axis("d_k")
    own = [
        matrix
        for head, weights in enumerate(found.weights)
        for matrix in (
            Matrix(f"query_{head}", found.queries[head], rows, part, numbered("Q", head), role="query"),
            Matrix(f"weights_{head}", weights, rows, keys, numbered("A", head), "weights", "unit", found.hidden),
            Matrix(f"context_{head}", found.contexts[head], rows, part, numbered("A V", head)),
        )
    ]
    single = analysis.one_head(trace, path)
    return [
        *own,
        Matrix("query", found.query, rows, width, "Q", role="query", path=f"{path}.query"),
        Matrix("concat", found.concat, rows, width, "Concat", path=f"{path}.context"),
        Matrix("w_output", found.to_output, width, width, "W_O"),
        Matrix("output", found.output, rows, width, text("heads_several.output"), path=f"{path}.output"),
        Matrix("one", single, rows, keys, text("heads_several.one"), "weights", "unit", found.hidden),
        *([] if found.bias is None else [Matrix("bias", found.bias[None], Axis("", [""]), width, "b_O")]),
    ]


def scenes(found: Parts, *, turned: bool) -> list[Scene]:
    heads = len(found.contexts)
    bias = [] if found.bias is None else ["+", "bias"]

    def scene(name: str, items: list[str], law: Law) -> Scene:
        key = f"heads_several.note_{name}{'_turned' if turned and name == 'see' else ''}"
        note = text(key, heads=heads, head_dim=found.queries.shape[-1], d_model=found.query.shape[-1])
        return Scene(name, text(f"heads_several.scene_{name}"), items, law, note)

    def apart(name: str) -> list[str]:
        return [item for head in range(heads) for item in ("|", f"{name}_{head}")][1:]

    return [
        scene("split", [*apart("query"), "=", "query"], "concat"),
        scene("see", [*apart("weights"), "|", "one"], "same"),
        scene("concat", [*apart("context"), "=", "concat"], "concat"),
        scene("mix", ["concat", "×", "w_output", *bias, "=", "output"], "product"),
    ]


def numbered(symbol: str, head: int) -> str:
    return f"{symbol} {text('attention_map.head_number', head=head + 1)}"


# ----- what one head would see


def uncut(selection: session.Selection, place: session.Place, dimension: int, heads: int) -> None:
    """The last number of the input, which a cut input would give to the last head alone, moves the queries of all."""
    far = session.measured_model(analysis.moved, selection.model, place.path, dimension)
    said = [
        text("heads_several.moves", head=text("attention_map.head_number", head=head + 1), far=html.number(length))
        for head, length in enumerate(far)
    ]
    html.prose("heads_several.uncut", dimension=dimension, heads=heads, moves=html.Ours(html.joined(said)))


def compared(selection: session.Selection, atlas: Atlas) -> None:
    """How many places the heads look at, beside one head of the whole width, and what the model loses with it."""
    rows = []
    for attention in session.attentions(atlas):
        seen = session.measured(analysis.sight, selection, attention)
        rows.append(
            (
                html.sentence(f"heads.name_{attention.replace('.', '_')}"),
                text("heads_several.of", places=html.number(seen.places), heads=seen.heads),
                html.number(seen.apart),
                html.number(seen.one),
                html.signed(seen.change),
            )
        )
    html.prose("heads_several.see_idea")
    html.table(
        {
            text("heads.attention"): "rich",
            text("heads_several.places"): "number",
            text("heads.entropy_heads"): "number",
            text("heads_several.entropy_one"): "number",
            text("heads_several.change"): "number",
        },
        rows,
        text("heads_several.see_caption"),
    )
    html.prose("heads_several.see_read", kind="quiet")
