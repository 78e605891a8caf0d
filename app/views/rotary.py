"""Rotary positions: pairs of numbers as hands of clocks; the score depends on the offset alone."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from app import session
from app.charts import rotary as equations
from app.charts.archive import packed
from app.components.clocks import Head, clocks
from app.components.clocks import pack as pack_clocks
from app.components.clocks.payload import OWN
from app.components.matrices import Axis, Matrix, Scene, matrices, pack
from app.text import section, text
from app.views import html, linked, picture, rotary_beside, rotary_changes, rotary_long
from app.views.anatomy import Anatomy, Export, Formula, Section, Shape, open_page, tell
from model.analysis import rotary
from model.attention import MultiHeadAttention
from model.config import paper_base
from model.position import frequencies, rotate
from model.tokenizer import Token
from model.trace import Trace
from model.translator import Atlas

PARTS = ("dials", "waves")  # of the picture, each on a slide of its own
PAIR = 0  # of the formula with numbers: the one that every head has


def described(selection: session.Selection, atlas: Atlas, trace: Trace) -> Anatomy:
    """The page for a sentence that can be translated."""
    place = self_attention(atlas, session.place(atlas))
    row, column = rotary.telling_pair(trace[f"{place.path}.weights"].tensor[0, place.head], read_by(trace, place))
    cell = session.measured(rotary.cell, selection, place.attention, place.layer, place.head, row, column)
    return Anatomy(
        "rotary",
        lambda: stage(selection, atlas, trace, place, (row, column)),
        slides=[partial(stage, selection, atlas, trace, place, (row, column), part) for part in PARTS],
        export=Export(f"{selection.model}-rotary.npz", lambda: saved(selection, trace, place), note="rotary.export_note"),
        sections=(
            Section("rotary.angles_title", lambda: angles(selection, atlas, trace, place, row, cell)),
            Section("rotary.pairings_title", lambda: rotary_changes.pairings(selection, place)),
            Section("rotary.long_title", lambda: rotary_long.long_texts(selection, atlas)),
            Section("rotary.beside_title", lambda: rotary_beside.beside(selection, place)),
        ),
        formulas=formulas(atlas, trace, place, row, column, cell),
        shapes=sizes(atlas, trace, place),
        what_if=lambda: rotary_changes.damage(selection),
        code=(rotate, frequencies, MultiHeadAttention.rotated, rotary.cosines, rotary.mixed, rotary.halves_order, rotary.turn),
        still=("rotary.long_title", "page.what_if"),
    )


def self_attention(atlas: Atlas, place: session.Place) -> session.Place:
    """The place in the model, but in a self-attention: cross-attention is never turned."""
    kinds = turnable(atlas)
    return session.checked_place(atlas, place.attention if place.attention in kinds else kinds[0], place.layer, place.head)


def turnable(atlas: Atlas) -> list[str]:
    """The attentions of this model whose queries and keys can be turned."""
    return [kind for kind in rotary.ATTENTIONS if kind in session.attentions(atlas)]


def read_by(trace: Trace, place: session.Place) -> Sequence[Token]:
    """The tokens that the head reads."""
    return trace.source if place.attention.startswith("encoder") else trace.target


def tokens_of(trace: Trace, place: session.Place) -> Axis:
    """The same as labels."""
    labels = [token.label for token in read_by(trace, place)]
    return Axis(text("rotary.token"), labels, "source" if place.attention.startswith("encoder") else "target")


def head_name(place: session.Place) -> str:
    """Its attention, layer and head, counted from 1."""
    attention = text(f"attention_map.{place.attention.replace('.', '_')}")
    return text(
        "rotary.head_name", attention=attention, place=text("picture.layer_head", layer=place.layer + 1, head=place.head + 1)
    )


# ----- the stage


def stage(
    selection: session.Selection, atlas: Atlas, trace: Trace, place: session.Place, at: tuple[int, int], part: str = "whole"
) -> None:
    """Which head, and its clocks; `part` of the picture."""
    for remark in session.remarks(atlas, selection.text):
        tell(remark)
    choose(atlas, place)
    turned = atlas.config.positions == "rotary"
    html.prose("rotary.model_turns" if turned else "rotary.model_plain", kind="quiet", name=html.Ours(selection.model))
    vectors = rotary.head_vectors(atlas, trace, place.attention, place.layer, place.head)
    tokens = tokens_of(trace, place)
    head = Head(
        query=vectors.query,
        key=vectors.key,
        scores=trace[f"{place.path}.scores"].tensor[0, place.head],
        labels=tokens.labels or (),
        role=tokens.role,
        turned=turned,
        causal=place.attention.startswith("decoder"),
        at=at,
        path=f"{place.path}.query, {place.path}.key",
    )
    message = pack_clocks(
        head,
        frequencies(atlas.config.head_dim).tolist(),
        frequencies(len(OWN[0])).tolist(),
        text=section("clocks"),
        caption={**picture.caption(selection, trace), "head": head_name(place)},
    )
    with st.container(key="stage"), st.container(key=f"rotary_{part}"):
        clocks(message, key="rotary_clocks")
    html.prose("rotary.read", kind="quiet")


def saved(selection: session.Selection, trace: Trace, place: session.Place) -> bytes:
    """The NPZ of this page: what the chosen head recorded, (query or key, head_dim), and its scores (query, key)."""
    names = ("query", "key", "query_rotated", "key_rotated", "scores")
    paths = [f"{place.path}.{name}" for name in names if f"{place.path}.{name}" in trace]
    caption = {**picture.caption(selection, trace), "head": head_name(place)}
    return packed({path: trace[path].tensor[0, place.head].float().numpy() for path in paths}, trace, caption)


def choose(atlas: Atlas, place: session.Place) -> None:
    """Which self-attention, layer and head."""
    encoder = place.attention.startswith("encoder")
    layers = range(atlas.config.encoder_layers if encoder else atlas.config.decoder_layers)
    with st.container(horizontal=True, vertical_alignment="bottom", key="choose_place"):
        _coordinate(
            atlas, place, "attention", {kind: text(f"attention_map.{kind.replace('.', '_')}") for kind in turnable(atlas)}
        )
        _coordinate(atlas, place, "layer", {index: str(index + 1) for index in layers})
        _coordinate(atlas, place, "head", {index: str(index + 1) for index in range(atlas.config.num_heads)})


def _coordinate(atlas: Atlas, place: session.Place, name: str, names: Mapping[Any, str]) -> None:
    """One coordinate of the place. The widget shows what the session knows, and tells it what the visitor chose."""
    key = f"rotary_{name}"
    linked.show(key, getattr(place, name))

    def change() -> None:
        session.move(atlas, **{name: st.session_state[key]})

    st.segmented_control(
        text(f"attention_map.{name}"), list(names), key=key, required=True, on_change=linked.fresh(key, change),
        format_func=names.__getitem__,
    )  # fmt: skip


# ----- angles, and the whole matrix of one position


def angles(selection: session.Selection, atlas: Atlas, trace: Trace, place: session.Place, row: int, cell: rotary.Cell) -> None:
    """Position times frequency is the angle; and one query times the matrix of its position."""
    html.prose("rotary.angles_idea", width=atlas.config.head_dim, pairs=atlas.config.head_dim // 2)
    tokens = tokens_of(trace, place)
    labels = list(tokens.labels or ())
    table = rotary.angle_table(len(labels), atlas.config.head_dim)
    lengths = rotary.wavelengths(atlas.config.head_dim)
    one, width = Axis(text("rotary.position"), [""]), Axis("head_dim")
    pairs = Axis(
        text("rotary.pair"),
        [text("rotary.pair_label", pair=at, wavelength=f"{length:,.1f}") for at, length in enumerate(lengths)],
    )
    this = Axis(text("rotary.token"), [labels[row]], tokens.role)
    shown = [
        Matrix("positions", table.positions, tokens, one, text("rotary.matrix_positions"), scale="range"),
        Matrix("frequencies", table.frequencies, one, pairs, text("rotary.matrix_frequencies"), scale="range"),
        Matrix("angles", table.angles, tokens, pairs, text("rotary.matrix_angles"), scale="range"),
        Matrix("query", cell.query, this, width, text("rotary.matrix_query"), role="query", path=f"{place.path}.query"),
        Matrix("rotation", cell.matrix, width, width, text("rotary.matrix_rotation", position=row)),
        Matrix(
            "turned", cell.turned, this, width, text("rotary.matrix_turned"), role="query",
            path=f"{place.path}.query_rotated" if f"{place.path}.query_rotated" in trace else "",
        ),
    ]  # fmt: skip
    scenes = [
        Scene(
            "angles", text("rotary.scene_angles"), ("positions", "×", "frequencies", "=", "angles"), "product",
            cell=(row, 1), note=text("rotary.scene_angles_note"),
        ),
        Scene(
            "rotation", text("rotary.scene_rotation"), ("query", "×", "rotation", "=", "turned"), "product",
            note=text("rotary.scene_rotation_note", position=row),
        ),
    ]  # fmt: skip
    message = pack(scenes, shown, text=section("matrices"), caption=picture.caption(selection, trace), name="angle")
    matrices(message, key="rotary_matrices")


# ----- beneath


def formulas(atlas: Atlas, trace: Trace, place: session.Place, row: int, column: int, cell: rotary.Cell) -> list[Formula]:
    """One pair of a query turned, and a score as the sum of its cosines."""
    labels = list(tokens_of(trace, place).labels or ())
    where: dict[str, object] = {
        "head": html.Ours(head_name(place)),
        "query": labels[row],
        "other": labels[column],
        "row": row,
        "column": column,
    }
    made = cell.cosines
    first = (float(made.sizes[0]), float(made.frequencies[0]), float(made.phases[0]))
    rotation = r"\begin{pmatrix} \cos p\,w_i & -\sin p\,w_i \\ \sin p\,w_i & \cos p\,w_i \end{pmatrix}"
    return [
        Formula(
            rf"\begin{{pmatrix}} q'_{{2i}} \\ q'_{{2i+1}} \end{{pmatrix}} = {rotation} "
            r"\begin{pmatrix} q_{2i} \\ q_{2i+1} \end{pmatrix}, \qquad w_i = 10000^{-2i/d_k}",
            equations.turned_pair(PAIR, row, float(made.frequencies[PAIR]), cell.matrix, cell.query, cell.turned),
            "rotary.formula_pair",
            {**where, "pair": PAIR},
        ),
        Formula(
            r"q' \cdot k' = \sum_i |q_i|\,|k_i| \cos\bigl((p_q - p_k)\, w_i + \varphi_i\bigr), \qquad "
            r"\varphi_i = \arg q_i - \arg k_i",
            equations.score(row - column, atlas.config.head_dim, first, cell.terms.tolist(), cell.product, cell.score),
            "rotary.formula_score",
            where,
        ),
    ]


def sizes(atlas: Atlas, trace: Trace, place: session.Place) -> list[Shape]:
    """From the heads' queries to their scores, in this model and in the paper's."""
    ours, base, length = atlas.config, paper_base(), len(tokens_of(trace, place).labels or ())
    return [
        Shape(
            "rotary.shape_query", "[h, L, d_k]", (ours.num_heads, length, ours.head_dim), (base.num_heads, length, base.head_dim)
        ),
        Shape("rotary.shape_frequencies", "[d_k / 2]", (ours.head_dim // 2,), (base.head_dim // 2,)),
        Shape("rotary.shape_angles", "[L, d_k / 2]", (length, ours.head_dim // 2), (length, base.head_dim // 2)),
        Shape(
            "rotary.shape_turned", "[h, L, d_k]", (ours.num_heads, length, ours.head_dim), (base.num_heads, length, base.head_dim)
        ),
        Shape(
            "rotary.shape_value", "[h, L, d_k]", (ours.num_heads, length, ours.head_dim), (base.num_heads, length, base.head_dim)
        ),
        Shape("rotary.shape_scores", "[h, L, L]", (ours.num_heads, length, length), (base.num_heads, length, length)),
    ]


open_page("rotary", described, needed=("rotation",))
