"""Tokens and embeddings: from text to what enters the first layer."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app import session
from app.charts import embeddings as equations
from app.charts.archive import recorded
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, lexicon, linked, needs, picture, token_cards
from app.views.anatomy import Anatomy, Export, Formula, Section, Shape, open_page, tell
from app.views.tokens_effect import adds, norms, sides_of, what_if
from model.analysis import embeddings
from model.analysis.vocabulary import Side, entry, visible
from model.config import paper_base
from model.embedding import InputEmbedding
from model.tokenizer import Token, Tokenizer
from model.trace import Trace
from model.translator import Atlas, Opened


def described(selection: session.Selection, atlas: Atlas, trace: Trace) -> Anatomy:
    """The page for a sentence that can be translated."""
    sides = sides_of(atlas)
    side: Side = "target" if linked.chosen("side", sides, sides[0]) == "target" else "source"
    if not atlas.ours:
        return of_others(selection, atlas, trace, side)
    return Anatomy(
        "tokens",
        lambda: stage(selection, atlas, trace, side),
        slides=(lambda: pieces(selection, atlas, trace, side), lambda: calculation(selection, atlas, trace, side)),
        export=Export(
            f"{selection.model}-tokens.npz",
            lambda: recorded(trace, ("source.", "target."), picture.caption(selection, trace)),
            "tokens.export_note",
        ),
        sections=(
            Section("tokens.norms" if adds(atlas) else "tokens.norms_plain", lambda: norms(selection, trace, side)),
            Section("tokens.cut", lambda: lexicon.cut(selection, atlas, trace, side)),
            Section("tokens.vocabulary", lambda: lexicon.vocabulary_and_neighbours(selection, atlas, trace, side)),
        ),
        formulas=formulas(selection, atlas, trace, side),
        shapes=sizes(atlas, trace, side),
        what_if=lambda: what_if(selection, atlas, trace),
        code=(InputEmbedding, Tokenizer.encode, embeddings.agreement),
        still=("page.what_if",),
    )


def of_others(selection: session.Selection, atlas: Opened, trace: Trace, side: Side) -> Anatomy:
    """How a tokenizer of others cuts the text; what comes after it is not read."""

    def stage() -> None:
        pieces(selection, atlas, trace, side)
        picture.tell_foreign(atlas)
        needs.instead_of_page(atlas, "modules", "missing.rest")

    return Anatomy("tokens", stage, pictured=False, tries=False)


def stage(selection: session.Selection, atlas: Atlas, trace: Trace, side: Side) -> None:
    """The text and its pieces; then the four matrices from ids to the input."""
    pieces(selection, atlas, trace, side)
    calculation(selection, atlas, trace, side)


def pieces(selection: session.Selection, atlas: Opened, trace: Trace, side: Side) -> None:
    """Which text, and how it is cut."""
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    if len(sides := sides_of(atlas)) > 1:
        st.segmented_control(
            text("tokens.side"),
            sides,
            required=True,
            key="side",
            on_change=linked.remember("side", sides[0]),
            format_func={name: text(f"tokens.side_{name}") for name in sides}.__getitem__,
            label_visibility="collapsed",
        )
    tokens = trace.tokens(side)
    typed = trace.source_text if side == "source" else trace.target_text
    html.prose(f"tokens.typed_{side}", kind="quiet", count=len(tokens))
    st.html(token_cards.typed(typed, tokens, "tokens.typed_name"))
    st.html(token_cards.placed(tokens, "tokens.cards_name"))
    html.prose("tokens.cards_read", kind="quiet")
    with st.expander(text("tokens.table"), on_change="rerun", key="pieces", bind="query-params") as table:
        if table.open:
            listed(atlas, tokens, side)


def calculation(selection: session.Selection, atlas: Atlas, trace: Trace, side: Side) -> None:
    """From ids to the input, and how closely this agrees with the trace."""
    with st.container(key="stage"):
        draw(selection, atlas, trace, side)
    agreed = session.measured(embeddings.agreement, selection, side)
    html.prose(
        "tokens.agreement" if adds(atlas) else "tokens.agreement_plain",
        kind="quiet",
        product=html.Ours(f"{agreed.product:g}"),
        scaled=html.Ours(f"{agreed.scaled:g}"),
        sum=html.Ours(f"{agreed.sum:g}"),
        size=html.Ours(f"{len(getattr(atlas.tokenizers, side)):,}"),
    )


def listed(atlas: Opened, tokens: Sequence[Token], side: Side) -> None:
    """The same as a table."""
    tokenizer = getattr(atlas.tokenizers, side)
    html.table(
        {
            text("tokens.position"): "number",
            text("tokens.token"): "word strong",
            text("tokens.id"): "number",
            text("tokens.piece"): "word",
            text("tokens.characters"): "number",
            text("tokens.note"): "rich",
        },
        [
            (
                position,
                token.label,
                token.id,
                visible(tokenizer.pieces[token.id]),
                html.Ours("—" if token.special else token_cards.span(token)),
                note(token),
            )
            for position, token in enumerate(tokens)
        ],
        text("tokens.table_caption"),
    )


def note(token: Token) -> str:
    """What is special about a token, as HTML."""
    if token.special:
        return html.sentence("tokens.note_special")
    return html.sentence("tokens.note_unknown", typed=token.text) if token.unknown else ""


def draw(selection: session.Selection, atlas: Atlas, trace: Trace, side: Side) -> None:
    """One-hot rows, the table, the looked-up rows, the factor, the positions, the input."""
    parts = session.measured(embeddings.parts, selection, side)
    table = session.measured(embeddings.condensed, selection, side)
    tokenizer = getattr(atlas.tokenizers, side)
    tokens = Axis(text("tokens.token"), [token.label for token in trace.tokens(side)], side)
    width = Axis("d_model")
    ids = Axis(
        text("tokens.axis_vocabulary"),
        [
            f"{first} {entry(tokenizer, first).shown}" if exact else f"{first}–{last}" if last > first else str(first)
            for first, last, exact in zip(table.first, table.last, table.exact, strict=True)
        ],
        side,
        text("tokens.vocab_pooled", shown=len(table.first), size=f"{len(tokenizer):,}"),
    )
    stack = {"source": "encoder", "target": "decoder"}[side]
    made = partial(Matrix, rows=tokens, columns=width)
    found = [
        Matrix("one_hot", table.one_hot, tokens, ids, text("tokens.matrix_one_hot"), scale="unit"),
        Matrix("table", table.rows, ids, width, text("tokens.matrix_table"), path=f"{side}.table.weight"),
        made("looked_up", parts.looked_up, title=text("tokens.matrix_looked_up")),
        made("scaled", parts.scaled, top=parts.largest, title=text("tokens.matrix_scaled"), path=f"{side}.embedding"),
        made(
            "input",
            parts.entering,
            top=parts.largest,
            title=text("tokens.matrix_input"),
            path=f"{stack}.layers.0.residual.0.input",
        ),
    ]
    scenes = [
        Scene(
            "lookup",
            text("tokens.scene_lookup"),
            ("one_hot", "×", "table", "=", "looked_up"),
            "lookup",
            note=text("tokens.scene_lookup_note", block=table.block, size=html.Ours(f"{len(tokenizer):,}")),
            index=table.place,
        ),
        Scene(
            "scaled",
            text("tokens.scene_scaled"),
            ("looked_up", "×", html.number(embeddings.embedding_of(atlas, side).scale, 4), "=", "scaled"),
            "scaled",
            note=text("tokens.scene_scaled_note", width=atlas.config.d_model),
            value=embeddings.embedding_of(atlas, side).scale,
        ),
    ]
    if parts.position is None:
        scenes.append(Scene("sum", text("tokens.scene_plain"), ("scaled", "=", "input"), note=text("tokens.scene_no_position")))
    else:
        found.append(
            made("position", parts.position, top=parts.largest, title=text("tokens.matrix_position"), path=f"{side}.position")
        )
        scenes.append(
            Scene(
                "sum",
                text("tokens.scene_sum"),
                ("scaled", "+", "position", "=", "input"),
                "sum",
                note=text("tokens.scene_sum_note"),
            )
        )
    caption = picture.caption(selection, trace)
    matrices(pack(scenes, found, text=section("matrices"), caption=caption), key=f"tokens_matrices_{side}")


# ----- beneath the picture


def formulas(selection: session.Selection, atlas: Atlas, trace: Trace, side: Side) -> list[Formula]:
    """One token's way in numbers: the first that is no special token."""
    parts, norm = session.measured(embeddings.parts, selection, side), session.measured(embeddings.norms, selection, side)
    tokens, width = trace.tokens(side), atlas.config.d_model
    at = next((position for position, token in enumerate(tokens) if not token.special), 0)
    id_, row = tokens[at].id, parts.looked_up[at].tolist()
    added = None if parts.position is None else float(parts.position[at, 0])
    which = {"token": tokens[at].label, "position": at, "id": id_}
    return [
        Formula(
            r"o_p E = E_{\mathrm{id}_p}, \qquad o_p \in \{0, 1\}^{V}",
            equations.looked_up(at, id_, len(getattr(atlas.tokenizers, side)), row),
            "tokens.formula_lookup",
            which,
        ),
        Formula(
            r"x_p = \sqrt{d_{\text{model}}} \cdot E_{\mathrm{id}_p}" + ("" if added is None else " + PE(p)"),
            equations.input_cell(at, 0, id_, width, row[0], added, float(parts.entering[at, 0])),
            "tokens.formula_input_plain" if added is None else "tokens.formula_input",
            which,
        ),
        Formula(
            r"\lVert x \rVert = \sqrt{x_0^2 + x_1^2 + \cdots}",
            equations.lengths(at, id_, width, norm.looked_up[at], norm.scaled[at], norm.position[at] if norm.position else None),
            "tokens.formula_norm" if norm.position else "tokens.formula_norm_plain",
            which,
        ),
    ]


def sizes(atlas: Atlas, trace: Trace, side: Side) -> list[Shape]:
    """From ids to the input, in this model and in the paper's."""
    ours, base, length = atlas.config, paper_base(), len(trace.tokens(side))
    name = {"source": "L_s", "target": "L_t"}[side]
    size = len(getattr(atlas.tokenizers, side))
    vector, paper = (length, ours.d_model), (length, base.d_model)
    return [
        Shape("tokens.shape_ids", f"[{name}]", (length,), (length,)),
        Shape("tokens.shape_one_hot", f"[{name}, V]", (length, size), (length, base.source_vocab_size)),
        Shape("tokens.shape_table", "[V, d_model]", (size, ours.d_model), (base.source_vocab_size, base.d_model)),
        Shape("tokens.shape_rows", f"[{name}, d_model]", vector, paper),
        *([Shape("tokens.shape_position", f"[{name}, d_model]", vector, paper)] if adds(atlas) else []),
        Shape("tokens.shape_input", f"[{name}, d_model]", vector, paper),
    ]


open_page("tokens", described)
